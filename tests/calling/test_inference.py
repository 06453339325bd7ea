# SPDX-License-Identifier: Apache-2.0
"""Results that are left out get the shape and the type that PyTorch would give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling import inference
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.inference import inferred, shape_rule, why_not
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.results import result_rules


def array(dtype: str, *shape: int) -> Empty:
    return Empty(shape, dtype)


X, Y, ROW = array("float32", 2, 3), array("float16", 2, 3), array("float32", 3)
N, B = array("int32", 2, 3), array("bool", 2, 3)

CASES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "same": ("aclnnAbs", {"self": N}, N),
    "floats": ("aclnnExp", {"self": Y}, Y),
    "floats of integers": ("aclnnExp", {"self": N}, None),
    "truth": ("aclnnIsFinite", {"self": Y}, B),
    "cast": ("aclnnCast", {"self": X, "dtype": "float16"}, Y),
    "cast by number": ("aclnnCast", {"self": X, "dtype": 3}, N),
    "broadcast": ("aclnnAdd", {"self": X, "other": ROW}, X),
    "broadcast, both ways": (
        "aclnnMul",
        {"self": array("int64", 4, 1), "other": array("int64", 1, 5)},
        array("int64", 4, 5),
    ),
    "broadcast of unlike types": ("aclnnAdd", {"self": X, "other": Y}, None),
    "broadcast that is none": ("aclnnAdd", {"self": X, "other": array("float32", 2)}, None),
    "division of integers": ("aclnnDiv", {"self": N, "other": N}, None),
    "comparison": ("aclnnLtTensor", {"self": X, "other": ROW}, B),
    "where": ("aclnnSWhere", {"condition": array("bool", 3), "self": X, "other": ROW}, X),
    "a float and a float": ("aclnnAdds", {"self": Y, "other": 1.5}, Y),
    "an integer and an integer": ("aclnnAdds", {"self": N, "other": 1}, N),
    "an integer and a float": ("aclnnAdds", {"self": N, "other": 1.5}, None),
    "a truth value and an integer": ("aclnnAdds", {"self": B, "other": 1}, None),
    "each": ("aclnnForeachAbs", {"x": (X, N)}, [X, N]),
    "each of none": ("aclnnForeachAbs", {"x": ()}, []),
    "reduce": ("aclnnAmax", {"self": X, "dim": [0], "keepDim": False}, ROW),
    "reduce, kept": (
        "aclnnAmax",
        {"self": X, "dim": (-1,), "keepDim": True},
        array("float32", 2, 1),
    ),
    "reduce all": (
        "aclnnReduceSum",
        {"self": X, "dims": [], "keepDims": False, "dtype": "float16"},
        array("float16"),
    ),
    "reduce to truth": ("aclnnAll", {"self": X, "dim": 0, "keepdim": False}, array("bool", 3)),
    "reduce to places": ("aclnnArgMax", {"self": X, "dim": 1, "keepdim": False}, array("int64", 2)),
    "reduce an axis that is not there": ("aclnnAmax", {"self": X, "dim": [2], "keepDim": 1}, None),
    "cast to what is no type": ("aclnnCast", {"self": X, "dtype": 999}, None),
    "no rule": ("aclnnTopk", {"self": X}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_rule_tells_a_result_or_nothing(case: str) -> None:
    name, given, expected = CASES[case]
    assert inferred(name, given, ["out"]) == ({} if expected is None else {"out": expected})


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("aclnnTopk", {"self": X}, "no rule gives its shape"),
        (
            "aclnnAdd",
            {"self": X, "other": Y},
            (
                "its rule, broadcast of self, other, does not cover "
                "self (float32, shape (2, 3)), other (float16, shape (2, 3))"
            ),
        ),
        (
            "aclnnForeachAbs",
            {"x": (X, None)},
            "its rule, each of x, does not cover x ((float32, shape (2, 3)), None)",
        ),
    ],
)
def test_why_there_is_none_is_told(name: str, given: dict[str, Any], words: str) -> None:
    assert why_not(name, given) == words


def test_a_rule_may_tell_two_results() -> None:
    given = {"self": X, "dim": 1, "keepdim": True}
    found = inferred("aclnnMaxDim", given, ["out", "indices"])
    assert found == {"out": array("float32", 2, 1), "indices": array("int64", 2, 1)}


def test_a_rule_goes_by_parameters_that_the_operator_has() -> None:
    for name, (rule, parameters) in result_rules().items():
        entry = catalogue()[name]
        assert rule in inference._RULES, name
        assert set(parameters) <= {p.name for p in entry.parameters if p.direction == "in"}, name
        results = [p.kind for p in entry.parameters if p.direction == "out"]
        kinds = ["T"] if rule == "each" else ["t"] * (1 + (rule == "index-and-reduce"))
        assert results == kinds, name


@pytest.fixture
def _own_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "_own", {})


@pytest.mark.usefixtures("_own_rules")
def test_a_rule_of_ones_own_takes_what_it_names_and_comes_first() -> None:
    @shape_rule("aclnnTopk")
    def topk(self: Empty, k: int) -> tuple[Empty, Empty]:
        return Empty((*self.shape[:-1], k), self.dtype), Empty((*self.shape[:-1], k), np.int64)

    @shape_rule("aclnnAbs")
    def everything(**given: Any) -> Empty:
        return Empty(len(given), np.int8)

    found = inferred("aclnnTopk", {"self": X, "k": 2, "dim": -1}, ["valuesOut", "indicesOut"])
    assert found == {"valuesOut": array("float32", 2, 2), "indicesOut": array("int64", 2, 2)}
    assert inferred("aclnnAbs", {"self": X}, ["out"]) == {"out": array("int8", 1)}
    assert (topk.__name__, everything.__name__) == ("topk", "everything")


@pytest.mark.usefixtures("_own_rules")
def test_a_rule_of_ones_own_that_tells_too_little_is_refused() -> None:
    shape_rule("aclnnTopk")(lambda: Empty(1, np.int8))
    with pytest.raises(InvalidArgumentError, match="an Empty for each of valuesOut, indicesOut"):
        inferred("aclnnTopk", {}, ["valuesOut", "indicesOut"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((-1, np.float32), "'shape' is"), ((2, "no dtype"), "'dtype' is"), ((2**62, "f8"), "Empty()")],
)
def test_what_cannot_be_made_is_refused(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        Empty(*arguments)
    assert message in str(caught.value)
