# SPDX-License-Identifier: Apache-2.0
"""Agreement of phase 1 with the rules of calls, by operator, parameter and data type.

``python -m tests.mock_device.agreement [FAMILY ...]`` prints it for every operator with a kernel.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pyaclnn.facts.operators.call_rules import DATA_TYPES as LETTERS, call_rules
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.types import TYPES, acl_name
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, numpy_dtype
from pyaclnn.mock.protocol.values import Scalar, ScalarList, Tensor, TensorList, Value

from .bench import Bench
from .test_kernels import VECTORS, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    Arguments = dict[str, Value]

__all__ = ["CHIPS", "VECTORS_OF", "Probe", "probes"]

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
ACCEPTED, REFUSED, NOT_COMPUTED = 0, 161002, 999001


class Probe(NamedTuple):
    """One data type of one parameter.

    Attributes:
        name: The parameter.
        word: The type.
        listed: Whether the rules list it.
        status: The answer to a call with that type alone; of a listed one, the best answer to any.
    """

    name: str
    word: str
    listed: bool
    status: int

    @property
    def agrees(self) -> bool:
        """Report whether a listed type is accepted, or another one refused."""
        return self.status == (ACCEPTED if self.listed else REFUSED)


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
    for kind in TYPES:
        changed = {p: typed(base[p], kind) for p in alike}
        yield one | changed | dict.fromkeys(asked, CODES[kind])


def best_status(bench: Bench, name: str, bases: list[Arguments], of: str, word: str) -> int:
    """The best answer to a call in which a tensor has a type."""
    best = REFUSED
    for base in bases:
        for start in calls_with(name, base, of, word) if tensors_of(base[of]) else ():
            for call in with_scalars(start):
                status = bench.check(name, call).status
                if status == ACCEPTED:
                    return ACCEPTED
                best = NOT_COMPUTED if status == NOT_COMPUTED else best
    return best


def probes(bench: Bench, name: str, family: str) -> Iterator[Probe]:
    """Every type of every tensor whose types are known on a family of chips."""
    bases = [Stage(bench, vector).arguments for vector in VECTORS_OF[name]]
    rules = call_rules(name)
    assert rules is not None
    for of, rule in zip(bases[0], rules.parameters, strict=True):
        listed = rule.types(family, bfloat16=family in {"910b", "910_93", "950"})
        base = next((base for base in bases if tensors_of(base[of])), None)
        if base is None or listed is None:
            continue
        for word in CODES:
            if word in listed:
                yield Probe(of, word, True, best_status(bench, name, bases, of, word))
            else:
                reply = bench.check(name, base | {of: typed(base[of], word)})
                yield Probe(of, word, False, reply.status)


def main(families: list[str]) -> None:
    """Print how many probes agree, and which do not."""
    whole: Counter[str] = Counter()
    for family in families or ["910b"]:
        bench = Bench(CHIPS[family])
        for name in VECTORS_OF:
            found = list(probes(bench, name, family))
            odd = [p for p in found if not p.agrees]
            late = sum(p.status == NOT_COMPUTED for p in odd)
            whole += Counter(all=len(found), odd=len(odd), late=late)
            share = 100 * (1 - len(odd) / max(len(found), 1))
            words = " ".join(f"{p.name}:{p.word}={p.status}" for p in odd)
            print(f"{family} {name} {len(found)} {share:.2f} % {words}")  # noqa: T201
        bench.close()
    print(dict(whole))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
