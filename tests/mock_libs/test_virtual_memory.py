# SPDX-License-Identifier: Apache-2.0
"""Addresses and physical memory by separate calls: codes, contents, and kernels on both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("context")
PIECE = 2 << 20
HUGE, HUGE_1G = lib.ACL_HBM_MEM_HUGE, lib.ACL_HBM_MEM_HUGE1G


def prop(**changes: Any) -> Any:
    """Properties of physical memory of device 1."""
    made = ffi.new("aclrtPhysicalMemProp *")
    made.memAttr = changes.get("attr", HUGE)
    made.allocationType = changes.get("allocation", 0)
    made.location.type = changes.get("kind", lib.ACL_MEM_LOCATION_TYPE_DEVICE)
    made.location.id = changes.get("device", 1)
    return made


def at(address: Any, distance: int) -> Any:
    return ffi.cast("void *", ffi.cast("char *", address) + distance)


class Space:
    """Reserved addresses, and what a test has mapped to them.

    Args:
        pieces: How many pieces there is room for.
    """

    def __init__(self, pieces: int) -> None:
        self.base = npu.value("aclrtReserveMemAddress", "void *", pieces * PIECE, 0, NULL, 1)
        self.mapped: list[int] = []
        self.handles: list[Any] = []

    def physical(self, size: int = PIECE) -> Any:
        self.handles.append(npu.value("aclrtMallocPhysical", "aclrtDrvMemHandle", size, prop(), 0))
        return self.handles[-1]

    def map(self, place: int, handle: Any, size: int = PIECE, offset: int = 0) -> None:
        npu.call("aclrtMapMem", at(self.base, place), size, offset, handle, 0)
        self.mapped.append(place)

    def unmap(self, place: int) -> None:
        npu.call("aclrtUnmapMem", at(self.base, place))
        self.mapped.remove(place)

    def close(self) -> None:
        for place in [*self.mapped]:
            self.unmap(place)
        for handle in self.handles:
            npu.call("aclrtFreePhysical", handle)
        npu.call("aclrtReleaseMemAddress", self.base)


@pytest.fixture
def space(context: Any) -> Iterator[Space]:  # noqa: ARG001 (its memory needs one)
    """Room for four pieces."""
    made = Space(4)
    yield made
    npu.call("aclrtSynchronizeDevice")
    made.close()


def handle() -> Any:
    return ffi.new("aclrtDrvMemHandle *")


def test_addresses_need_no_context() -> None:
    def reserve() -> None:
        place = npu.value("aclrtReserveMemAddress", "void *", 512, 0, NULL, 1)
        npu.call("aclrtReleaseMemAddress", place)

    npu.in_thread(reserve)


REFUSED: dict[str, tuple[Callable[[Space], int], int]] = {
    "reserving to NULL": (lambda _: lib.aclrtReserveMemAddress(NULL, PIECE, 0, NULL, 0), 100000),
    "reserving nothing": (
        lambda _: lib.aclrtReserveMemAddress(ffi.new("void **"), 0, 0, NULL, 0),
        100000,
    ),
    "more than there is": (
        lambda _: lib.aclrtReserveMemAddress(ffi.new("void **"), 1 << 60, 0, NULL, 0),
        207001,
    ),
    "an odd alignment": (
        lambda _: lib.aclrtReserveMemAddress(ffi.new("void **"), PIECE, 3, NULL, 0),
        107000,
    ),
    "releasing NULL": (lambda _: lib.aclrtReleaseMemAddress(NULL), 100000),
    "releasing the middle": (lambda s: lib.aclrtReleaseMemAddress(at(s.base, PIECE)), 107000),
    "an odd size": (lambda _: lib.aclrtMallocPhysical(handle(), PIECE + 1, prop(), 0), 107000),
    "no size": (lambda _: lib.aclrtMallocPhysical(handle(), 0, prop(), 0), 100000),
    "no properties": (lambda _: lib.aclrtMallocPhysical(handle(), PIECE, NULL, 0), 100000),
    "half a huge page": (
        lambda _: lib.aclrtMallocPhysical(handle(), PIECE, prop(attr=HUGE_1G), 0),
        107000,
    ),
    "memory of the host": (
        lambda _: lib.aclrtMallocPhysical(handle(), PIECE, prop(kind=0), 0),
        207000,
    ),
    "of no device": (
        lambda _: lib.aclrtMallocPhysical(handle(), PIECE, prop(device=9), 0),
        107001,
    ),
    "more than the device has": (
        lambda _: lib.aclrtMallocPhysical(handle(), 65 << 30, prop(), 0),
        207001,
    ),
    "freeing NULL": (lambda _: lib.aclrtFreePhysical(NULL), 100000),
    "freeing no handle": (lambda s: lib.aclrtFreePhysical(s.base), 107017),
    "mapping to NULL": (lambda s: lib.aclrtMapMem(NULL, PIECE, 0, s.physical(), 0), 100000),
    "mapping nothing": (lambda s: lib.aclrtMapMem(s.base, 0, 0, s.physical(), 0), 100000),
    "mapping beyond it": (
        lambda s: lib.aclrtMapMem(s.base, 2 * PIECE, 0, s.physical(), 0),
        107000,
    ),
    "mapping from its end": (
        lambda s: lib.aclrtMapMem(s.base, PIECE, PIECE, s.physical(), 0),
        107000,
    ),
    "mapping to an odd place": (
        lambda s: lib.aclrtMapMem(at(s.base, 4096), PIECE, 0, s.physical(), 0),
        107000,
    ),
    "unmapping NULL": (lambda _: lib.aclrtUnmapMem(NULL), 100000),
    "unmapping what is not": (lambda s: lib.aclrtUnmapMem(s.base), 107000),
    "freeing an address of it": (lambda s: lib.aclrtFree(s.base), 107000),
    "copying from where nothing is": (lambda s: lib.aclrtMemset(s.base, 8, 0, 8), 107000),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, space: Space) -> None:
    ask, code = REFUSED[case]
    assert ask(space) == code, npu.message()


@pytest.mark.parametrize(("attr", "size"), [(HUGE, PIECE), (HUGE_1G, 1 << 30)])
def test_the_granularity(attr: int, size: int) -> None:
    answer = ffi.new("size_t *")
    npu.call("aclrtMemGetAllocationGranularity", prop(attr=attr), 0, answer)
    assert answer[0] == size
    assert lib.aclrtMemGetAllocationGranularity(prop(), 2, answer) == 100000


def test_pieces_are_one_memory_wherever_they_come_from(space: Space) -> None:
    first, spacer, second = (space.physical() for _ in range(3))
    assert spacer
    space.map(PIECE, second)
    space.map(0, first)
    content = bytes(range(256)) * 32
    place = at(space.base, PIECE - len(content) // 2)
    npu.write(place, content)
    assert npu.read(place, len(content)) == content
    assert lib.aclrtMemset(space.base, 2 * PIECE, 0, 2 * PIECE) == 0
    assert lib.aclrtMemset(space.base, 2 * PIECE + 1, 0, 2 * PIECE + 1) == 107000


def test_one_memory_may_be_seen_at_two_places(space: Space) -> None:
    memory = space.physical(2 * PIECE)
    space.map(0, memory, 2 * PIECE)
    space.map(2 * PIECE, memory, PIECE, PIECE)
    npu.write(at(space.base, PIECE), b"seen")
    assert npu.read(at(space.base, 2 * PIECE), 4) == b"seen"


def test_memory_keeps_its_content_and_gives_back_what_it_takes(space: Space) -> None:
    free, total = ffi.new("size_t[3]"), ffi.new("size_t *")
    npu.call("aclrtGetMemInfo", lib.ACL_HBM_MEM, free, total)
    memory = space.physical()
    npu.call("aclrtGetMemInfo", lib.ACL_HBM_MEM, free + 1, total)
    assert free[0] - free[1] == PIECE
    space.map(0, memory)
    assert npu.read(space.base, 4) == b"\xff\x7f" * 2, "fresh memory is garbage"
    npu.write(space.base, b"kept")
    space.unmap(0)
    assert lib.aclrtMemset(space.base, 8, 0, 8) == 107000
    space.map(PIECE, memory)
    assert npu.read(at(space.base, PIECE), 4) == b"kept"
    space.unmap(PIECE)
    npu.call("aclrtFreePhysical", space.handles.pop())
    npu.call("aclrtGetMemInfo", lib.ACL_HBM_MEM, free + 2, total)
    assert free[2] == free[0]


@pytest.mark.parametrize("apart", [False, True])
def test_a_kernel_works_across_the_seam(space: Space, apart: bool) -> None:
    """Every tensor of an operator, and its workspace, lies on two pieces of memory."""
    pieces = [space.physical() for _ in range(3)]
    space.map(0, pieces[0])
    space.map(PIECE, pieces[2 if apart else 1])
    problem = npu.RmsNormGrad()
    expected = b"".join(_results(problem))
    memory, before = problem.memory, PIECE - 64
    for index, made in enumerate(problem.tensors):
        place = at(space.base, before + index * 4096)
        npu.write(place, npu.read(memory[index], problem.bytes))
        npu.call("aclSetRawTensorAddr", made, place)
    problem.memory = [at(space.base, before + index * 4096) for index in range(6)]
    assert b"".join(_results(problem)) == expected
    problem.memory = memory
    problem.close()


def _results(problem: npu.RmsNormGrad) -> Iterator[bytes]:
    problem.launch()
    npu.call("aclrtSynchronizeStream", NULL)
    yield npu.read(problem.memory[4], problem.bytes)
    yield npu.read(problem.memory[5], 32)


@pytest.mark.parametrize(("kernel", "code"), [(True, 507015), (False, 507013)])
def test_work_on_what_was_unmapped_meanwhile_fails(space: Space, kernel: bool, code: int) -> None:
    space.map(0, space.physical())
    problem = npu.RmsNormGrad()
    if kernel:
        npu.call("aclSetRawTensorAddr", problem.tensors[0], space.base)
        problem.launch()
    else:
        npu.call("aclrtMemsetAsync", space.base, 8, 0, 8, NULL)
    space.unmap(0)
    assert lib.aclrtSynchronizeStream(NULL) == code, npu.message()
    problem.close()
