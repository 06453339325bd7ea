# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of checks: names, codes and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.checks import (
    COMPOSITE,
    GENERATED,
    Checks,
    Code,
    at_launch,
    flattened,
    in_graph,
    in_tiling,
    launch,
    rank,
    shape,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import input, output
from pyaclnn.mock.operators.phase_one import _INTERPRETERS

if TYPE_CHECKING:
    from pyaclnn.facts.operators.operator import Operator


def described(*checks: Checks) -> Operator:
    return describe(
        "aclnnThing",
        Build.COMPOSITE,
        "Do a thing.",
        types={"910b": "T=f16"},
        parameters={"x": input("T rows*"), "out": output("T rows*")},
        source="none",
        checks=checks,
    )


def test_a_check_of_a_parameter_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="gama"):
        described((rank("x", most=8), shape("gama")))


def test_every_check_of_every_operator_is_interpreted() -> None:
    found = {check.kind for op in all_operators().values() for check in op.checks}
    assert found <= set(_INTERPRETERS)
    kinds = {check.kind for check in flattened((*COMPOSITE, *GENERATED, *launch()))}
    assert kinds - {"shapes"} <= set(_INTERPRETERS)


def test_a_group_of_checks_has_the_code_of_its_place() -> None:
    checks = (rank("x", most=8), (shape("x"), shape("out")))
    assert [c.code for c in flattened(in_tiling(*checks))] == [Code.TILING] * 3
    assert [c.code for c in flattened(in_graph(*checks))] == [Code.GRAPH] * 3
    late = list(flattened(at_launch(*checks)))
    assert [(c.code, c.late) for c in late] == [(Code.INVALID, True)] * 3


def test_a_composite_operator_ends_with_the_launch_of_its_kernels() -> None:
    kinds = [check.kind for check in described((shape("x", "out"),)).checks]
    assert kinds == ["pointers", "shape", "wanted", "kernels", "copies"]
