# SPDX-License-Identifier: Apache-2.0
"""Memory in great numbers and great sizes: the cost of a block follows neither."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from . import npu
from .npu import ffi, lib

if TYPE_CHECKING:
    from .programs import Programs


@pytest.mark.exhaustive
def test_the_time_of_a_million_blocks_is_linear(programs: Programs) -> None:
    program = programs.build("many_blocks.c", "-O2")

    def seconds(blocks: int) -> float:
        begin = _cpu_seconds()
        result = programs.run([program, str(blocks)])
        assert (result.returncode, result.stderr) == (0, "")
        return _cpu_seconds() - begin

    assert seconds(1_000_000) < 2 * 8 * seconds(125_000)  # quadratic time has a factor of 64


def test_pinned_memory_is_not_touched_before_it_is_used(programs: Programs) -> None:
    result = programs.python(
        "import resource\n"
        "call('aclrtSetDevice', 0)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "p = pinned(6 << 30)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
        "call('aclrtFreeHost', p)\n"
    )
    assert int(result.stdout) < 64 << 10, result.stderr  # KiB


@pytest.mark.usefixtures("context")
@given(
    steps=st.lists(
        st.tuples(st.booleans(), st.integers(1, 5000), st.integers(0, 1 << 30)), max_size=60
    )
)
def test_blocks_never_meet_and_the_lowest_gap_that_fits_is_taken(
    steps: list[tuple[bool, int, int]],
) -> None:
    def step_of(size: int) -> int:
        padded = (size + 31) // 32 * 32 + 32
        return (padded + 511) // 512 * 512

    live: dict[int, int] = {}
    base = _lowest()
    out: Any = ffi.new("void **")
    for allocate, size, which in steps:
        if allocate or not live:
            assert lib.aclrtMalloc(out, size, 0) == 0
            address = int(ffi.cast("uintptr_t", out[0]))
            gaps = [base, *(at + step for at, step in live.items())]
            fitting = [at for at in gaps if _is_free(live, at, step_of(size))]
            assert address == min(fitting)
            live[address] = step_of(size)
        else:
            address = sorted(live)[which % len(live)]
            npu.call("aclrtFree", ffi.cast("void *", address))
            del live[address]
    for address in live:
        npu.call("aclrtFree", ffi.cast("void *", address))


def _cpu_seconds() -> float:
    """Return the CPU time of ended children; the load of other programs does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _is_free(live: dict[int, int], start: int, bytes_: int) -> bool:
    return all(start + bytes_ <= at or at + step <= start for at, step in live.items())


def _lowest() -> int:
    first = npu.device_memory(1)
    npu.call("aclrtFree", first)
    return int(ffi.cast("uintptr_t", first))
