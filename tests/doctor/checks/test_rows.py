# SPDX-License-Identifier: Apache-2.0
"""Tables of the checks: each outcome is reported by code, and each report has its outcome."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from string import Formatter

import pytest

from pyaclnn.base.toml import read_toml
from pyaclnn.health import checks, child
from pyaclnn.health.checks.finding import FAMILIES, outcome_row

FOLDER = Path(checks.__file__).parent
ROOMS = [Path(str(room.__file__)).parent for room in (checks, child)]
SOURCES = sorted(path for room in ROOMS for path in room.rglob("*.py"))
OUTCOME = re.compile(r"[A-Z]+-(\d+|operator)\.\w+")
KEYS = {"status", "summary", "causes", "next_step", "absent"}


@functools.cache
def tables() -> dict[str, dict[str, object]]:
    """Return the row of each outcome by its id."""
    found: dict[str, dict[str, object]] = {}
    for family in FAMILIES:
        for check, row in read_toml(FOLDER / f"{family}.toml").items():
            if check not in {"all", "texts"}:
                outcomes = {name: value for name, value in row.items() if isinstance(value, dict)}
                found |= {f"{check}.{name}": outcome for name, outcome in outcomes.items()}
    return found


def calls() -> list[tuple[set[str], set[str]]]:
    """Return of each call of ``found`` the outcomes it may report and the texts it gives."""
    every = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            reports = [
                node
                for node in ast.walk(function)
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "found"
            ]
            for call in reports:
                where = function if isinstance(call.args[0], ast.Name) else call.args[0]
                every.append((outcomes_in(where), {str(word.arg) for word in call.keywords}))
    return every


def outcomes_in(tree: ast.AST) -> set[str]:
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {value for value in values if isinstance(value, str) and OUTCOME.fullmatch(value)}


def test_each_outcome_is_reported_by_code_and_none_is_misspelt() -> None:
    sources = [path.read_text(encoding="utf-8") for path in SOURCES]
    assert set().union(*(outcomes_in(ast.parse(source)) for source in sources)) - {
        "ENV-001.gone"  # the example of a docstring as well
    } == set(tables()) - {"ENV-001.gone"}


def test_a_call_gives_every_text_of_its_outcomes() -> None:
    for outcomes, texts in calls():
        for outcome in outcomes:
            outcome_row(outcome, dict.fromkeys(texts, 1.0))


@pytest.mark.parametrize("outcome", tables())
def test_an_outcome_has_a_cause_and_a_next_step(outcome: str) -> None:
    row = tables()[outcome]
    assert row.keys() <= KEYS
    assert "summary" in row
    if row.get("status") != "not_run":
        assert "next_step" in row
        # Those of remains are the remains', those of the loader's words are their explanation's.
        assert ("causes" in row) != (outcome in {"CANN-001.unusable", "LIB-003.older"})


def test_a_name_without_a_text_is_an_error() -> None:
    with pytest.raises(KeyError, match="folder"):
        outcome_row("ENV-001.gone", {"name": "x", "script": "y"})


def test_each_shared_text_is_used_twice() -> None:
    for family in FAMILIES:
        file = read_toml(FOLDER / f"{family}.toml")
        source = (FOLDER / f"{family}.toml").read_text(encoding="utf-8")
        places = [name for _, name, *_ in Formatter().parse(source.replace("{}", "")) if name]
        unused = [name for name in file.get("texts", {}) if places.count(name) < 2]
        assert unused == [], family
