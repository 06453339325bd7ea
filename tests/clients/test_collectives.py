# SPDX-License-Identifier: Apache-2.0
"""HCCL's operations in a program that is built and run as the vendor's samples are."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.product import commands

from .conftest import HERE, PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

OPERATIONS = """
AllReduce Broadcast AllGather ReduceScatter Reduce Scatter AlltoAll AlltoAllV AlltoAllVC SendRecv
BatchSendRecv GroupSendRecv BatchToAll
"""
BUILD = """
source "$0/bin/setenv.bash"
c++ -std=c++11 -Wall -Werror -I"$ASCEND_HOME_PATH/include" "$1" -o "$2" \
    -L"$ASCEND_HOME_PATH/lib64" -lhccl -lacl_rt -lpthread
"""
RUN = 'source "$0/bin/setenv.bash"; exec "$@"'


def bash(script: str, *words: object) -> str:
    done = subprocess.run(
        ["bash", "-euc", script, *map(str, words)],
        env=commands.silent_environment(PYACLNN_MOCK_DEVICES="2"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collectives")
    made = commands.pyaclnn("mock", "home", "--cann", "9.1", folder / "cann")
    assert made.returncode == 0, made.stderr
    bash(BUILD, folder / "cann", HERE / "collectives.cc", folder / "program")
    devices = [{"device_id": str(rank), "rank_id": str(rank)} for rank in range(2)]
    table = {"version": "1.0", "server_count": "1", "server_list": [{"device": devices}]}
    (folder / "table.json").write_text(json.dumps(table), encoding="utf-8")
    return folder / "program"


@pytest.mark.parametrize("way", ["all", "root", "threads", "table"])
def test_every_operation_is_right_on_every_rank(way: str, program: Path) -> None:
    folder = program.parent
    said = bash(RUN, folder / "cann", program, way, folder / "table.json").splitlines()
    names = OPERATIONS.split()
    assert sorted(said) == sorted(f"{rank} {name} right" for rank in range(2) for name in names)


def test_a_rank_table_that_lists_no_rank_is_refused(program: Path) -> None:
    folder = program.parent
    (folder / "empty.json").write_text("{}", encoding="utf-8")
    refused = RUN.replace('exec "$@"', '"$@" || test $? = 1')
    said = bash(refused, folder / "cann", program, "table", folder / "empty.json").splitlines()
    assert [line for line in said if line.startswith("join")] == ["join(&comm): 1"] * 2
