# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of every operator with a kernel accepts what its rules list, and refuses the rest.

The rules are those of CANN's documents and checks (CANN: ops-math, ops-nn). `VERDICTS` states some
of them a second time, by hand.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.call_rules import DATA_TYPES as LETTERS, call_rules
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.types import TYPES, acl_name
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, FORMATS, numpy_dtype
from pyaclnn.mock.protocol.values import (
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
    Value,
)

from .bench import tensor
from .test_kernels import VECTORS, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .bench import Bench

    Arguments = dict[str, Value]

CODES = {word: DATA_TYPES[acl_name(word)] for word in dict.fromkeys(LETTERS.values())}
CHIPS = {
    "910b": "Ascend910B3",
    "910_93": "Ascend910_9391",
    "950": "Ascend950PR_9579",
    "310p": "Ascend310P3",
    "910": "Ascend910A",
    "310b": "Ascend310B1",
}
VECTORS_OF = {
    name: [v for v in VECTORS if v["operator"] == name]
    for name in dict.fromkeys(v["operator"] for v in VECTORS)
    if call_rules(name) is not None
}
FEWER = {
    "aclnnApplyAdamWV2",
    "aclnnAscendQuant",
    "aclnnAscendQuantV3",
    "aclnnEmbeddingDenseBackward",
    "aclnnFusedAdamw",
    "aclnnFusedMatmul",
    "aclnnFFN",
    "aclnnFFNV2",
    "aclnnFFNV3",
    "aclnnFlashAttentionScore",
    "aclnnFlashAttentionScoreGradV3",
    "aclnnFlashAttentionScoreV2",
    "aclnnFlashAttentionScoreV3",
    "aclnnFlashAttentionUnpaddingScoreGradV3",
    "aclnnFlashAttentionUnpaddingScoreGradV5",
    "aclnnFlashAttentionVarLenScore",
    "aclnnFlashAttentionVarLenScoreV2",
    "aclnnFlashAttentionVarLenScoreV4",
    "aclnnFlashAttentionVarLenScoreV5",
}
"""Operators whose kernels take fewer types together than their lists have."""
INTEGERS = "i8 u8 i16 i32 i64 bool"
UNREACHABLE = {
    **dict.fromkeys(("aclnnSub", "aclnnSubs", "aclnnInplaceSub", "aclnnInplaceSubs"), "bool"),
    **dict.fromkeys(("aclnnDiv", "aclnnDivs", "aclnnInplaceDiv", "aclnnInplaceDivs"), INTEGERS),
    **dict.fromkeys(("aclnnAddcdiv", "aclnnInplaceAddcdiv"), "i64"),
    **dict.fromkeys(("aclnnInplaceAtan2", "aclnnInplaceXLogYScalarOther"), INTEGERS),
    **dict.fromkeys(("aclnnInplaceXLogYTensor", "aclnnEye"), INTEGERS),
    **dict.fromkeys(("aclnnDivMod", "aclnnInplaceDivMod"), "bool c64 c128"),
    **dict.fromkeys(("aclnnDivMods", "aclnnInplaceDivMods"), f"{INTEGERS} c64 c128"),
    **dict.fromkeys(
        [
            f"aclnn{kind}Pad{n}dBackward"
            for kind in ("Reflection", "Replication")
            for n in (1, 2, 3)
        ],
        "c64 c128",
    ),
    **dict.fromkeys(("aclnnHardsigmoid", "aclnnInplaceHardsigmoid"), "i32"),
    **dict.fromkeys(("aclnnProd", "aclnnProdDim", "aclnnReduceNansum"), "bool"),
    "aclnnInverse": "f16 c64 c128",
    "aclnnForeachAddList": "bf16 i8 u8 i16",
    "aclnnForeachAddcdivScalar": "bf16",
    **dict.fromkeys(("aclnnForeachExp", "aclnnForeachExpm1"), "i8 u8 i16"),
    **dict.fromkeys(("aclnnMaxUnpool2d", "aclnnMaxUnpool3d"), "i8 u8 i16 i32 i64"),
    "aclnnConvTbc": "HIFLOAT8",
    "aclnnConvertWeightToINT4Pack": "f32 i4",
    **dict.fromkeys(("aclnnGroupQuant", "aclnnDynamicQuantV3", "aclnnDynamicQuantV4"), "i32"),
}
"""Types that a list has, and that no result may be cast to, or that no kernel here computes."""


