# SPDX-License-Identifier: Apache-2.0
"""The recipes for fleets, as far as they can be tried without one: what they run, runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyaclnn.cli import parser

from .commands import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

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


SRUN = '#!/bin/sh\nshift\nexec "$@"\n'
DOCTOR = f"""#!/bin/sh
[ "$2" = merge ] || set -- "$@" --backend mock --only CANN-001
exec '{sys.executable}' -m pyaclnn "$@"
"""
"""The doctor, which examines as little as there is of the simulated NPU."""
INVENTORY = f"""[npus]
one ansible_connection=local
two ansible_connection=local
[all:vars]
ansible_python_interpreter={sys.executable}
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
        timeout=900,
    )
    assert "no report of silent.json" in done.stdout, done.stderr
    reports = sorted((tmp_path / "reports").iterdir())
    assert [path.name for path in reports] == ["one.json", "two.json"]
    assert {json.loads(path.read_text())["simulated"] for path in reports} == {True}
    assert (tmp_path / "fleet.html").is_file()


@pytest.mark.exhaustive
def test_a_job_of_slurm_puts_together_what_its_nodes_report(tmp_path: Path) -> None:
    variables = in_path(tmp_path / "bin", srun=SRUN, pyaclnn=DOCTOR)
    done = tried(tmp_path, "doctor.sbatch", ["bash"], {**variables, "SLURM_JOB_ID": "7"})
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "reports-7").glob("*.json"))) == 1
    assert (tmp_path / "reports-7" / "fleet.html").is_file()


def tried(
    folder: Path, name: str, command: list[str], variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Return a linter's messages about a recipe."""
    (folder / name).write_text(RECIPES[name], encoding="utf-8")
    return subprocess.run(
        [*command, name],
        cwd=folder,
        env=dict(variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def tool(name: str) -> str:
    """A program of the environment in which the tests run."""
    found = shutil.which(name, path=Path(sys.executable).parent)
    return found or pytest.skip(f"{name} is not installed")


@pytest.mark.fleet
@pytest.mark.parametrize("name", [name for name in RECIPES if not name.endswith(".yaml")])
def test_shellcheck_finds_nothing_in_the_scripts(name: str, tmp_path: Path) -> None:
    # set_env.sh is CANN's.
    done = tried(tmp_path, name, [tool("shellcheck"), "-S", "warning", "-e", "SC1091"], os.environ)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.fleet
@pytest.mark.parametrize("wrong", [False, True])
def test_the_job_fits_the_schema_of_kubernetes(wrong: bool, tmp_path: Path) -> None:
    text = RECIPES["doctor-job.yaml"]
    job = tmp_path / "job.yaml"
    job.write_text(text.replace("completions: 4", "completions: four") if wrong else text)
    done = subprocess.run(
        [tool("kubernetes-validate"), "--strict", job], capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0) == wrong, done.stdout + done.stderr


@pytest.mark.fleet
def test_the_playbook_puts_together_what_its_hosts_report(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(INVENTORY, encoding="utf-8")
    # Its own folder, where there is no other configuration.
    variables = {**in_path(tmp_path / "bin", pyaclnn=DOCTOR), "HOME": str(tmp_path)}
    done = tried(tmp_path, "doctor.yaml", [tool("ansible-playbook"), "-i", "hosts"], variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in (tmp_path / "reports").iterdir()) == [
        "one.json",
        "two.json",
    ]
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
