# SPDX-License-Identifier: Apache-2.0
"""Kernels give the same for narrow floats, and for tensors with gaps and none, as for the vectors.

A vector with float32 is called with float16 or bfloat16 instead, and compared with float32 of the
same rounded numbers, for which `test_kernels` has PyTorch's. Calls that CANN's rules refuse are no
variants; their number may not grow.
"""

from __future__ import annotations

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
TOLERANCE = {"f16": 2e-3, "bf16": 1.6e-2, "": 3e-6}
SAMPLE, REST = VECTORS[::2], VECTORS[1::2]


class Variant(Stage):
    """The arguments of a vector with other floats, with gaps, or without elements.

    Floats are rounded to a type, and have a type; elements lie ``step`` apart. A length of the
    first axis that is not 0 becomes 0.
    """

    def __init__(
        self, bench: Bench, vector: Any, *, rounded: str, word: str, step: int = 1, length: int = 0
    ) -> None:
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
        if word == "f32" and self._rounded:
            array = array.astype(numpy_dtype(CODES[self._rounded])).astype(np.float64)
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


def fault(bench: Bench, vector: Any, word: str) -> str | None:
    """Return how a variant differs; empty if it does not, None if CANN refuses it."""
    name = vector["operator"]
    step = 1 if word else 2
    other = Variant(bench, vector, rounded=word, word=word, step=step)
    if bench.check(name, other.arguments).status != 0:
        return None
    base = Variant(bench, vector, rounded=word, word="f32", step=1)
    bench.launch(name, base.arguments)
    before = other.gaps()
    bench.launch(name, other.arguments)
    if other.gaps() != before:
        return "elements between those of a tensor are written"
    for expected, found in zip(base.numbers(), other.numbers(), strict=True):
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        wanted = expected.astype(found.dtype).astype(wide)
        most = TOLERANCE[word]
        if not np.allclose(found.astype(wide), wanted, most, most / 4, equal_nan=True):
            return f"{found.ravel()[:8]} instead of {wanted.ravel()[:8]}"
    return ""


def differing(bench: Bench, vectors: list[Any], word: str) -> tuple[dict[str, str], int]:
    """The operators whose variants differ, and how many variants were compared."""
    found = [(vector["operator"], fault(bench, vector, word)) for vector in vectors]
    return {name: text for name, text in found if text}, sum(t is not None for _, t in found)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("word", "least"), [("f16", 340), ("bf16", 320), ("", 380)])
def test_an_operator_computes_the_same_for_other_tensors(
    word: str, least: int, bench: Bench
) -> None:
    found, count = differing(bench, SAMPLE, word)
    assert found == {}
    assert count >= least


@pytest.mark.exhaustive
@pytest.mark.parametrize(("word", "least"), [("f16", 430), ("bf16", 400), ("", 470)])
def test_every_vector_computes_the_same_for_other_tensors(
    word: str, least: int, bench: Bench
) -> None:
    found, count = differing(bench, REST, word)
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
