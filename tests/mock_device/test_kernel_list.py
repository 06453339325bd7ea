# SPDX-License-Identifier: Apache-2.0
"""List of what computes each operator: its totals are those of the documents."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pyaclnn import cli
from pyaclnn.facts.releases import VARIABLE
from pyaclnn.mock.control.kernels import kernels
from pyaclnn.mock.operators.graph_table import graph_expressions
from pyaclnn.reference import implementation
from pyaclnn.reference.kernels.rows import missing

from .kernel_lines import costs

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "pytorch.md"


def counts(release: str) -> Counter[str]:
    return Counter(each.kernel for each in kernels(release))


def test_the_document_has_the_totals() -> None:
    old, new = counts("8.1"), counts("9.1")
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert (
        f"NumPy computes {old['numpy']} of the {old.total()} operators of CANN 8.1 and "
        f"{new['numpy']} of the {new.total()} of 9.1"
    ) in text


@pytest.mark.parametrize("release", ["8.1", "9.1"])
def test_most_operators_are_computed(release: str) -> None:
    assert counts(release)["numpy"] >= 740


def test_a_kernel_is_few_lines_and_so_are_its_tests() -> None:
    found = costs()
    limits = {"of aclnn": 6.1, "single operators": 1.9, "of tests": 7.3}
    assert {
        group: str(found[group]) for group, most in limits.items() if found[group].ratio > most
    } == {}


def test_the_reasons_are_those_of_operators_without_a_kernel() -> None:
    alone = [each for release in ("8.1", "9.1") for each in kernels(release)]
    named = {e.operator for e in alone if e.kernel == "none" and "between devices" not in e.why}
    assert named == {*missing()}


@pytest.mark.parametrize(("release", "most"), [("8.1", 26), ("9.1", 115)])
def test_few_operators_have_no_kernel(release: str, most: int) -> None:
    assert counts(release)["none"] <= most


def test_an_operator_without_a_kernel_has_a_reason() -> None:
    assert {bool(each.why) for each in kernels("9.1") if each.kernel == "none"} == {True}


def test_a_single_operator_names_kernels_that_there_are() -> None:
    texts = (row.text for row in graph_expressions().values())
    named = {name for text in texts for name in re.findall(r"\baclnn\w+", text)}
    assert len(named) > 70
    assert {name for name in named if implementation(name) is None} == set()


def test_the_command_writes_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["mock", "kernels", "--kernel", "none", "--cann", "8.1", "--json"]) == 0
    found: Any = json.loads(capsys.readouterr().out)
    assert found["counts"]["none"] == len(found["operators"]) == counts("8.1")["none"]
    assert {row["kernel"] for row in found["operators"]} == {"none"}


def test_the_release_of_a_command_ends_with_it() -> None:
    before = os.environ.get(VARIABLE)
    cli.main(["mock", "kernels", "--kernel", "none", "--cann", "8.1"])
    assert os.environ.get(VARIABLE) == before
