# SPDX-License-Identifier: Apache-2.0
"""Views on device memory: never outside of it."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyaclnn.mock.protocol import mapping
from pyaclnn.mock.protocol.dtypes import (
    DATA_TYPES,
    FORMATS,
    data_type_name,
    format_name,
    numpy_dtype,
)
from pyaclnn.mock.protocol.mapping import MappedRange, adjoining
from pyaclnn.mock.protocol.memory import DeviceMemory, DeviceMemoryError
from pyaclnn.mock.protocol.values import Tensor

from .bench import BASE, tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

SIZE = 4 * mmap.PAGESIZE


class Little(mmap.mmap):
    """Mappings where there is address space for less than the whole memory."""

    def __new__(cls, descriptor: int, length: int, **others: int) -> Self:
        if "offset" not in others:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")
        return super().__new__(cls, descriptor, length, **others)


class Nothing(mmap.mmap):
    """Mappings where there is no address space at all."""

    def __new__(cls, descriptor: int, length: int, **_: int) -> Self:
        raise OSError(errno.ENOMEM, f"Cannot allocate memory: {descriptor}, {length}")


@pytest.fixture(name="memory", scope="module", params=["whole", "by windows"])
def fixture_memory(request: pytest.FixtureRequest) -> Iterator[DeviceMemory]:
    descriptor = os.memfd_create("device-memory")
    os.ftruncate(descriptor, SIZE)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by windows":
            patch.setattr("mmap.mmap", Little)
            patch.setattr(mapping, "_WINDOW", mmap.PAGESIZE)
        memory = DeviceMemory(descriptor, BASE, SIZE)
    os.close(descriptor)
    view = memory.view("all", tensor(SIZE, data_type=DATA_TYPES["UINT8"]))
    view[...] = np.arange(SIZE) % 251
    del view
    yield memory
    memory.close()


INSIDE = [
    ("whole memory", tensor(SIZE // 4)),
    ("last element", tensor(1, offset=SIZE // 4 - 1)),
    ("backwards", tensor(SIZE // 4, strides=(-1,), offset=SIZE // 4 - 1)),
    ("broadcast", tensor(100, 5, strides=(0, 1), offset=SIZE // 4 - 5)),
    ("number", tensor(address=BASE + SIZE - 4)),
    ("one element needs no stride", tensor(1, strides=(2**62,))),
    ("negative offset", tensor(2, address=BASE + 8, offset=-2)),
    ("not aligned", tensor(2, address=BASE + 3)),
]
OUTSIDE = [
    ("one element too many", tensor(SIZE // 4 + 1)),
    ("one byte too far", tensor(1, address=BASE + SIZE - 3)),
    ("before the memory", tensor(1, address=BASE - 1)),
    ("negative offset", tensor(1, offset=-1)),
    ("offset behind", tensor(1, offset=SIZE // 4)),
    ("stride", tensor(2, strides=(SIZE // 4,))),
    ("backwards", tensor(3, strides=(-1,), offset=1)),
    ("beyond 64 bits", tensor(2**62, 2**62, strides=(2**62, 2**62))),
    ("endless broadcast", tensor(2**40, strides=(0,))),
    ("host address", tensor(1, address=0x7FFF_0000_0000)),
    ("NULL", tensor(1, address=0)),
    ("negative dimension", tensor(-2, -2)),
]


@pytest.mark.parametrize("placed", [row[1] for row in INSIDE], ids=[row[0] for row in INSIDE])
def test_a_view_inside_of_the_memory(memory: DeviceMemory, placed: Tensor) -> None:
    view = memory.view("x", placed)

    assert view.shape == placed.dims
    assert view.dtype == np.float32
    start = placed.address - BASE + 4 * placed.offset
    first = (np.arange(start, start + 4) % 251).astype(np.uint8).tobytes()
    assert view[(0,) * placed.rank].tobytes() == first


@pytest.mark.parametrize("placed", [row[1] for row in OUTSIDE], ids=[row[0] for row in OUTSIDE])
def test_a_view_outside_of_the_memory(memory: DeviceMemory, placed: Tensor) -> None:
    with pytest.raises(DeviceMemoryError, match="x"):
        memory.view("x", placed)


def test_a_part_that_cannot_be_mapped_is_an_error_that_names_the_limit() -> None:
    descriptor = os.memfd_create("device-memory")
    os.ftruncate(descriptor, SIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mmap.mmap", Little)
        file = mapping.MappedFile(descriptor, SIZE)
    os.close(descriptor)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mmap.mmap", Nothing)
        with pytest.raises(MemoryError, match="ulimit -v"):
            file.region(0, 8)
    file.close()


def test_windows_do_not_pile_up() -> None:
    descriptor = os.memfd_create("device-memory")
    os.ftruncate(descriptor, 100 * mmap.PAGESIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mmap.mmap", Little)
        patch.setattr(mapping, "_WINDOW", mmap.PAGESIZE)
        file = mapping.MappedFile(descriptor, 100 * mmap.PAGESIZE)
    kept = np.frombuffer(file.region(0, 8)[0], np.uint8, 8)
    before = mappings()
    for page in range(100):
        file.region(page * mmap.PAGESIZE, page * mmap.PAGESIZE + 8)
    assert mappings() <= before + 16
    assert kept[0] == 0
    file.close()
    os.close(descriptor)


def mappings() -> int:
    return Path("/proc/self/maps").read_text(encoding="utf-8").count("device-memory")


def test_an_empty_view_needs_no_memory(memory: DeviceMemory) -> None:
    assert memory.view("x", tensor(3, 0, 2, address=0)).shape == (3, 0, 2)


def test_a_dense_view_ignores_strides_and_keeps_the_offset(memory: DeviceMemory) -> None:
    placed = tensor(2, 3, strides=(1, 2), offset=4)

    dense = memory.dense("x", placed)

    assert dense.flags.c_contiguous
    assert dense.tobytes() == memory.view("y", tensor(6, offset=4)).tobytes()


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(-50, 50)), max_size=4),
    st.integers(-100, 1200),
    st.integers(BASE - 8, BASE + SIZE + 8),
)
def test_a_view_holds_every_element_or_is_refused(
    memory: DeviceMemory, axes: list[tuple[int, int]], offset: int, address: int
) -> None:
    dims = tuple(dim for dim, _ in axes)
    strides = tuple(stride for _, stride in axes)
    placed = Tensor(DATA_TYPES["FLOAT16"], FORMATS["ND"], dims, strides, offset, (), address)
    # Every element's position, walked rather than computed.
    positions = [address - BASE + 2 * offset]
    for dim, stride in axes:
        positions = [at + 2 * stride * step for at in set(positions) for step in range(dim)]
    inside = all(0 <= at <= SIZE - 2 for at in positions)
    try:
        view = memory.view("x", placed)
    except DeviceMemoryError:
        assert not inside or placed.size * 2 > SIZE
    else:
        assert inside
        assert view.shape == dims
        assert len(view.tobytes()) == 2 * placed.size


def test_poison_reaches_both_ends_of_the_memory(memory: DeviceMemory) -> None:
    whole = memory.view("all", tensor(SIZE, data_type=DATA_TYPES["UINT8"]))
    before = whole.copy()

    memory.poison(BASE, SIZE)

    assert whole.tobytes() == bytes.fromhex("fd7f") * (SIZE // 2)
    whole[...] = before
    for address, size in [(BASE - 1, 1), (BASE, SIZE + 1), (BASE + SIZE, 1)]:
        with pytest.raises(DeviceMemoryError, match="workspace"):
            memory.poison(address, size)


def test_poison_fills_to_the_last_byte(memory: DeviceMemory) -> None:
    memory.poison(BASE + 1000, 21)

    filled = memory.view("x", tensor(23, data_type=DATA_TYPES["UINT8"], offset=999)).tobytes()
    assert filled == bytes([999 % 251]) + bytes.fromhex("fd7f") * 10 + b"\xfd" + bytes([1021 % 251])


@pytest.mark.parametrize("word", [0x7FFD, 0x7FFF, 0xFFFE])
@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16", "BF16", "DOUBLE"])
def test_the_poisons_are_nan_in_every_float_type(word: int, kind: str) -> None:
    raw = word.to_bytes(2, "little") * 4

    assert np.all(np.isnan(np.frombuffer(raw, numpy_dtype(DATA_TYPES[kind])).astype(np.float64)))


def test_a_memory_file_that_is_too_short() -> None:
    descriptor = os.memfd_create("device-memory")
    try:
        os.ftruncate(descriptor, SIZE)
        with pytest.raises(ValueError, match="mmap length"):
            DeviceMemory(descriptor, BASE, SIZE + 1)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    "code", [*(DATA_TYPES[name] for name in ("INT4", "STRING", "HIFLOAT8")), 5, 99]
)
def test_types_without_arrays(code: int) -> None:
    with pytest.raises(KeyError, match="no array type"):
        numpy_dtype(code)


@pytest.mark.parametrize(
    ("code", "name", "itemsize"),
    [
        (0, "float32", 4),
        (1, "float16", 2),
        (27, "bfloat16", 2),
        (12, "bool", 1),
        (9, "int64", 8),
        (35, "float8_e5m2", 1),
    ],
)
def test_types_with_arrays(code: int, name: str, itemsize: int) -> None:
    assert (numpy_dtype(code).name, numpy_dtype(code).itemsize) == (name, itemsize)


def test_names_of_types_and_formats() -> None:
    assert (data_type_name(27), data_type_name(5)) == ("BF16", "unknown (5)")
    assert (format_name(29), format_name(-7)) == ("FRACTAL_NZ", "unknown (-7)")


A, B, C = MappedRange(0x1000, 16, 0), MappedRange(0x1010, 16, 64), MappedRange(0x1030, 16, 32)


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (0x1000, 0x1020, (A, B)),
        (0x100F, 0x1011, (A, B)),
        (0x1010, 0x1020, (B,)),
        (0x1000, 0x1021, ()),
        (0x0FFF, 0x1010, ()),
        (0x1018, 0x1038, ()),
        (0x1028, 0x102C, ()),
        (0x1030, 0x1040, (C,)),
    ],
)
def test_mapped_ranges_hold_a_range_only_without_a_gap(
    low: int, high: int, found: tuple[MappedRange, ...]
) -> None:
    assert adjoining((A, B, C), low, high) == found
