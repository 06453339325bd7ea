# SPDX-License-Identifier: Apache-2.0
"""Every rule has a program that breaks exactly it, and a corrected twin that is clean."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.releases import DEFAULT, RELEASES, VARIABLE
from pyaclnn.mock import cflags, ldflags
from pyaclnn.mock.contract import RULES, Rule
from tests.mock_libs.programs import COMPILER
from tests.mock_libs.sanitized import KINDS, OPTIONS, build_libraries, flags_of, start

from .stage import HERE, SIDES, together, write_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kept import Keep
    from tests.mock_libs.programs import Programs

NEWEST = [*RELEASES][-1]
BUILDS = (
    NEWEST,
    *(
        pytest.param(kind, marks=pytest.mark.exhaustive)
        for kind in (*(set(RELEASES) - {NEWEST}), "c++", "address", "thread")
    ),
)
TOGETHER = [rule for rule in RULES if not rule.alone]
ALONE = [rule for rule in RULES if rule.alone]
_GATE = re.compile(r"\bMOCK_([A-Z0-9_]+)\b")


def _name(rule: Rule) -> str:
    return rule.id


@pytest.fixture(scope="module", params=BUILDS)
def build(request: pytest.FixtureRequest) -> Iterator[str]:
    """Build options of the program of all snippets: release, language, sanitizer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, request.param if request.param in RELEASES else DEFAULT)
        yield request.param


@pytest.fixture(scope="module")
def program(build: str, keep: Keep, tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """The command that runs the program of all snippets."""
    folder = tmp_path_factory.mktemp(f"rules-{build}")
    source, made = write_program(folder), folder / "rules"
    arguments = [*cflags(), f"-I{HERE / 'c'}", "-Wall", "-Wextra", "-g", "-rdynamic"]
    compiler = ["c++", "-x", "c++"] if build == "c++" else COMPILER
    link = [*ldflags(), "-lascendcl"]  # the records are there in every release
    if build in KINDS:
        arguments += flags_of(build)
        link = build_libraries(keep, build)
    command = [*compiler, *arguments, str(source), "-x", "none", "-o", str(made), "-pthread"]
    subprocess.run([*command, *link], check=True, timeout=900)
    return [*start(), made] if build in KINDS else [made]


@pytest.fixture(scope="module")
def outcome(program: list[str | Path], programs: Programs) -> dict[str, list[str]]:
    """The rules broken by each case that can share a process with others."""
    result = programs.run(program, OPTIONS)
    assert result.returncode == 0, result.stderr
    assert "runtime error" not in result.stderr
    assert "Sanitizer" not in result.stderr
    found = together(result)
    return {case: [violation["rule"] for violation in list_] for case, list_ in found.items()}


@pytest.mark.sampled(40)
@pytest.mark.parametrize("rule", TOGETHER, ids=_name)
def test_the_wrong_twin_breaks_exactly_this_rule(
    rule: Rule, build: str, outcome: dict[str, list[str]]
) -> None:
    known = rule.since in (DEFAULT, build)
    assert set(outcome.get(f"{rule.id}-wrong", [])) == ({rule.id} if known else set())


@pytest.mark.sampled(40)
@pytest.mark.parametrize("rule", TOGETHER, ids=_name)
def test_the_right_twin_is_clean(rule: Rule, outcome: dict[str, list[str]]) -> None:
    assert outcome.get(f"{rule.id}-right", []) == []


def test_the_stage_itself_is_clean(outcome: dict[str, list[str]]) -> None:
    known = {f"{rule.id}-{side}" for rule in TOGETHER for side in SIDES}
    assert set(outcome) <= known


@pytest.mark.sampled(6)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("rule", ALONE, ids=_name)
def test_a_rule_about_the_end_of_a_process(
    rule: Rule, side: str, program: list[str | Path], programs: Programs, report: Path
) -> None:
    environment = {**OPTIONS, "PYACLNN_MOCK_REPORT": str(report)}
    result = programs.run([*program, f"{rule.id}-{side}"], environment)
    assert result.returncode == 0, result.stderr
    assert "Sanitizer" not in result.stderr
    lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    expected = {rule.id} if side == "wrong" else set()
    assert {json.loads(line)["rule"] for line in lines} == expected


class TestTheTable:
    def test_ids_are_unique_and_speak_one_language(self) -> None:
        ids = [rule.id for rule in RULES]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+", name) for name in ids)

    def test_every_rule_says_everything(self) -> None:
        for rule in RULES:
            texts = (rule.title, rule.explanation, rule.fix, rule.source, rule.wrong, rule.right)
            assert all(text.strip() for text in texts), rule.id
            assert rule.explanation.endswith("."), rule.id
            assert not rule.title.endswith("."), rule.id
            assert not rule.fix.endswith("."), rule.id

    def test_the_c_side_has_a_use_for_every_rule(self) -> None:
        folder = HERE.parents[1] / "mock_libs"
        text = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.c"))
        used = set(_GATE.findall(text))
        assert {rule.id.upper().replace("-", "_") for rule in RULES} <= used
