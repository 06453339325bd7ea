# SPDX-License-Identifier: Apache-2.0
"""No scalar loses its imaginary part or its fraction on the way into a kernel.

Every kernel with a scalar is called with tensors of every data type and scalars of every data type.
A call is refused with 161002, or its result is what the kernel gives in float64 or complex128.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.types import TYPES
from pyaclnn.mock.operators import limits
from pyaclnn.mock.protocol.dtypes import numpy_dtype
from pyaclnn.mock.protocol.values import Scalar, ScalarList, Tensor, TensorList, Value
from pyaclnn.reference.kernels import built_in, promotion
from pyaclnn.reference.kernels.promotion import category

from .test_kernels import CODES, PLAIN, VECTORS, is_list, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from .bench import Bench

ORDER = "bifc"
SAMPLE = ("f32", "i32", "bool", "c64")
NUMBERS: dict[str, complex] = {"b": True, "i": 2, "f": 1.5, "c": 1.5 + 0.5j}
TOLERANCE = {"f16": 4e-3, "bf16": 3e-2}
COMPARING = {"aclnnEqScalar", "aclnnInplaceEqScalar", "aclnnInplaceNeScalar", "aclnnNeScalar"}
"""The operators that compare real tensors with a complex number, and lose nothing by that."""
CUTTING = {
    "aclnnConstantPadNd",
    "aclnnIndexFill",
    "aclnnIndexFillTensor",
    "aclnnInplaceFillScalar",
    "aclnnInplaceIndexFill",
    "aclnnInplaceIndexFillTensor",
    "aclnnInplaceScatterValue",
    "aclnnScatterValue",
}
"""The operators that convert a fraction to the integers of their tensor, as CANN's do."""

NOT_STATED = {
    **dict.fromkeys(("aclnnAddcdiv", "aclnnInplaceAddcdiv"), "i64"),
    **dict.fromkeys(("aclnnSub", "aclnnSubs", "aclnnInplaceSub", "aclnnInplaceSubs"), "bool"),
    **dict.fromkeys(("aclnnDivMods", "aclnnInplaceDivMods"), "c64 c128"),
}
"""Types that CANN lists without stating the result, which is not computed."""


def scalars_of(name: str) -> list[str]:
    return [p.name for p in catalogue()[name].parameters if p.kind in "aA"]


SETTINGS = {
    "Arange",
    "Cumprod",
    "ForeachRoundOffNumberV2",
    "Histc",
    "InplaceCumprod",
    "Linspace",
    "LogSpace",
    "PdistForward",
    "Range",
    "SearchSorteds",
}
"""The operators whose scalars are settings, such as an axis or a bound, and no operands."""
VECTOR_OF = {vector["operator"]: vector for vector in reversed(VECTORS)}
OPERATORS = [
    name for name in VECTOR_OF if scalars_of(name) and name.removeprefix("aclnn") not in SETTINGS
]


def category_of(word: str) -> str:
    return category(numpy_dtype(CODES[word]))


def scalar(word: str, number: complex) -> Scalar:
    dtype = numpy_dtype(CODES[word])
    return Scalar(CODES[word], np.array([number]).astype(dtype).tobytes())


