# SPDX-License-Identifier: Apache-2.0
"""Public names of the package, and fast versions against the definitions."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from enum import Enum
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn import ops, reference
from pyaclnn.facts.accuracy import judge
from pyaclnn.facts.operators import Operator, all_operators
from pyaclnn.reference.fast import blocks

from .problems import Problem, in_pieces, problems
from .samples import FAST, OPERATORS

RESULTS = [name for name in reference.__all__ if name.endswith(("Result", "Grads"))]


class TestNames:
    @pytest.mark.parametrize("name", reference.__all__)
    def test_every_public_name_is_a_function_or_a_type(self, name: str) -> None:
        thing = getattr(reference, name)
        assert inspect.isfunction(thing) or issubclass(thing, (tuple, Enum))
        assert thing.__doc__

    @pytest.mark.parametrize("name", OPERATORS)
    def test_an_operator_is_its_definition_or_has_its_signature_and_docstring(
        self, name: str
    ) -> None:
        offered, definition = getattr(reference, name), reference.definition(name)
        assert inspect.signature(offered) == inspect.signature(definition)
        assert offered.__doc__ == definition.__doc__

    @pytest.mark.parametrize("name", OPERATORS)
    def test_a_definition_shows_its_source_and_the_types_of_all_its_parameters(
        self, name: str
    ) -> None:
        definition = reference.definition(name)
        source = inspect.getsource(definition)
        assert re.match(rf"@(defined|same)\([^@]*?\)\ndef {definition.__name__}\(given", source)
        assert definition.__code__.co_name == definition.__name__
        parameters = inspect.signature(definition).parameters
        assert [*definition.__annotations__] == [*parameters, "return"]

    def test_types_are_those_of_the_parameters(self) -> None:
        assert str(inspect.signature(reference.rms_norm)) == (
            "(x: 'ArrayLike', gamma: 'ArrayLike', epsilon: 'float' = 1e-06) -> 'RmsNormResult'"
        )

    def test_a_traceback_names_the_definition_and_its_file(self) -> None:
        with pytest.raises(ValueError, match="gamma") as raised:
            reference.definition("rms_norm")(np.ones((2, 3)), np.ones(4))
        frames = [(Path(str(each.path)).name, each.name) for each in raised.traceback]
        assert frames[1] == ("rms_norm.py", "rms_norm")
        assert "<lambda>" not in {name for _, name in frames}

    @pytest.mark.parametrize("name", OPERATORS)
    def test_a_docstring_describes_every_argument_and_result(self, name: str) -> None:
        function = getattr(reference, name)
        text = inspect.getdoc(function) or ""
        arguments, _, results = text.partition("\nArgs:\n")[2].partition("\nReturns:\n")
        described = re.findall(r"^    (\w+): \S", arguments, re.MULTILINE)
        assert described == list(inspect.signature(function).parameters)
        returned = str(inspect.signature(function).return_annotation)
        kind = getattr(reference, re.sub(r"list\[(.*)\]", r"\1", returned), None)
        fields = re.findall(r"^    - `(\w+)`: \S", results, re.MULTILINE)
        assert fields == list(kind._fields) if kind else len(fields) == 1
        assert re.search(r"^Raises:\n    \w+Error: ", text, re.MULTILINE)
        assert re.search(r"^Source: CANN: ", text, re.MULTILINE)

    @pytest.mark.parametrize("name", RESULTS)
    def test_a_docstring_describes_every_field_of_results(self, name: str) -> None:
        kind = getattr(reference, name)
        fields = re.findall(r"^    (\w+): \S", kind.__doc__, re.MULTILINE)
        assert fields == list(kind._fields)

    @pytest.mark.parametrize("name", RESULTS)
    def test_results_can_be_pickled(self, name: str) -> None:
        kind = getattr(reference, name)
        found = kind(*(np.arange(n) for n, _ in enumerate(kind._fields)))
        again = pickle.loads(pickle.dumps(found))  # noqa: S301  # our own
        assert type(again) is kind
        assert all(map(np.array_equal, again, found))

    @pytest.mark.parametrize("name", OPERATORS)
    def test_a_family_is_asked_for_by_keyword_and_defaults_to_none(self, name: str) -> None:
        family = inspect.signature(getattr(reference, name)).parameters.get("family")
        assert family is None or (family.kind, family.default) == (family.KEYWORD_ONLY, None)

    @pytest.mark.parametrize("operator", all_operators().values(), ids=lambda op: op.name)
    def test_what_both_may_leave_out_has_the_default_of_the_operator(
        self, operator: Operator
    ) -> None:
        definition = inspect.signature(reference.definition(operator.definition)).parameters
        for name, public in inspect.signature(getattr(ops, operator.name)).parameters.items():
            defaults = {public.default, definition.get(name, public).default} - {public.empty}
            assert len(defaults) < 2, name

    def test_type_checkers_see_every_operator_and_result(self) -> None:
        stub = Path(reference.__file__).with_name("operators.pyi").read_text(encoding="utf-8")
        nodes = ast.parse(stub).body
        seen = [n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
        assert sorted(seen) == sorted({*OPERATORS, *RESULTS})

    def test_there_is_no_definition_of_what_is_no_operator(self) -> None:
        with pytest.raises(KeyError):
            reference.definition("convolution")


def drawn(problem: Problem) -> dict[str, Any]:
    """Arguments for operators on rows, by the names of their parameters."""
    tensors = ("input", "x", "x1", "grad_out", "dy", "x2", "gx")
    parameters = ("weight", "gamma", "bias", "beta")
    statistics = ("mean", "rstd")
    leading = problem.shape[: problem.lead]
    return (
        {name: problem.tensor(salt) for salt, name in enumerate(tensors)}
        | {name: problem.parameter(salt) for salt, name in enumerate(parameters, 10)}
        | {name: problem.statistic(salt, leading) for salt, name in enumerate(statistics, 20)}
        | {"normalized_shape": problem.normalized, "alpha": 0.5, "eps": 1e-3, "epsilon": 1e-3}
    )


def needed(name: str) -> set[str]:
    parameters = inspect.signature(reference.definition(name)).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is parameter.empty}


SOME = Problem(np.dtype(np.float32), (1,), 0, "contiguous", wide=False, seed=0)
ON_ROWS = [
    name
    for name in FAST
    if needed(name) <= set(drawn(SOME)) and not re.search("quant|instance|vector|^norm$", name)
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ON_ROWS)
@settings(deadline=None, max_examples=40)
@given(problem=problems(), block=st.integers(1, 99))
def test_a_fast_version_on_rows_of_any_shape_gives_what_the_definition_gives(
    name: str, problem: Problem, block: int
) -> None:
    names = inspect.signature(getattr(reference, name)).parameters
    chosen = {key: value for key, value in drawn(problem).items() if key in names}
    with (
        in_pieces(block),
        mock.patch.object(blocks, "BLOCK_ELEMENTS", block),
        mock.patch.object(blocks, "FEWEST_ELEMENTS", block),
    ):
        actual = getattr(reference, name)(**chosen)
    for part, golden in zip(actual, reference.definition(name)(**chosen), strict=True):
        if golden is None:
            assert part is None
            continue
        assert (part.shape, part.dtype) == (golden.shape, golden.dtype)
        verdict = judge(part, golden.astype(np.float64))
        assert verdict.passed or not part.size, verdict
