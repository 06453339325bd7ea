# SPDX-License-Identifier: Apache-2.0
"""What the package offers, and the fast versions against the definitions."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn import reference
from pyaclnn.accuracy import judge
from pyaclnn.reference.fast import tiled_rows

from .problems import Problem, problems

OPERATORS = [name for name in reference.DEFINITIONS if inspect.isfunction(getattr(reference, name))]


class TestNames:
    @pytest.mark.parametrize("name", reference.__all__)
    def test_every_public_name_is_a_function_or_a_result(self, name: str) -> None:
        thing = getattr(reference, name)
        assert inspect.isfunction(thing) or issubclass(thing, tuple)
        assert thing.__doc__

    @pytest.mark.parametrize("name", OPERATORS)
    def test_an_operator_is_its_definition_or_has_its_signature_and_docstring(
        self, name: str
    ) -> None:
        offered, definition = getattr(reference, name), reference.definition(name)
        assert (offered is definition) == (name not in reference.FAST)
        assert inspect.signature(offered) == inspect.signature(definition)
        assert offered.__doc__ == definition.__doc__

    @pytest.mark.parametrize("name", OPERATORS)
    def test_a_family_is_asked_for_by_keyword_and_defaults_to_none(self, name: str) -> None:
        family = inspect.signature(getattr(reference, name)).parameters.get("family")
        assert family is None or (family.kind, family.default) == (family.KEYWORD_ONLY, None)

    def test_type_checkers_see_every_area(self) -> None:
        tree = ast.parse(Path(reference.__file__).read_text(encoding="utf-8"))
        starred = {
            node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        }
        assert starred == {f"pyaclnn.reference.{area}" for area in reference.AREAS}

    def test_there_is_no_definition_of_what_is_no_operator(self) -> None:
        with pytest.raises(KeyError):
            reference.definition("convolution")


def drawn(problem: Problem, function: Any) -> dict[str, Any]:
    """Arguments for an operator on rows, by the names of its parameters."""
    statistic = problem.shape[: problem.lead]
    parameter, tensor = problem.parameter, problem.tensor
    values = {
        **dict.fromkeys(("input", "x"), tensor(0)),
        **dict.fromkeys(("grad_out", "dy"), tensor(1, 16)),
        **dict.fromkeys(("weight", "gamma"), parameter(2)),
        "bias": parameter(3),
        "normalized_shape": problem.normalized,
        "mean": problem.statistic(4, statistic),
        "rstd": problem.statistic(5, statistic),
        **dict.fromkeys(("eps", "epsilon"), 1e-3),
    }
    names = inspect.signature(function).parameters
    return {name: values[name] for name in names if name in values}


@pytest.mark.parametrize("name", reference.FAST)
@settings(deadline=None, max_examples=60)
@given(problem=problems(), block=st.integers(1, 99))
def test_a_fast_version_gives_what_the_definition_gives(
    name: str, problem: Problem, block: int
) -> None:
    fast, definition = getattr(reference, name), reference.definition(name)
    arguments = drawn(problem, fast)
    with mock.patch.object(tiled_rows, "TILE_ELEMENTS", block):
        actual = fast(**arguments)
    expected = definition(**arguments)
    assert type(actual) is type(expected)
    for part, golden in zip(actual, expected, strict=True):
        assert (part.shape, part.dtype) == (golden.shape, golden.dtype)
        verdict = judge(part, golden.astype(np.float64))
        assert verdict.passed or not part.size, verdict
