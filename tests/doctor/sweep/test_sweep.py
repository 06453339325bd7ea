# SPDX-License-Identifier: Apache-2.0
"""The doctor is right about machines with a fault that no list has: a sample of the sweep."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
MOST = 60
PAIRS = 40
GOAL = 0.95
"""Share of faults of which the doctor is right."""


def sweep(*arguments: str) -> list[dict[str, Any]]:
    """Run the sweep; returns its records."""
    command = [sys.executable, "-m", "tests.doctor.sweep", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def wrong(records: list[dict[str, Any]]) -> list[str]:
    return [
        f"{r['judged']}: {r['fault']}; {r['output']}; {r['first']}"
        for r in records
        if r["judged"] != "right"
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("file", "lib64/libopapi.so: truncated"),
        ("variable", "9.1 variable ASCEND_OPP_PATH: one level too high"),
        ("variable", "8.1 variable ASCEND_HOME_PATH: with a trailing slash"),
        ("node", "8.1 node dev/davinci0: deleted"),
        ("answer", "9.1 answer aclnnRmsNorm: wrong"),
        ("folder", "9.1.0/opp/built-in/op_impl/ai_core/tbe/kernel: deleted"),
        ("folder", "8.1.RC1/x86_64-linux/data/platform_config: not readable"),
    ],
)
def test_a_fault_is_judged_as_a_user_s_program_shows_it(kind: str, match: str) -> None:
    records = sweep("--seconds=0", f"--kind={kind}", f"--match={match}")
    assert len(records) == 1
    assert wrong(records) == []


@pytest.mark.exhaustive
@pytest.mark.long
def test_faults_that_no_list_has() -> None:
    records = sweep("--seconds=0", f"--most={MOST}", "--seed=7")
    assert len(records) == MOST
    assert "no end" not in {record["judged"] for record in records}, wrong(records)
    assert len(wrong(records)) <= (1 - GOAL) * len(records), wrong(records)


@pytest.mark.exhaustive
def test_of_two_faults_none_is_in_order_where_a_program_fails() -> None:
    records = sweep("--seconds=0", "--pairs", f"--most={PAIRS}", "--seed=11")
    assert len(records) == PAIRS
    assert sum(not record["works"] for record in records) > PAIRS // 4
    assert wrong(records) == []