class Attempt:
    """One call of an operator with tensors of one type and one scalar of interest."""

    def __init__(self, bench: Bench, name: str, word: str, of: str, scalar_word: str) -> None:
        self._bench, self.name, self._word = bench, name, word
        self._number = NUMBERS[category_of(scalar_word)]
        widest = max(category_of(word), category_of(scalar_word), key=ORDER.index)
        self._wide = {"c": np.complex128, "f": np.float64}.get(widest, np.int64)
        self.arguments: dict[str, Value] = {}
        self._plain: dict[str, Any] = {}
        vector = VECTOR_OF[name]
        for parameter in catalogue()[name].parameters:
            given = parameter.name in vector["given"]
            value = vector["given" if given else "results"][parameter.name]
            made, plain = value, value
            if parameter.kind in "aA":
                wanted = parameter.name == of
                made = scalar(scalar_word, self._number) if wanted else scalar("i64", 1)
                plain = self._number if wanted else 1
                if parameter.kind == "A":
                    made, plain = ScalarList((made,) * len(value)), [plain] * len(value)
            elif is_list(value):
                pairs = [self._tensor(item, given=given) for item in value]
                made, plain = TensorList(tuple(t for t, _ in pairs)), [a for _, a in pairs]
            elif is_tensor(value):
                made, plain = self._tensor(value, given=given)
            elif parameter.kind in PLAIN:
                made = PLAIN[parameter.kind](value)
            self.arguments[parameter.name], self._plain[parameter.name] = made, plain

    def _tensor(self, value: dict[str, Any], *, given: bool) -> tuple[Tensor, NDArray[Any]]:
        """Make a tensor, and an array of its numbers in the widest type."""
        ((old, numbers),) = value.items()
        shape = np.shape(numbers)
        word = old if old == "bool" and not given else self._word
        if not given:
            return self._bench.empty(*shape, data_type=CODES[word]), np.zeros(shape, self._wide)
        counted = (np.arange(np.size(numbers)) % 4 + 1).reshape(shape)
        array = counted.astype(numpy_dtype(CODES[word]))
        return self._bench.put(array, CODES[word]), array.astype(self._wide)

    def status(self) -> int:
        return int(self._bench.check(self.name, self.arguments).status)

    def faults(self) -> Iterator[str]:
        """Run the call, and compare with the kernel on the widest types."""
        self._bench.launch(self.name, self.arguments)
        kernel = built_in()[self.name]
        named = {kernel.parameter_for(name): value for name, value in self._plain.items()}
        result = kernel.function(**{str(name): named[name] for name in named if name})
        written = [p.name for p in catalogue()[self.name].parameters if p.written]
        for name, wide in zip(written, result if len(written) > 1 else (result,), strict=True):
            if wide is not None:
                yield from self._differing(name, wide)

    def _differing(self, written: str, result: Any) -> Iterator[str]:
        target = self.arguments[written]
        items = target.items if isinstance(target, TensorList) else (target,)
        results = result if isinstance(target, TensorList) else (result,)
        for item, wide in zip(items, results, strict=True):
            assert isinstance(item, Tensor)
            found = self._bench.array(item)
            if found.dtype.kind in "iu" and not fits(wide, np.iinfo(found.dtype)):
                continue
            expected = wide != 0 if found.dtype.kind == "b" else wide
            tolerance = TOLERANCE.get(self._word, 1e-5)
            if not np.allclose(found.astype(expected.dtype), expected, tolerance, tolerance):
                yield f"{written} is {found.ravel()}, must be {expected.ravel()}"


def fits(wide: NDArray[Any], limits: np.iinfo[Any]) -> bool:
    lowest, highest = wide.real.min().item(), wide.real.max().item()
    return bool(lowest >= limits.min and highest <= limits.max)


def check_operator(bench: Bench, name: str, words: Iterable[str]) -> list[str]:
    wrong: list[str] = []
    for word in words:
        for of in scalars_of(name):
            of_bool = Attempt(bench, name, word, of, "bool").status()
            for scalar_word in TYPES:
                attempt = Attempt(bench, name, word, of, scalar_word)
                status, have = attempt.status(), category_of(scalar_word)
                where = f"{name} of {word}, {of} of {scalar_word}"
                lossless = ORDER.index(have) <= ORDER.index(category_of(word))
                not_stated = word in NOT_STATED.get(name, "").split()
                if status not in ({0, 161002, 999001} if not_stated else {0, 161002}):
                    wrong.append(f"{where}: {status}")
                if status == 0 and have == "c" and not lossless and name not in COMPARING:
                    wrong.append(f"{where}: the imaginary part is lost")
                if status != of_bool and have != "c" and lossless:
                    wrong.append(f"{where}: {status}, but {of_bool} of a bool")
                if status == 0 and (lossless or name not in CUTTING):
                    wrong += [f"{where}: {fault}" for fault in attempt.faults()]
    return wrong


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", OPERATORS)
def test_no_scalar_loses_anything(name: str, bench: Bench) -> None:
    assert check_operator(bench, name, SAMPLE) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", OPERATORS)
def test_no_scalar_loses_anything_with_tensors_of_any_type(name: str, bench: Bench) -> None:
    assert check_operator(bench, name, TYPES.keys() - SAMPLE) == []


def test_a_lost_imaginary_part_is_noticed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "scalar_fault", lambda *_: None)
    monkeypatch.setattr(promotion, "_require_castable", lambda *_: None)
    with pytest.warns(np.exceptions.ComplexWarning):
        wrong = check_operator(bench, "aclnnAdd", ["f32"])
    assert any("the imaginary part is lost" in line for line in wrong)
    assert any("must be" in line for line in wrong)
