# SPDX-License-Identifier: Apache-2.0
"""Agreement of phase 1 with the rules of calls, by operator, parameter and data type.

``python -m tests.mock_device.agreement [FAMILY ...]`` prints it for every operator with a kernel.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.facts.operators.call_rules import DATA_TYPES as LETTERS, call_rules
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.limits import MOST_AXES
from pyaclnn.facts.operators.types import TYPES, acl_name
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, numpy_dtype
from pyaclnn.mock.protocol.values import Scalar, ScalarList, Tensor, TensorList, Value

from .bench import Bench
from .test_kernels import VECTORS, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.operators.call_rules import CallRules

    Arguments = dict[str, Value]

__all__ = ["CHIPS", "EXCEPTIONS", "VECTORS_OF", "Verdict", "verdicts"]

CODES = {word: DATA_TYPES[acl_name(word)] for word in dict.fromkeys(LETTERS.values())}
CHIPS = {
    "910b": "Ascend910B3",
    "910_93": "Ascend910_9391",
    "950": "Ascend950PR_9579",
    "310p": "Ascend310P3",
    "910": "Ascend910A",
    "310b": "Ascend310B1",
}
VECTORS_OF: dict[str, list[Any]] = {}
for vector in VECTORS:
    if call_rules(vector["operator"]) is not None:
        VECTORS_OF.setdefault(vector["operator"], []).append(vector)
ACCEPTED, NULL, REFUSED, NOT_COMPUTED = 0, 161001, 161002, 999001
ANY = -1


INTEGERS = "i8 u8 i16 i32 i64 bool"
FLOAT_CAST = (INTEGERS, REFUSED, "the result is cast from FLOAT, which no integer holds")
EXCEPTIONS = {
    **dict.fromkeys(
        ("DequantSwigluQuant.yOut", "DequantSwigluQuantV2.yOut"),
        ("e2m1", NOT_COMPUTED, "the scale of FLOAT4 is not stated"),
    ),
    "Divs.out": FLOAT_CAST,
    "InplaceDivs.selfRef": FLOAT_CAST,
    **dict.fromkeys(
        ("InplaceErfinv.selfRef", "InplaceXLogYScalarOther.selfRef"),
        (INTEGERS, REFUSED, "the result is of floats, uncast"),
    ),
    "Inverse.self": ("c64 c128", REFUSED, "no result is complex, nor is a complex one cast"),
    **dict.fromkeys(
        ("TransposeBatchMatMul.out", "TransposeBatchMatMulWeightNz.out"),
        ("i8", NOT_COMPUTED, "a quantized product is not computed"),
    ),
    **dict.fromkeys(
        ("FlatQuant.out", "FlatQuantV2.out"),
        ("e2m1", NOT_COMPUTED, "how blocks of FLOAT4 are scaled is not stated"),
    ),
    "WeightQuantBatchMatmulNz.weight": (
        *("i32", NOT_COMPUTED),
        "how eight numbers an element lie in FRACTAL_NZ is not stated",
    ),
    "QuantMatmulWeightNz.x2": ("i32", REFUSED, "eight numbers an element need another shape"),
    "InplaceAddcdiv.selfRef": ("i64", NOT_COMPUTED, "how integers are divided is not stated"),
}
"""Listed types that another fact excludes, or that are not computed: the answer, and the reason."""
WITHOUT_ARRAY = ("HIFLOAT8", "FLOAT4_E1M2")
"""Types that no kernel here computes with, because NumPy and ml_dtypes lack them: 999001."""
MOVED = """Cast Cat ConstantPadNd InplaceCopy InplaceScatterUpdate InplaceZero Permute
ReflectionPad1d ReflectionPad2d ReflectionPad3d Repeat
ReplicationPad1d ReplicationPad2d ReplicationPad3d ScatterNdUpdate StridedSlice"""
"""Operators that move elements of these types all the same."""


class Verdict(NamedTuple):
    """The answer of phase 1 to a call that differs in one parameter from one that is right.

    Attributes:
        name: The parameter.
        change: The change: a data type, NULL, or a number of axes.
        status: The answer; of a type that is listed, the best answer to any such call.
        wanted: The answer by the rules; `ANY` for any but 161001.
        named: True if the text names the parameter, where it must.
    """

    name: str
    change: str
    status: int
    wanted: int
    named: bool = True

    @property
    def is_right(self) -> bool:
        """Report whether the answer is that of the rules, or of an exception to them."""
        if self.wanted == ANY:
            return self.status != NULL
        return self.status == self.wanted and self.named

    @property
    def agrees(self) -> bool:
        """Report whether it is that of the rules, of which an exception may be one."""
        return self.is_right and (self.wanted == ANY or self.status != NOT_COMPUTED)


def wanted_status(name: str, parameter: str, word: str, *, listed: bool) -> int:
    """Return the answer to a type by the rules, or by an exception to them."""
    if not listed:
        return REFUSED
    short = name.removeprefix("aclnn")
    words, status, _ = EXCEPTIONS.get(f"{short}.{parameter}", ("", 0, ""))
    if word in words.split():
        return status
    moved = word not in WITHOUT_ARRAY or short in MOVED.split()
    return ACCEPTED if moved else NOT_COMPUTED


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
    for count in range(1, len(alike)):
        yield from (same | {p: base[p] for p in some} for some in combinations(alike, count))
    for start, result, kind in product((one, same), results, TYPES):
        yield start | {result: typed(base[result], kind)}
    for other, kind in product(others, TYPES):
        yield one | {other: typed(base[other], kind)}
    every = one | {p: typed(base[p], word) for p in others}
    yield every | dict.fromkeys(asked, CODES[word])
    for other, kind in product(others, TYPES):
        (shaped, *_), (own, *_) = tensors_of(base[other]), tensors_of(one[of])
        reshaped = replace(own, dims=shaped.dims, strides=shaped.strides)
        yield one | {other: typed(base[other], kind), of: reshaped}
    for kind in TYPES:
        changed = {p: typed(base[p], kind) for p in alike}
        yield one | changed | dict.fromkeys(asked, CODES[kind])


_first_calls: dict[tuple[str, str, str], int] = {}
"""The place of the first call with a type that was accepted on some chip."""


def best_status(bench: Bench, name: str, bases: list[Arguments], of: str, word: str) -> int:
    """The best answer to a call in which a tensor has a type."""

    def calls() -> Iterator[Arguments]:
        for base in bases:
            for start in calls_with(name, base, of, word) if tensors_of(base[of]) else ():
                yield from with_scalars(start)

    key, best = (name, of, word), REFUSED
    known = islice(calls(), _first_calls.get(key, 0), None)
    if bench.check(name, next(known)).status == ACCEPTED:
        return ACCEPTED
    for place, call in enumerate(calls()):
        status = bench.check(name, call).status
        if status == ACCEPTED:
            _first_calls[key] = place
            return ACCEPTED
        best = NOT_COMPUTED if status == NOT_COMPUTED else best
    return best


def verdicts(bench: Bench, name: str, family: str, rules: CallRules) -> Iterator[Verdict]:
    """Every type of every tensor whose types are known, NULL of every pointer, too many axes."""
    bench.clear()
    bases = [Stage(bench, vector).arguments for vector in VECTORS_OF[name]]
    accepted = next((base for base in bases if bench.check(name, base).status == ACCEPTED), None)
    for of, rule in zip(bases[0], rules.parameters, strict=True):
        if rule.pointer:
            status = bench.check(name, bases[0] | {of: None}).status
            yield Verdict(of, "NULL", status, ANY if rule.nullable else NULL)
        base = next((base for base in bases if tensors_of(base[of])), None)
        if base is None:
            continue
        for count in {rule.axes + 1, max(rule.axes, MOST_AXES) + 1}:
            reply = bench.check(name, base | {of: with_axes(base[of], count)})
            named = base is not accepted or f"{of} has {count} dimensions" in reply.text
            yield Verdict(of, f"{count} axes", reply.status, REFUSED, named)
        listed = rule.types(family, bfloat16=family in {"910b", "910_93", "950"})
        if listed is None:
            continue
        for word in CODES:
            wanted = wanted_status(name, of, word, listed=word in listed)
            if word in listed:
                tried = [*bases, *(lean(base, rules) | {of: base[of]} for base in bases)]
                yield Verdict(of, word, best_status(bench, name, tried, of, word), wanted)
            else:
                reply = bench.check(name, base | {of: typed(base[of], word)})
                yield Verdict(of, word, reply.status, wanted)


def lean(base: Arguments, rules: CallRules) -> Arguments:
    """The same call without the tensors that may be NULL."""
    pairs = zip(base.items(), rules.parameters, strict=True)
    return {
        name: None if rule.nullable and tensors_of(value) else value
        for (name, value), rule in pairs
    }


def with_axes(value: Value, count: int) -> Value:
    """The same tensors with so many axes of one element."""
    if isinstance(value, TensorList):
        return TensorList(tuple(item and _of_axes(item, count) for item in value.items))
    return _of_axes(value, count) if isinstance(value, Tensor) else value


def _of_axes(given: Tensor, count: int) -> Tensor:
    dims = (1,) * count
    return replace(given, dims=dims, strides=dims, storage_dims=dims)


def main(families: list[str]) -> None:
    """Print how many answers agree, and which do not."""
    whole: Counter[str] = Counter()
    for family in families or ["910b"]:
        bench = Bench(CHIPS[family])
        for name in VECTORS_OF:
            rules = call_rules(name)
            found = [] if rules is None else list(verdicts(bench, name, family, rules))
            odd = [verdict for verdict in found if not verdict.agrees]
            late = sum(verdict.status == NOT_COMPUTED for verdict in odd)
            whole += Counter(all=len(found), odd=len(odd), late=late)
            share = 100 * (1 - len(odd) / max(len(found), 1))
            words = " ".join(f"{v.name}:{v.change}={v.status}" for v in odd)
            print(f"{family} {name} {len(found)} {share:.2f} % {words}")  # noqa: T201
        bench.close()
    print(dict(whole))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
