# SPDX-License-Identifier: Apache-2.0
"""The workflows run the sessions that a desk runs, and all of them."""

from __future__ import annotations

import itertools
import json
import re
import runpy
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CALL = re.compile(r"""^pipx run nox -s "?([^"]+)"?$""")
RELEASES = ("bookworm", "bullseye", "forky")
AT_A_DESK = {
    "emulated",
    "hosts",
    "lock",
    "mutation",
    "readme",
    "tests",
    *(f"fresh(release='{release}')" for release in RELEASES),
}
"""Sessions that no workflow runs.

A runner or the matrix replaces them, they change tracked files, or they take hours.
"""


def jobs() -> list[dict[str, Any]]:
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in WORKFLOWS]
    return [job for file in files for job in file["jobs"].values()]


def combinations(job: dict[str, Any]) -> list[dict[str, str]]:
    axes = job.get("strategy", {}).get("matrix", {})
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def called() -> set[str]:
    found = set()
    for job in jobs():
        for step in job.get("steps", []):
            if "run" not in step:
                continue
            match = CALL.match(step["run"])
            assert match, f"no session of noxfile.py: {step['run']}"
            template = match[1].replace("${{ matrix.", "{").replace(" }}", "}")
            found |= {template.format(**chosen) for chosen in combinations(job)}
    return found