def tensors_of(value: Value) -> list[Tensor]:
    items = value.items if isinstance(value, TensorList) else (value,)
    return [item for item in items if isinstance(item, Tensor)]


def typed(value: Value, word: str) -> Value:
    if isinstance(value, TensorList):
        return TensorList(
            tuple(item and replace(item, data_type=CODES[word]) for item in value.items)
        )
    return replace(value, data_type=CODES[word]) if isinstance(value, Tensor) else value


def with_scalars(arguments: Arguments) -> Iterator[Arguments]:
    """The call, and the same with whole numbers, and with truth values."""
    yield arguments
    for word in ("INT64", "BOOL"):
        code = DATA_TYPES[word]
        one = Scalar(code, np.ones((), numpy_dtype(code)).tobytes())
        changed: Arguments = {
            name: one if isinstance(value, Scalar) else ScalarList((one,) * len(value.items))
            for name, value in arguments.items()
            if isinstance(value, (Scalar, ScalarList))
        }
        if changed:
            yield arguments | changed


def calls_with(name: str, base: Arguments, of: str, word: str) -> Iterator[Arguments]:
    """Calls in which a tensor has a type, and others follow it in some way."""
    parameters = catalogue()[name].parameters
    code = tensors_of(base[of])[0].data_type
    others = [p for p in base if p != of and tensors_of(base[p])]
    alike = [p for p in others if tensors_of(base[p])[0].data_type == code]
    results = [p.name for p in parameters if p.written and not p.read and p.name in others]
    asked = [p.name for p in parameters if p.kind == "y"]
    one = base | {of: typed(base[of], word)}
    same = one | {p: typed(base[p], word) for p in alike} | dict.fromkeys(asked, CODES[word])
    yield from (one, same, one | dict.fromkeys(asked, CODES[word]))
    for start, result, kind in product((one, same), results, TYPES):
        yield start | {result: typed(base[result], kind)}
    for other, kind in product(others, TYPES):
        yield one | {other: typed(base[other], kind)}
    for kind in TYPES:
        changed = {p: typed(base[p], kind) for p in alike}
        yield one | changed | dict.fromkeys(asked, CODES[kind])


def is_accepted(bench: Bench, name: str, bases: list[Arguments], of: str, word: str) -> bool:
    tried = (
        bench.check(name, call).status
        for base in bases
        if tensors_of(base[of])
        for start in calls_with(name, base, of, word)
        for call in with_scalars(start)
    )
    return any(status == 0 or (status == 999001 and word not in TYPES) for status in tried)


def wrong_types(bench: Bench, name: str, bases: list[Arguments], family: str) -> list[str]:
    """Return the types on which phase 1 and the rules differ."""
    found = []
    rules = call_rules(name)
    assert rules is not None
    for of, rule in zip(bases[0], rules.parameters, strict=True):
        listed = rule.types(family, bfloat16=family in {"910b", "910_93", "950"})
        base = next((base for base in bases if tensors_of(base[of])), None)
        if base is None or listed is None:
            continue
        for word in CODES:
            refused = bench.check(name, base | {of: typed(base[of], word)}).status == 161002
            if word not in listed and not refused:
                found.append(f"{of}: {word} is accepted")
            reachable = word in listed and word not in UNREACHABLE.get(name, "").split()
            if reachable and not is_accepted(bench, name, bases, of, word):
                found.append(f"{of}: {word} is refused")
    return found


@pytest.mark.parametrize(
    "family",
    [
        family if family == "910b" else pytest.param(family, marks=pytest.mark.exhaustive)
        for family in CHIPS
    ],
)
@pytest.mark.parametrize("name", sorted({*VECTORS_OF} - FEWER))
def test_each_listed_type_is_accepted_and_each_other_refused(
    name: str, family: str, make_bench: Callable[[str], Bench]
) -> None:
    bench = make_bench(CHIPS[family])
    bases = [Stage(bench, vector).arguments for vector in VECTORS_OF[name]]
    assert wrong_types(bench, name, bases, family) == []


@pytest.mark.parametrize("name", VECTORS_OF)
def test_a_null_is_refused_where_it_is_required_and_nowhere_else(name: str, bench: Bench) -> None:
    base = Stage(bench, VECTORS_OF[name][0]).arguments
    rules = call_rules(name)
    assert rules is not None
    for of, rule in zip(base, rules.parameters, strict=True):
        if rule.pointer:
            status = bench.check(name, base | {of: None}).status
            assert (status == 161001) == (not rule.nullable), of


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
