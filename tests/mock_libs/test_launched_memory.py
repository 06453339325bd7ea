# SPDX-License-Identifier: Apache-2.0
"""Memory of a launch: which of it may coincide, begin off a boundary, or end in padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pyaclnn.mock

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("context")
FLOAT, BFLOAT16, INT64, BOOL = 0, 27, 9, 12


def launch(name: str, *arguments: Any) -> list[str]:
    """Run an operator, wait, and destroy its arguments; gives the rules that it broke."""
    before = len(pyaclnn.mock.violations())
    size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
    npu.call(f"{name}GetWorkspaceSize", *arguments, size, executor)
    workspace = npu.device_memory(size[0]) if size[0] else NULL
    npu.call(name, workspace, size[0], executor[0], NULL)
    npu.call("aclrtSynchronizeStream", NULL)
    if workspace:
        npu.call("aclrtFree", workspace)
    destroy(*arguments)
    return [each.rule for each in pyaclnn.mock.violations()[before:]]


def destroy(*arguments: Any) -> None:
    """Destroy tensors, scalars and arrays, each once; other arguments are left."""
    for handle in dict.fromkeys(each for each in arguments if isinstance(each, ffi.CData)):
        kind = ffi.typeof(handle).item.cname.split()[-1]
        npu.call(f"aclDestroy{kind.removeprefix('acl')}", handle)


def of(kind: str, values: list[float]) -> Any:
    """A scalar of float32, or a list of numbers as CANN's array."""
    if kind == "scalar":
        return lib.aclCreateScalar(ffi.new("float *", values[0]), FLOAT)
    return lib.aclCreateIntArray(ffi.new("int64_t[]", [int(value) for value in values]), 1)


@pytest.fixture
def block() -> Iterator[Any]:
    made = ffi.cast("char *", npu.device_memory(1024))
    npu.write(made, bytes(1024))
    yield made
    npu.call("aclrtFree", made)


def tensors(block: Any, name: str = "", *, shift: int) -> tuple[Any, Any]:
    """The input of an operator, and an output so many bytes behind it."""
    dims = (1, 4, 4) if name == "aclnnBaddbmm" else (4, 4)
    return npu.tensor(dims, block), npu.tensor(dims, block + shift)


def mask_at(block: Any) -> Any:
    """A condition that lies apart from both."""
    return npu.tensor((4, 4), block + 192, BOOL)


def places_at(block: Any, axes: int = 1) -> Any:
    """Four places in the first axis, all 0."""
    return npu.tensor((4,) if axes == 1 else (1, 4), block + 256, INT64)


def apart(block: Any, dims: tuple[int, ...] = (4, 4)) -> Any:
    """Another tensor."""
    return npu.tensor(dims, block + 384)


# CANN's own callers pass these self as out (op-plugin).
IN_PLACE: dict[str, Callable[[Any, Any, Any], tuple[Any, ...]]] = {
    "aclnnClamp": lambda x, out, _: (x, of("scalar", [0]), of("scalar", [1]), out),
    "aclnnClampMin": lambda x, out, _: (x, of("scalar", [0]), out),
    "aclnnTrunc": lambda x, out, _: (x, out),
    "aclnnRound": lambda x, out, _: (x, out),
    "aclnnExp2": lambda x, out, _: (x, out),
    "aclnnGelu": lambda x, out, _: (x, out),
    "aclnnAbs": lambda x, out, _: (x, out),
    "aclnnSWhere": lambda x, out, block: (mask_at(block), x, x, out),
    "aclnnAdd": lambda x, out, _: (x, x, of("scalar", [1]), out),
    "aclnnScatterAdd": lambda x, out, block: (x, 0, places_at(block, 2), apart(block), out),
    "aclnnIndexAdd": lambda x, out, block: (
        *(x, 0, places_at(block), apart(block)),
        *(of("scalar", [1]), out),
    ),
    "aclnnBaddbmm": lambda x, out, block: (
        *(x, apart(block, (1, 4, 4)), apart(block, (1, 4, 4)), of("scalar", [1])),
        *(of("scalar", [1]), out, 0),
    ),
    "aclnnRmsNorm": lambda x, out, block: (  # llama.cpp
        *(x, apart(block, (4,)), 1e-6, out),
        npu.tensor((4, 1), block + 512),
    ),
    "aclnnInplaceAdd": lambda x, out, _: (out, x, of("scalar", [1])),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_output_may_be_exactly_an_input(name: str, block: Any) -> None:
    assert launch(name, *IN_PLACE[name](*tensors(block, name, shift=0), block)) == []


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_output_may_not_lie_on_a_part_of_an_input(name: str, block: Any) -> None:
    assert launch(name, *IN_PLACE[name](*tensors(block, name, shift=32), block)) == [
        "tensors-overlap"
    ]


def test_an_output_may_not_be_another_output(block: Any) -> None:
    x, out = tensors(block, shift=128)
    second = npu.tensor((4, 4), block + 128, INT64)
    assert launch("aclnnSort", x, False, 0, False, out, second) == ["tensors-overlap"]


@pytest.mark.parametrize(
    ("dtype", "distance", "rules"),
    [
        (FLOAT, 4, []),
        (FLOAT, 2, ["address-misaligned"]),
        (BFLOAT16, 2, []),
        (BFLOAT16, 1, ["address-misaligned"]),
        (INT64, 8, []),
        (INT64, 4, ["address-misaligned"]),
    ],
)
def test_an_address_is_a_multiple_of_the_element(
    dtype: int, distance: int, rules: list[str], block: Any
) -> None:
    x, out = npu.tensor((4,), block + distance, dtype), npu.tensor((4,), block + 128, dtype)
    assert launch("aclnnAbs", x, out) == rules


@pytest.mark.parametrize(
    ("elements", "rules"), [(1, []), (2, ["view-out-of-bounds"]), (16, ["view-out-of-bounds"])]
)
def test_a_kernel_that_writes_into_padding_works_and_is_on_record(
    elements: int, rules: list[str], block: Any
) -> None:
    small = npu.device_memory(4)
    x, out = npu.tensor((elements,), block), npu.tensor((elements,), small)
    npu.write(block, b"\x00\x00\x80\xbf" * elements)
    assert launch("aclnnAbs", x, out) == rules
    assert npu.read(small, 4 * elements) == b"\x00\x00\x80\x3f" * elements
    npu.call("aclrtFree", small)


def test_a_view_that_begins_in_a_block_and_ends_behind_it_is_on_record(block: Any) -> None:
    small = npu.device_memory(8)
    x, out = npu.tensor((2,), block), npu.tensor((2,), small + 4)
    assert launch("aclnnAbs", x, out) == ["view-out-of-bounds"]
    npu.call("aclrtFree", small)


def test_a_kernel_that_writes_beyond_the_padding_fails(block: Any) -> None:
    small = npu.device_memory(4)
    x, out = npu.tensor((17,), block), npu.tensor((17,), small)
    size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
    npu.call("aclnnAbsGetWorkspaceSize", x, out, size, executor)
    npu.call("aclnnAbs", NULL, 0, executor[0], NULL)
    assert lib.aclrtSynchronizeStream(NULL) == 507015
    destroy(x, out)
    npu.call("aclrtFree", small)