@pytest.fixture(scope="module")
def sessions() -> set[str]:
    command = [sys.executable, "-m", "nox", "--list"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(re.findall(r"^[*-] (\S+) -> ", listed.stdout, re.MULTILINE))


def test_the_workflows_run_every_session_and_nothing_else(sessions: set[str]) -> None:
    assert called() == sessions - AT_A_DESK


def test_what_is_for_a_desk_alone_is_a_session(sessions: set[str]) -> None:
    assert sessions >= AT_A_DESK


class Recorder:
    """A session that runs nothing and keeps what it was asked to run."""

    def __init__(self) -> None:
        self.commands: list[tuple[str, ...]] = []

    def install(self, *requirements: str) -> None:
        self.commands.append(("install", *requirements))

    def run(self, *command: str, external: bool = False) -> None:
        self.commands.append(command if external else ("installed", *command))

    def error(self, message: str) -> None:
        raise RuntimeError(message)


@pytest.fixture(scope="module")
def noxfile() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nox.registry._REGISTRY", OrderedDict())  # another test may have read it too
        patch.chdir(ROOT)
        return runpy.run_path("noxfile.py")


@pytest.fixture
def publish(
    noxfile: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[Recorder], None]:
    """Return the session that publishes, in a folder with files that could be released."""
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", "https://identity.example")
    monkeypatch.setenv("GITHUB_REF_NAME", "v0.1.0")
    monkeypatch.chdir(tmp_path)
    for name in (*FILES, "build/sbom.cdx.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    return cast("Callable[[Recorder], None]", noxfile["publish"].func)


FILES = [
    *(f"dist/pyaclnn-0.1.0-cp310-abi3-manylinux_2_28_{cpu}.whl" for cpu in ("aarch64", "x86_64")),
    "dist/pyaclnn-0.1.0.tar.gz",
]


def test_a_release_is_signed_before_it_is_uploaded(publish: Callable[[Recorder], None]) -> None:
    recorder = Recorder()
    publish(recorder)
    signed = [*FILES, "build/sbom.cdx.json"]
    attestations = [f"{name}.publish.attestation" for name in FILES]
    upload = ("installed", "twine", "upload", "--non-interactive", "--attestations")
    page = ("gh", "release", "create", "v0.1.0", "--verify-tag", "--generate-notes")
    assert recorder.commands[1:] == [
        ("installed", "sigstore", "sign", *signed),
        ("installed", "pypi-attestations", "sign", *FILES),
        (*upload, *FILES, *attestations),
        (*page, *signed, *[f"{name}.sigstore.json" for name in signed]),
    ]


def test_a_release_installs_tools_of_locked_versions(
    publish: Callable[[Recorder], None],
) -> None:
    recorder = Recorder()
    publish(recorder)
    installed, constraint, *_ = recorder.commands[0]
    assert (installed, constraint) == ("install", "--constraint")
    locked = re.findall(r"^([\w-]+)==", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    tools = [re.split("[<>=]", tool)[0] for tool in recorder.commands[0][3:]]
    assert sorted(tools) == ["pypi-attestations", "sigstore", "twine"]
    assert set(tools) <= set(locked)


def test_a_release_is_not_published_from_a_desk(
    publish: Callable[[Recorder], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACTIONS_ID_TOKEN_REQUEST_URL")
    with pytest.raises(RuntimeError, match="push a tag"):
        publish(Recorder())


@pytest.mark.parametrize("lost", [FILES[0], "build/sbom.cdx.json"])
def test_half_a_release_is_not_published(publish: Callable[[Recorder], None], lost: str) -> None:
    Path(lost).unlink()
    recorder = Recorder()
    with pytest.raises(RuntimeError, match=r"build/sbom\.cdx\.json"):
        publish(recorder)
    assert recorder.commands == []


def test_only_the_release_has_an_identity_and_may_write() -> None:
    granted = [job["permissions"] for job in jobs() if "permissions" in job]
    assert granted == [{"contents": "write", "id-token": "write"}]


def unpinned(workflow: str) -> list[str]:
    """Return the actions of others that are not named by the hash of a commit."""
    used = re.findall(r"^[ \t-]*[\"']?uses[\"']?:\s*(\S+)", workflow, re.MULTILINE)
    return [one for one in used if not re.search(r"^\./|@[0-9a-f]{40}$", one.strip("\"'"))]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_by_its_hash(path: Path) -> None:
    assert unpinned(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "action",
    ["actions/checkout@v4", "a/b@main", "'a/b@v1'", "a/b", "a/b@d632683", f"a/b@{'g' * 40}"],
)
def test_an_action_without_a_hash_is_noticed(action: str) -> None:
    workflow = WORKFLOWS[0].read_text(encoding="utf-8")
    assert unpinned(f"{workflow}\n      - uses: {action}\n") == [action]


def test_a_comment_names_the_release_of_a_hash() -> None:
    lines = [line for path in WORKFLOWS for line in path.read_text("utf-8").splitlines()]
    pinned = [line for line in lines if re.search(r"uses: .*@[0-9a-f]{40}", line)]
    assert len(pinned) > 20
    assert [line for line in pinned if not re.search(r"  # v\d+\.\d+\.\d+$", line)] == []


def test_every_issue_template_asks_for_the_environment() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    for path in sorted(folder.glob("*.yml")):
        template = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name == "config.yml":
            assert template == {"blank_issues_enabled": False}
            continue
        asked = [
            part for part in template["body"] if "`pyaclnn env`" in part["attributes"]["label"]
        ]
        assert [part["validations"]["required"] for part in asked] == [True]
    assert len([*folder.glob("*.yml")]) == 3


# ---- the Python of a session -------------------------------------------------------------------


def nox_with(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run nox with the commands of a folder and no others."""
    command = [sys.executable, "-m", "nox", *arguments]
    environment = {"PATH": str(folder), "HOME": str(folder)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900
    )


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="runs on a newer Python than it pretends")
def test_the_tests_choose_the_newest_python_that_starts(tmp_path: Path) -> None:
    for python, status in (("3.12", 0), ("3.13", 127)):
        command = tmp_path / f"python{python}"
        command.write_text(f"#!/bin/sh\nexit {status}\n")
        command.chmod(0o755)
    [found] = json.loads(nox_with(tmp_path, "--list", "--json", "-s", "tests").stdout)
    assert found["python"] == "3.12"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="nox itself runs on Python 3.10")
def test_wheels_without_their_python_fail_at_once_and_name_it(tmp_path: Path) -> None:
    done = nox_with(tmp_path, "-s", "wheels")
    assert done.returncode == 1
    assert "Python interpreter 3.10 not found" in done.stderr
