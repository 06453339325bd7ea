# SPDX-License-Identifier: Apache-2.0
"""The recipes for fleets, as far as they can be tried without one: what they run, runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyaclnn.cli import parser

from .commands import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs/how-to/fleet.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(bash|yaml) title="(\S+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)
RECIPES = {name: text for _, name, text in BLOCK.findall(PAGE)}
COMMAND = re.compile(r"\bpyaclnn (doctor [^;\n&|']+)")

# Each machine is this one; what its installation would say is said by the simulated NPU.
SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift 2; done
[ "$1" = silent ] && exit 255
echo "$2" | sed 's/^source [^;]*;//; s/doctor/doctor --backend mock --only CANN-001/' | sh
"""


def yaml_of(name: str) -> Any:
    return yaml.safe_load(RECIPES[name])


def in_path(folder: Path, **programs: str) -> dict[str, str]:
    folder.mkdir()
    for name, text in programs.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize("name", [name for name in RECIPES if not name.endswith(".yaml")])
def test_the_scripts_are_scripts(name: str) -> None:
    subprocess.run(["bash", "-n"], input=RECIPES[name], text=True, check=True)


@pytest.mark.parametrize("name", RECIPES)
def test_the_commands_of_a_recipe_are_understood(name: str) -> None:
    commands = COMMAND.findall(RECIPES[name])
    assert commands
    for command in commands:
        words = command.translate({ord(mark): " " for mark in '"\\'}).split()
        assert parser().parse_args(words).parser.prog.startswith("pyaclnn doctor")


@pytest.mark.exhaustive
def test_over_ssh_a_report_of_each_machine_that_answers_is_put_together(tmp_path: Path) -> None:
    script = tmp_path / "doctor-by-ssh.sh"
    script.write_text(RECIPES[script.name], encoding="utf-8")
    done = subprocess.run(
        ["bash", script, "one", "two", "silent"],
        cwd=tmp_path,
        env=in_path(tmp_path / "bin", ssh=SSH),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "no report of silent.json" in done.stdout, done.stderr
    reports = sorted((tmp_path / "reports").iterdir())
    assert [path.name for path in reports] == ["one.json", "two.json"]
    assert {json.loads(path.read_text())["simulated"] for path in reports} == {True}
    assert (tmp_path / "fleet.html").is_file()


@pytest.mark.parametrize(("status", "starts"), [(0, True), (1, False), (3, True), (4, False)])
def test_the_prolog_keeps_jobs_from_what_is_broken(
    status: int, starts: bool, tmp_path: Path
) -> None:
    environment = in_path(tmp_path / "bin", pyaclnn=f"#!/bin/sh\nexit {status}\n")
    text = re.sub(r"^source .*\n", "", RECIPES["prolog.sh"], flags=re.MULTILINE)
    done = subprocess.run(["bash", "-c", text], env=environment, check=False)
    assert (done.returncode == 0) == starts


def test_the_job_asks_for_npus_and_leaves_time_for_a_report() -> None:
    job = yaml_of("doctor-job.yaml")["spec"]
    pod = job["template"]["spec"]
    [container] = pod["containers"]
    assert container["resources"]["limits"] == {"huawei.com/Ascend910": 8}
    assert pod["terminationGracePeriodSeconds"] < job["activeDeadlineSeconds"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    assert "exec pyaclnn" in container["args"][0]  # so that SIGTERM reaches it


def test_the_playbook_fetches_what_was_written() -> None:
    examine, fetch = yaml_of("doctor.yaml")[0]["tasks"]
    assert fetch["ansible.builtin.fetch"]["src"] in examine["ansible.builtin.shell"]
