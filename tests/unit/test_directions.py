# SPDX-License-Identifier: Apache-2.0
"""Directions of parameters: from the documents, or inferred and marked as such."""

from __future__ import annotations

import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.directions import directions_of, guess

STATED = [entry for entry in catalogue().values() if not entry.guessed]
T, CT, CTS = "aclTensor *", "const aclTensor *", "const aclTensorList *"

CASES = {
    "what is not const": ("aclnnX", "a b", (CT, T), "in out"),
    "a name that says so": ("aclnnX", "self yOut maskOutOptional", (CT, CT, CT), "in out out"),
    "a usual name": ("aclnnX", "x y", (CT, CT), "in out"),
    "in place by name": ("aclnnX", "selfRef other", (CT, CT), "inout in"),
    "in place by operator": ("aclnnInplaceX", "self other", (CT, CT), "inout in"),
    "in place by the operator's end": ("aclnnXInplace", "x other", (CTS, CTS), "inout in"),
    "a gradient that is called so": ("aclnnX", "gradOut gradInput", (CT, T), "in out"),
    "else the last": ("aclnnX", "a b n", (CT, CTS, "int64_t"), "in out in"),
    "no tensor at all": ("aclnnX", "n", ("int64_t",), "in"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_direction_is_guessed(case: str) -> None:
    name, parameters, types, expected = CASES[case]
    assert guess(name, parameters.split(), types) == tuple(expected.split())


@pytest.mark.parametrize(("old", "least"), [(True, 0.991), (False, 0.967)])
def test_the_guess_is_as_good_as_it_says(old: bool, least: float) -> None:
    entries = [entry for entry in STATED if ("8.1" in entry.releases) == old]
    pairs = [
        (word != "in", parameter.written)
        for entry in entries
        for parameter, word in zip(
            entry.parameters,
            guess(
                entry.name,
                [p.name for p in entry.parameters],
                [p.c_type for p in entry.parameters],
            ),
            strict=True,
        )
        if parameter.kind in "tT"
    ]
    assert len(pairs) > 700
    assert sum(mine == truth for mine, truth in pairs) / len(pairs) >= least


def test_a_document_comes_before_a_guess_and_only_if_the_types_are_those() -> None:
    entry = catalogue()["aclnnSigmoidBackward"]
    types = [p.c_type for p in entry.parameters]
    told = directions_of(entry.name, ["a", "b", "c"], types)
    assert (told.each, told.guessed) == (("in", "in", "out"), False)
    assert told.written == told.results == frozenset({2})
    other = directions_of(entry.name, ["a", "y", "c"], [*types[:2], CTS])
    assert (other.each, other.guessed) == (("in", "out", "in"), True)
