# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of every operator with a kernel accepts what its rules list, and refuses the rest.

The rules are those of CANN's documents and checks (CANN: ops-math, ops-nn). `VERDICTS` states some
of them a second time, by hand.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.call_rules import call_rules
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, FORMATS, numpy_dtype
from pyaclnn.mock.protocol.values import (
    IntArray,
    Scalar,
    Tensor,
    Value,
)

from .agreement import CHIPS, EXCEPTIONS, VECTORS_OF, Verdict, verdicts
from .bench import tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyaclnn.facts.operators.call_rules import CallRules

    from .bench import Bench

    Arguments = dict[str, Value]

FACTS = [
    pytest.param(release, family, first, id=f"{release}-{family}")
    for first, (release, family) in enumerate(product(("8.1", "9.1"), CHIPS))
    if (release, family) != ("8.1", "950")
]
"""Every release with every family of chips that it knows."""


def wrong_verdicts(
    bench: Bench, family: str, names: Iterable[str], change: Callable[[CallRules], CallRules]
) -> list[tuple[str, Verdict]]:
    """The answers of phase 1 that are not those of the rules."""
    found = []
    for name in names:
        rules = call_rules(name)
        assert rules is not None
        answers = verdicts(bench, name, family, change(rules))
        found += [(name, verdict) for verdict in answers if not verdict.is_right]
    return found


def names_of(release: str) -> list[str]:
    return [name for name in VECTORS_OF if catalogue()[name].is_in(release)]


def unchanged(rules: CallRules) -> CallRules:
    return rules


@pytest.mark.parametrize(("release", "family", "first"), FACTS)
def test_phase_1_answers_by_the_rules(
    release: str, family: str, first: int, make_bench: Callable[..., Bench]
) -> None:
    some = names_of(release)[first :: 4 * len(FACTS)]
    assert len(some) > 10
    assert wrong_verdicts(make_bench(CHIPS[family], release), family, some, unchanged) == []


@pytest.mark.exhaustive
@pytest.mark.long
@pytest.mark.parametrize(("release", "family", "first"), FACTS)
def test_phase_1_of_every_operator_answers_by_the_rules(
    release: str, family: str, first: int, make_bench: Callable[..., Bench]
) -> None:
    # One test for all operators: the calls that are accepted are tried first on the next chip.
    bench = make_bench(CHIPS[family], release)
    assert first >= 0
    assert wrong_verdicts(bench, family, names_of(release), unchanged) == []


def every(**changes: Any) -> Callable[[CallRules], CallRules]:
    """A change of the rules of every parameter."""
    return lambda rules: rules._replace(
        parameters=tuple(rule._replace(**changes) for rule in rules.parameters)
    )


@pytest.mark.parametrize(
    ("family", "change", "wrong"),
    [
        ("910", unchanged, {"bf16"}),
        ("910b", every(nullable=True), {"NULL"}),
        ("910b", every(nullable=False, pointer=True), {"NULL"}),
        ("910b", every(axes=5), {"6 axes"}),
        ("910b", every(words="f"), {"f16", "i32"}),
    ],
)
def test_an_answer_by_other_rules_is_noticed(
    family: str, change: Callable[[CallRules], CallRules], wrong: set[str], bench: Bench
) -> None:
    found = wrong_verdicts(bench, family, ["aclnnAdd", "aclnnConvolution"], change)
    assert wrong <= {verdict.change for _, verdict in found}


def test_every_exception_is_one_of_an_operator() -> None:
    for key in EXCEPTIONS:
        name, _, parameter = key.partition(".")
        assert parameter in [p.name for p in catalogue()[f"aclnn{name}"].parameters]


def of(*dims: int, word: str = "FLOAT", form: str = "ND") -> Tensor:
    return tensor(*dims, data_type=DATA_TYPES[word], form=FORMATS[form])


