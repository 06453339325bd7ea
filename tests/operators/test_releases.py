# SPDX-License-Identifier: Apache-2.0
"""A description says what is otherwise from a release on."""

from __future__ import annotations

from pyaclnn.facts.operators import Operator, all_operators
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.checks import Code, shape
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import input, output, real
from pyaclnn.facts.operators.types import Types
from pyaclnn.mock.operators import operators_of

DESCRIBED = describe(
    "aclnnThing",
    Build.INDIVIDUAL,
    "Do a thing.",
    types={"910b": "T=f16"},
    parameters={
        "x": input("T rows* D", "What is done"),
        "epsilon": real(1e-6, "A little", least=0),
        "yOut": output("T rows* D", "What comes of it"),
    },
    source="the first",
    later={
        "9.1": {
            "build": Build.COMPOSITE,
            "types": {"910b": "T=f16,bf16"},
            "checks": (shape("x", "yOut"),),
            "parameters": {"yOut": {"optional": True}},
        }
    },
)


def compared(operator: Operator) -> list[tuple[str, ...]]:
    """The tensors of each comparison of shapes."""
    return [check.names for check in operator.checks if check.kind == "shape"]


def test_before_that_release_it_is_what_it_says_first() -> None:
    assert DESCRIBED.in_release("8.1") is DESCRIBED
    assert (DESCRIBED.build, compared(DESCRIBED)) == (Build.INDIVIDUAL, [("x", "yOut")])
    assert {check.code for check in DESCRIBED.checks if check.kind == "shape"} == {Code.TILING}


def test_from_that_release_on_it_is_otherwise() -> None:
    for release in ("9.1", "10.0"):
        later = DESCRIBED.in_release(release)
        assert (later.build, compared(later)) == (Build.COMPOSITE, [("x", "yOut")])
        assert {check.code for check in later.checks if check.kind == "shape"} == {Code.INVALID}
        assert not any(check.kind == "dtype_row" for check in later.checks)
        assert later.types == Types.of({"910b": "T=f16,bf16"})
        assert [parameter.optional for parameter in later.tensors] == [False, True]
        assert (later.doc, later.source) == (DESCRIBED.doc, "the first")
        assert later.parameters["x"] is DESCRIBED.parameters["x"]


def test_a_release_has_the_operators_that_the_table_says() -> None:
    for release in ("8.1", "9.1"):
        absent = {op.c_name for op in all_operators().values()} - set(operators_of(release))
        assert all("8.1" not in catalogue()[name].releases for name in absent)
    assert set(operators_of("9.1")) == {op.c_name for op in all_operators().values()}
