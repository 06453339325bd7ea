# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of every operator with a kernel accepts what its rules list, and refuses the rest.

The rules are those of CANN's documents and checks (CANN: ops-math, ops-nn). `VERDICTS` states some
of them a second time, by hand.
"""

from __future__ import annotations

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

from .agreement import ACCEPTED, CHIPS, NOT_COMPUTED, REFUSED, VECTORS_OF, Probe, probes
from .bench import tensor
from .test_kernels import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

    Arguments = dict[str, Value]

INTEGERS = "i8 u8 i16 i32 i64 bool"
FLOAT_CAST = (INTEGERS, REFUSED, "the result is cast from FLOAT, which no integer holds")
BOOL_DIFFERENCE = ("bool", NOT_COMPUTED, "the difference of two truth values is not stated")
PACKED_FLOATS = "how floats of 4 bits lie in FLOAT is not stated"
EXCEPTIONS = {
    "ConvertWeightToINT4Pack.weight": ("f32", NOT_COMPUTED, PACKED_FLOATS),
    "ConvertWeightToINT4Pack.weightInt4Pack": (
        "f32 e2m1 i4",
        NOT_COMPUTED,
        f"{PACKED_FLOATS}; integers of 4 bits are tested with their shape in test_pairs",
    ),
    **dict.fromkeys(
        ("DequantSwigluQuant.yOut", "DequantSwigluQuantV2.yOut"),
        ("e2m1", NOT_COMPUTED, "the scale of FLOAT4 is not stated"),
    ),
    "Divs.out": FLOAT_CAST,
    "DivMods.out": FLOAT_CAST,
    "InplaceDivs.selfRef": FLOAT_CAST,
    "InplaceDivMods.selfRef": FLOAT_CAST,
    "InplaceXLogYScalarOther.selfRef": (INTEGERS, REFUSED, "the result is of floats, uncast"),
    "Inverse.self": ("c64 c128", REFUSED, "no result is complex, nor is a complex one cast"),
    "InplaceAddcdiv.selfRef": ("i64", NOT_COMPUTED, "how integers are divided is not stated"),
    "Sub.out": BOOL_DIFFERENCE,
    "Subs.out": BOOL_DIFFERENCE,
    "InplaceSub.selfRef": BOOL_DIFFERENCE,
    "InplaceSubs.selfRef": BOOL_DIFFERENCE,
}
"""Listed types that another fact excludes, or that are not computed: the answer, and the reason."""
WITHOUT_ARRAY = ("HIFLOAT8", "COMPLEX32", "FLOAT4_E1M2")
"""Types that no kernel here computes with, because NumPy and ml_dtypes lack them: 999001."""


def expected_status(name: str, probe: Probe) -> int:
    """The answer to a type by the rules, or by an exception to them."""
    if not probe.listed:
        return REFUSED
    key = f"{name.removeprefix('aclnn')}.{probe.name}"
    words, status, _ = EXCEPTIONS.get(key, ("", ACCEPTED, ""))
    if probe.word in words.split():
        return status
    return NOT_COMPUTED if probe.word in WITHOUT_ARRAY else ACCEPTED


@pytest.mark.sampled(40)
@pytest.mark.parametrize("family", CHIPS)
@pytest.mark.parametrize("name", VECTORS_OF)
def test_each_listed_type_is_accepted_and_each_other_refused(
    name: str, family: str, make_bench: Callable[[str], Bench]
) -> None:
    found = list(probes(make_bench(CHIPS[family]), name, family))
    wrong = [p for p in found if p.status != expected_status(name, p)]
    assert wrong == []
    odd = sum(not p.agrees and p.word not in WITHOUT_ARRAY for p in found)
    known = any(key.startswith(f"{name.removeprefix('aclnn')}.") for key in EXCEPTIONS)
    assert odd <= 0.02 * len(found) or known


IN_8_1 = [name for name in VECTORS_OF if "8.1" in catalogue()[name].releases]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", IN_8_1)
def test_cann_8_1_lists_the_same_types(name: str, make_bench: Callable[..., Bench]) -> None:
    # No source states other types for that release; operators that it lacks are refused whole.
    for family in ("910b", "310p"):
        found = list(probes(make_bench(CHIPS[family], release="8.1"), name, family))
        assert [p for p in found if p.status != expected_status(name, p)] == []


def test_every_exception_is_one_of_an_operator() -> None:
    for key in EXCEPTIONS:
        name, _, parameter = key.partition(".")
        assert parameter in [p.name for p in catalogue()[f"aclnn{name}"].parameters]


def test_a_null_is_refused_where_it_is_required_and_nowhere_else(bench: Bench) -> None:
    wrong = []
    for name, vectors in VECTORS_OF.items():
        bench.clear()
        base = Stage(bench, vectors[0]).arguments
        rules = call_rules(name)
        assert rules is not None
        for of, rule in zip(base, rules.parameters, strict=True):
            status = bench.check(name, base | {of: None}).status if rule.pointer else 0
            if rule.pointer and (status == 161001) == rule.nullable:
                wrong.append((name, of, status))
    assert wrong == []


def of(*dims: int, word: str = "FLOAT", form: str = "ND") -> Tensor:
    return tensor(*dims, data_type=DATA_TYPES[word], form=FORMATS[form])


X, HALF, LONG = of(2, 3), of(2, 3, word="FLOAT16"), of(2, 3, word="INT64")
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
        "aclnnErfinv",
        {"self": of(3, word="COMPLEX64"), "out": of(3)},
        161002,
    ),
    "no kernel": ("910b", "aclnnErfinv", {"self": X, "out": X}, 999001),
    "no kernel, and INT4 weights": (
        "910b",
        "aclnnErfinv",
        {"self": of(4, word="INT4"), "out": X},
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