X, HALF, LONG = of(2, 3), of(2, 3, word="FLOAT16"), of(2, 3, word="INT64")
COUNTS = of(2, 3, word="UINT32")
ONE = Scalar(DATA_TYPES["INT64"], (1).to_bytes(8, "little"))
NOT_NULL = -1
"""Anything but 161001."""
# Typed from the documents and the sources of CANN's operators, not from the table.
VERDICTS: dict[str, tuple[str, str, dict[str, Value], int]] = {
    "softmax of FLOAT16 into FLOAT": (
        "910b",
        "aclnnSoftmax",
        {"self": HALF, "dim": 1, "out": X},
        0,
    ),
    "log_softmax the same": ("910b", "aclnnLogSoftmax", {"self": HALF, "dim": 1, "out": X}, 0),
    "softmax into integers": ("910b", "aclnnSoftmax", {"self": X, "dim": 1, "out": LONG}, 161002),
    "sigmoid of integers": ("910b", "aclnnSigmoid", {"self": LONG, "out": X}, 0),
    "sigmoid into FLOAT16": ("910b", "aclnnSigmoid", {"self": X, "out": HALF}, 0),
    "sigmoid into integers": ("910b", "aclnnSigmoid", {"self": X, "out": LONG}, 161002),
    "tanh of integers": ("910b", "aclnnTanh", {"self": LONG, "out": X}, 0),
    "tanh into FLOAT16": ("910b", "aclnnTanh", {"self": X, "out": HALF}, 0),
    "tanh of BF16": (
        "910b",
        "aclnnTanh",
        {"self": of(3, word="BF16"), "out": of(3, word="BF16")},
        0,
    ),
    "tanh of BF16 on an old chip": (
        "910",
        "aclnnTanh",
        {"self": of(3, word="BF16"), "out": of(3, word="BF16")},
        161002,
    ),
    "relu into another type": ("910b", "aclnnRelu", {"self": X, "out": HALF}, 161002),
    "a comparison into FLOAT": ("910b", "aclnnEqTensor", {"self": X, "other": X, "out": X}, 0),
    "FLOAT into integers": ("910b", "aclnnMul", {"self": X, "other": X, "out": LONG}, 161002),
    "integers into FLOAT": ("910b", "aclnnMul", {"self": LONG, "other": LONG, "out": X}, 0),
    "a deviation without dim": (
        "910b",
        "aclnnStd",
        {"self": X, "dim": None, "correction": 1, "keepdim": False, "out": of()},
        0,
    ),
    "a mean without dim": (
        "910b",
        "aclnnMean",
        {"self": X, "dim": None, "keepDim": False, "dtype": 0, "out": of()},
        161001,
    ),
    "a mean of integers": (
        "910b",
        "aclnnMean",
        {"self": LONG, "dim": IntArray((0,)), "keepDim": False, "dtype": 0, "out": of(3)},
        0,
    ),
    "limits that are both NULL": (
        "910b",
        "aclnnClamp",
        {"self": X, "clipValueMin": None, "clipValueMax": None, "out": X},
        161002,
    ),
    "nine dimensions": ("910b", "aclnnAbs", {"self": of(*[1] * 9), "out": of(*[1] * 9)}, 161002),
    "seven dimensions of matrices": (
        "910b",
        "aclnnMatmul",
        {"self": of(*[1] * 7), "mat2": of(*[1] * 7), "out": of(*[1] * 7), "cubeMathType": 0},
        161002,
    ),
    "a format with a layout of its own": (
        "910b",
        "aclnnAbs",
        {"self": of(16, 16, form="FRACTAL_NZ"), "out": of(16, 16)},
        161002,
    ),
    "channels last": (
        "910b",
        "aclnnAbs",
        {"self": of(1, 2, 3, 4, form="NHWC"), "out": of(1, 2, 3, 4, form="NHWC")},
        0,
    ),
    "a maximum of no elements": (
        "910b",
        "aclnnAmax",
        {"self": of(0, 3), "dim": IntArray((0,)), "keepDim": False, "out": of(3)},
        0,
    ),
    "a STRING": ("910b", "aclnnAbs", {"self": of(3, word="STRING"), "out": of(3)}, 161002),
    "an INT4": ("910b", "aclnnAbs", {"self": of(4, word="INT4"), "out": of(4)}, 161002),
    "no bias": (
        "910b",
        "aclnnConvolution",
        {
            "input": of(1, 2, 4, 4, form="NCHW"),
            "weight": of(3, 2, 1, 1, form="NCHW"),
            "bias": None,
            "stride": IntArray((1, 1)),
            "padding": IntArray((0, 0)),
            "dilation": IntArray((1, 1)),
            "transposed": False,
            "outputPadding": IntArray((0, 0)),
            "groups": 1,
            "output": of(1, 3, 4, 4, form="NCHW"),
            "cubeMathType": 0,
        },
        0,
    ),
    "no weights to count by": (
        "910b",
        "aclnnBincount",
        {"self": of(3, word="INT32"), "weights": None, "minlength": 0, "out": of(3)},
        NOT_NULL,
    ),
    "no kernel, and a type that CANN refuses": (
        "910b",
        "aclnnPrecisionCompare",
        {"golden": of(2, 3, word="COMPLEX64"), "realdata": X, "out": COUNTS},
        161002,
    ),
    "no kernel": (
        "910b",
        "aclnnPrecisionCompare",
        {"golden": X, "realdata": X, "out": COUNTS},
        999001,
    ),
    "no kernel, and INT4 weights": (
        "910b",
        "aclnnPrecisionCompare",
        {"golden": of(2, 3, word="INT4"), "realdata": X, "out": COUNTS},
        161002,
    ),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_a_verdict_is_that_of_cann(case: str, make_bench: Callable[[str], Bench]) -> None:
    family, name, arguments, status = VERDICTS[case]
    reply = make_bench(CHIPS[family]).check(name, arguments)
    if status == NOT_NULL:
        assert reply.status != 161001, reply.text
    else:
        assert reply.status == status, reply.text
    assert "KeyError" not in reply.text


def test_every_operator_has_rules_for_all_its_parameters() -> None:
    for name, entry in catalogue().items():
        rules = call_rules(name)
        assert rules is None or name not in by_c_name(), name
        assert rules is None or len(rules.parameters) == len(entry.parameters), name


def test_a_result_is_cast_to_its_tensor(bench: Bench) -> None:
    x: Any = np.array([[0.0, 1.0, -1.0], [2.0, 0.5, -0.5]])
    given, out = bench.put(x), bench.empty(2, 3, data_type=DATA_TYPES["FLOAT16"])
    bench.launch("aclnnSigmoid", {"self": given, "out": out})
    np.testing.assert_allclose(bench.get(out), 1 / (1 + np.exp(-x)), rtol=1e-3)
    whole, out = bench.put(x, DATA_TYPES["INT32"]), bench.empty(2, 3)
    bench.launch("aclnnTanh", {"self": whole, "out": out})
    np.testing.assert_allclose(bench.get(out), np.tanh(np.trunc(x)), rtol=1e-5)


@pytest.mark.parametrize("word", ["FLOAT8_E4M3FN", "FLOAT8_E5M2"])
def test_a_cast_to_float8_and_back(word: str, make_bench: Callable[[str], Bench]) -> None:
    bench = make_bench("Ascend950PR_9579")
    x: Any = np.array([0.0, 1.0, -1.75, 448.0, 3.25])
    given, code = bench.put(x), DATA_TYPES[word]
    narrow, back = bench.empty(5, data_type=code), bench.empty(5)
    bench.launch("aclnnCast", {"self": given, "dtype": code, "out": narrow})
    bench.launch("aclnnCast", {"self": narrow, "dtype": DATA_TYPES["FLOAT"], "out": back})
    np.testing.assert_array_equal(bench.get(back), x.astype(numpy_dtype(code)).astype(float))
