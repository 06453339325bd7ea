# SPDX-License-Identifier: Apache-2.0
"""Kernels give the same for each data type, and for tensors with gaps and none, as for the vectors.

A vector with float32 is called with each other type instead, and compared with float32 of the same
rounded numbers, for which `test_kernels` has PyTorch's; one with places of 32 bits with those of
64, and the other way. Calls that CANN's rules refuse are no variants; their number may not grow.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.operators import kernel_call
from pyaclnn.mock.protocol.dtypes import numpy_dtype
from pyaclnn.mock.protocol.values import Tensor, TensorList

from .bench import row_major
from .test_kernels import CODES, VECTORS, Stage, is_tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .bench import Bench

BY_VALUES = {"aclnnGatherPaKvCache", "aclnnRepeatInterleaveGrad"}
"""Operators whose numbers state how many elements there are, or which of them are read."""
OTHERWISE = {
    "aclnnArange": "its numbers are of the type of the result",
    "aclnnDivMod": "its integers are exact beyond those of floats",
    "aclnnDivMods": "its integers are exact beyond those of floats",
    "aclnnIndexFill": "a fraction is cut off",
    "aclnnInplaceCopy": "a fraction is cut off",
    "aclnnLinspace": "a result of integers is cut off",
    "aclnnIsInf": "1e39 is an infinity in FLOAT, and none in DOUBLE",
    "aclnnPowTensorTensor": "reciprocals of integers are cut off",
    "aclnnQuantMatmulV3": "an INT32 holds eight numbers",
    "aclnnTransMatmulWeight": "blocks of bytes are twice as long",
}
"""Operators that give something else for another type, and why."""
TOLERANCE = {"f16": 2e-3, "bf16": 1.6e-2}
EXACT = 3e-6
SOURCES = {"i32-places": "i64", "i64-places": "i32"}
"""Types that are replaced, where that is not float32."""


class Variant(Stage):
    """The arguments of a vector with other floats, with gaps, or without elements.

    Tensors of type ``source`` are rounded to a type, and have a type, results among them if that is
    asked for; elements lie ``step`` apart. A length of the first axis that is not 0 becomes 0.
    """

    def __init__(
        self, bench: Bench, vector: Any, *, rounded: str, word: str, source: str = "f32",
        results: bool = True, step: int = 1, length: int = 0,
    ) -> None:  # fmt: skip
        self._source, self._with_results = source, results
        self._rounded, self._word, self._step, self._length = rounded, word, step, length
        super().__init__(bench, vector)

    def _tensor(self, value: dict[str, Any], *, filled: bool) -> Tensor:
        ((word, numbers),) = value.items()
        array = np.array(numbers)
        if array.dtype.kind == "U":
            array = array.astype(np.complex128)
        code = CODES[word]
        if self._length and array.shape[:1] == (self._length,):
            array = array[:0]
        if word == self._source and self._rounded and (filled or self._with_results):
            rounded = numpy_dtype(CODES[self._rounded])
            array = (np.abs(array) if rounded.kind == "u" else array).astype(rounded)
            array = array.real.astype(np.float64)
            code = CODES[self._word]
        gaps = tuple(self._step * stride for stride in row_major(array.shape))
        if filled:
            return self._bench.put(array, code, strides=gaps, offset=self._step - 1)
        offset = self._step - 1
        return self._bench.empty(*array.shape, data_type=code, strides=gaps, offset=offset)

    def numbers(self) -> list[NDArray[Any]]:
        """The results."""
        found = []
        for name in self.results:
            value = self.arguments[name]
            items = value.items if isinstance(value, TensorList) else (value,)
            found += [self._bench.array(item) for item in items if isinstance(item, Tensor)]
        return found

    def gaps(self) -> list[bytes]:
        """Return the bytes between the elements of each tensor."""
        found = []
        for value in self.arguments.values():
            items = value.items if isinstance(value, TensorList) else (value,)
            for item in (item for item in items if isinstance(item, Tensor) and item.size):
                size = numpy_dtype(item.data_type).itemsize
                data = self._bench.bytes_at(item.address, item.storage_dims[0] * size)
                pairs = np.frombuffer(data, np.uint8).reshape(-1, self._step, size)
                found.append(pairs[:, : self._step - 1].tobytes())
        return found


def first_word(vector: Any) -> str:
    """Return the type of the first tensor of a vector."""
    return next(iter(re.findall(f'"({"|".join(CODES)})": ', json.dumps(vector["given"]))), "f32")


def fault(bench: Bench, vector: Any, variant: str) -> str | None:
    """Return how a variant differs; empty if it does not, None if CANN refuses it."""
    name, word = vector["operator"], variant.removesuffix("-places").replace("gaps", "")
    source = SOURCES.get(variant, first_word(vector))
    if f'"{source}": ' not in json.dumps(vector["given"]):
        return None
    is_same = word in (source, "bool" if source[0] == "i" else source)
    if name in OTHERWISE or (word and (is_same or source == "bool")):
        return None
    step = 1 if word else 2
    for results in (True, False):
        other = Variant(
            bench, vector, rounded=word, word=word, source=source, results=results, step=step
        )
        if bench.check(name, other.arguments).status == 0:
            break
    else:
        return None
    base = Variant(bench, vector, rounded=word, word=source, source=source)
    bench.launch(name, base.arguments)
    before = other.gaps()
    bench.launch(name, other.arguments)
    if other.gaps() != before:
        return "elements between those of a tensor are written"
    most = max(TOLERANCE.get(each, EXACT) for each in (word, source))
    for expected, found in zip(base.numbers(), other.numbers(), strict=True):
        wide = np.complex128 if "c" in expected.dtype.kind + found.dtype.kind else np.float64
        holds = np.ones(expected.shape, bool)
        if found.dtype.kind in "iu" and expected.dtype.kind == "f":
            holds = np.abs(expected) <= np.iinfo(found.dtype).max
        wanted = expected[holds].astype(wide).astype(found.dtype).astype(wide)
        if not np.allclose(found[holds].astype(wide), wanted, most, most / 4, equal_nan=True):
            return f"{found.ravel()[:8]} instead of {wanted.ravel()[:8]}"
    return ""


def differing(bench: Bench, vectors: list[Any], variant: str) -> tuple[dict[str, str], int]:
    """The operators whose variants differ, and how many variants were compared."""
    found = [(vector["operator"], fault(bench, vector, variant)) for vector in vectors]
    return {name: text for name, text in found if text}, sum(t is not None for _, t in found)


LEAST = {
    "gaps": 1000,
    "f16": 850,
    "bf16": 840,
    "f64": 390,
    "c64": 165,
    "c128": 160,
    "i8": 380,
    "u8": 360,
    "i16": 340,
    "i32": 400,
    "i64": 310,
    "bool": 210,
    "u16": 90,
    "u32": 75,
    "u64": 70,
    "i32-places": 120,
    "i64-places": 20,
}
"""Least number of vectors that have a variant."""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("variant", "least"), LEAST.items())
def test_an_operator_computes_the_same_for_other_tensors(
    variant: str, least: int, bench: Bench
) -> None:
    found, count = differing(bench, VECTORS, variant)
    assert found == {}
    assert count >= least


def test_a_kernel_that_computes_in_float16_is_noticed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_call, "wide", lambda array: array)
    vectors = [v for v in VECTORS if v["operator"] == "aclnnConvDepthwise2d"]
    assert differing(bench, vectors, "f16")[0]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("half", [0, 1])
def test_tensors_without_elements_are_computed_or_refused(half: int, bench: Bench) -> None:
    for vector in VECTORS[half::2]:
        first = next((v for v in vector["given"].values() if is_tensor(v)), None)
        shape = np.shape(next(iter(first.values()))) if first else ()
        if not shape:
            continue
        empty = Variant(bench, vector, rounded="", word="f32", length=shape[0])
        status = bench.check(vector["operator"], empty.arguments).status
        assert status in {0, 161001, 161002, 999001}, vector["operator"]
        if status == 0:
            reply = bench.run(vector["operator"], empty.arguments)
            wanted = 507015 if vector["operator"] in BY_VALUES else 0
            assert reply.status in {0, wanted}, (vector["operator"], reply.text)
