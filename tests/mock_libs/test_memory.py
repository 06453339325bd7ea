# SPDX-License-Identifier: Apache-2.0
"""Allocating: device memory, pinned memory, what is in them, what they answer."""

from __future__ import annotations

import errno
import os
import resource
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .programs import Programs

pytestmark = pytest.mark.usefixtures("context")
OUT = ffi.new("void **")
FRESH, FREED, USED = b"\xff\x7f", b"\xfe\xff", b"\xfd\x7f"


def number(address: Any) -> int:
    """The address as a number."""
    return int(ffi.cast("uintptr_t", address))


@pytest.mark.parametrize(
    ("function", "more"),
    [
        ("aclrtMalloc", (0,)),
        ("aclrtMallocAlign32", (0,)),
        ("aclrtMallocCached", (0,)),
        ("aclrtMallocWithCfg", (0, NULL)),
        ("aclrtMallocForTaskScheduler", (0, NULL)),
        ("aclrtMallocHost", ()),
        ("aclrtMallocHostWithCfg", (NULL,)),
    ],
)
def test_every_allocator(function: str, more: tuple[Any, ...]) -> None:
    allocate = getattr(lib, function)
    assert allocate(NULL, 8, *more) == 100000
    assert allocate(OUT, 0, *more) == 100000
    assert npu.in_thread(lambda: allocate(ffi.new("void **"), 8, *more)) == 107002
    assert allocate(OUT, 2**64 - 5, *more) == 207001
    npu.call(function, OUT, 8, *more)
    assert number(OUT[0]) % 64 == 0
    npu.call("aclrtFreeHost" if "Host" in function else "aclrtFree", OUT[0])


STRICT = """
call('aclrtSetDevice', 0)
blocks = [device_memory(size) for size in (1, 64, 100, 4096, 600)]
call('aclrtFree', blocks.pop(1))
blocks.append(device_memory(64))
print({int(ffi.cast('uintptr_t', block)) % 128 for block in blocks})
for block in blocks:
    call('aclrtFree', block)
call('aclrtResetDevice', 0)
"""


def test_strict_addresses_are_multiples_of_64_and_of_no_more(programs: Programs) -> None:
    result = programs.python(STRICT, PYACLNN_MOCK_STRICT="1")
    assert (result.returncode, result.stdout) == (0, "{64}\n"), result.stderr


@pytest.mark.parametrize("size", [1, 31, 32, 33, 64, 65, 4096, 100_000])
def test_addresses_are_multiples_of_512_and_blocks_are_padded(size: int) -> None:
    first, second = npu.device_memory(size), npu.device_memory(size)
    assert number(first) % 512 == number(second) % 512 == 0
    padded = (size + 31) // 32 * 32 + 32
    assert lib.aclrtMemset(first, padded, 0, padded) == 0, "a kernel may touch the padding"
    assert lib.aclrtMemset(first, padded + 1, 0, padded + 1) == 107000
    npu.call("aclrtFree", first)
    npu.call("aclrtFree", second)


@pytest.mark.parametrize(
    ("function", "size", "taken"),
    [("aclrtMalloc", 1, 64), ("aclrtMalloc", 33, 96), ("aclrtMallocAlign32", 33, 64)],
)
def test_what_an_allocation_takes(function: str, size: int, taken: int) -> None:
    free, total = ffi.new("size_t[2]"), ffi.new("size_t *")
    npu.call("aclrtGetMemInfo", lib.ACL_HBM_MEM, free, total)
    address = npu.value(function, "void *", size, 0)
    npu.call("aclrtGetMemInfo", lib.ACL_HBM_MEM, free + 1, total)
    assert free[0] - free[1] == taken
    assert total[0] == min(64 << 30, host_gives())
    npu.call("aclrtFree", address)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("soc", "attribute", "total"),
    [
        ("Ascend910B3", "ACL_HBM_MEM", 64 << 30),
        ("Ascend910B3", "ACL_HBM_MEM_HUGE", 64 << 30),
        ("Ascend910B3", "ACL_DDR_MEM", 0),
        ("Ascend310P3", "ACL_DDR_MEM", 24 << 30),
        ("Ascend310P3", "ACL_HBM_MEM", 24 << 30),
    ],
)
def test_memory_of_a_kind_the_chip_lacks(
    programs: Programs, soc: str, attribute: str, total: int
) -> None:
    result = programs.python(
        "call('aclrtSetDevice', 0); sizes = ffi.new('size_t[2]')\n"
        f"call('aclrtGetMemInfo', lib.{attribute}, sizes, sizes + 1); print(*sizes)",
        PYACLNN_MOCK_SOC=soc,
        PYACLNN_MOCK_MEMORY=str(64 << 10),
    )
    assert result.stdout.split() == [str(total)] * 2, result.stderr


def host_gives() -> int:
    """Return half of what the machine or the container has, in pieces of 64 MiB."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in ("memory.max", "memory/memory.limit_in_bytes"):
        file = Path("/sys/fs/cgroup", path)
        text = file.read_text(encoding="ascii").strip() if file.exists() else "max"
        limits += [int(text)] if text.isdigit() else []
    return min(limits) // 2 >> 26 << 26


def _is_removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


@pytest.fixture
def group() -> Iterator[Path]:
    """Make a control group that may have 1 GiB, of either version; return its list of processes."""
    for above, limit in (("", "memory.max"), ("memory", "memory.limit_in_bytes")):
        folder = Path("/sys/fs/cgroup", above, f"pyaclnn-{os.getpid()}")
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / limit).exists():
                (folder / limit).write_text(str(1 << 30), encoding="ascii")
                yield folder / "cgroup.procs"
                return
        finally:
            # It is busy until its last process, which may be that of a device, has ended.
            assert npu.wait_until(partial(_is_removed, folder))
    pytest.skip("no control group of memory can be made here")


def test_a_device_has_half_of_what_its_control_group_may_have(
    programs: Programs, group: Path
) -> None:
    result = programs.python(
        f"import os; open({str(group)!r}, 'w').write(str(os.getpid()))\n{MORE}"
    )

    total, status, refused = result.stdout.splitlines()[0].split(" ", 2)
    assert (int(total), status) == (1 << 29, "207001")
    assert "half of what this container (control group) may have" in refused


MORE = """
call('aclrtSetDevice', 0); sizes = ffi.new('size_t[2]')
call('aclrtGetMemInfo', lib.ACL_HBM_MEM, sizes, sizes + 1)
print(sizes[1], lib.aclrtMalloc(ffi.new('void **'), sizes[1] + 1, 0), message())
handle, how = ffi.new('aclrtDrvMemHandle *'), ffi.new('aclrtPhysicalMemProp *')
how.allocationType, how.memAttr = lib.ACL_MEM_ALLOCATION_TYPE_PINNED, lib.ACL_HBM_MEM_HUGE
how.location.type = lib.ACL_MEM_LOCATION_TYPE_DEVICE
size = (sizes[1] >> 21) + 1 << 21
print(lib.aclrtMallocPhysical(handle, size, how, 0), message())
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("chosen", "reason"),
    [("100", "PYACLNN_MOCK_MEMORY allows no more"), ("", "PYACLNN_MOCK_MEMORY chooses another")],
)
def test_a_device_has_no_more_memory_than_the_host(
    programs: Programs, chosen: str, reason: str
) -> None:
    result = programs.python(MORE, PYACLNN_MOCK_MEMORY=chosen)

    first, second = result.stdout.splitlines()
    total, status, refused = first.split(" ", 2)
    assert int(total) == (int(chosen) << 20 if chosen else min(64 << 30, host_gives()))
    assert status == "207001"
    assert second.startswith("207001 ")
    if chosen or int(total) < 64 << 30:
        assert reason in refused
        assert reason in second


@pytest.mark.sampled(1)
@pytest.mark.parametrize("chosen", ["63", "8GiB", "-1"])
def test_memory_that_is_no_number_opens_no_device(programs: Programs, chosen: str) -> None:
    result = programs.python("print(lib.aclrtSetDevice(0), message())", PYACLNN_MOCK_MEMORY=chosen)

    assert result.stdout.startswith("507033 "), result.stderr
    assert f"PYACLNN_MOCK_MEMORY is '{chosen}'; it must be a number of MiB" in result.stdout


def test_the_950_does_not_pad(programs: Programs) -> None:
    result = programs.python(
        "call('aclrtSetDevice', 0); memory = device_memory(32)\n"
        "print(lib.aclrtMemset(memory, 33, 0, 33), lib.aclrtMemset(memory, 32, 0, 32))",
        PYACLNN_MOCK_SOC="Ascend950PR_9579",
        PYACLNN_MOCK_CANN="9.1",
    )
    assert result.stdout == "107000 0\n", result.stderr


def test_out_of_memory_leaves_everything_usable() -> None:
    free, total = ffi.new("size_t *"), ffi.new("size_t *")
    npu.call("aclrtGetMemInfo", lib.ACL_HBM_MEM, free, total)
    more = total[0] // 2 + (1 << 20)
    half = npu.device_memory(more)
    assert lib.aclrtMalloc(OUT, more, 0) == 207001
    assert lib.aclrtPeekAtLastError(0) == 207001
    assert "bytes left" in npu.message()
    npu.call("aclrtFree", half)
    npu.call("aclrtFree", npu.device_memory(more))


class TestFree:
    def test_codes(self) -> None:
        memory = npu.device_memory(64)
        host = npu.pinned(64)
        inside = ffi.cast("char *", memory) + 32
        assert lib.aclrtFree(NULL) == 100000
        assert lib.aclrtFree(inside) == 107000
        assert lib.aclrtFree(host) == 107000
        assert lib.aclrtFreeHost(NULL) == 100000
        assert lib.aclrtFreeHost(memory) == 107000
        assert lib.aclrtFree(memory) == lib.aclrtFreeHost(host) == 0
        assert lib.aclrtFree(memory) == 107000
        assert "freed before" in npu.message()
        assert lib.aclrtFreeHost(host) == 107000

    def test_it_does_not_wait_for_streams(self, problem: npu.RmsNormGrad) -> None:
        problem.launch()
        npu.call("aclrtFree", problem.memory.pop())
        status = ffi.new("aclrtStreamStatus *")
        npu.call("aclrtStreamQuery", NULL, status)
        assert status[0] == lib.ACL_STREAM_STATUS_NOT_READY


WRITES: dict[str, Callable[[Any], None]] = {
    "copy": lambda address: npu.write(address, bytes(64)),
    "fill": lambda address: npu.call("aclrtMemset", address, 64, 0, 64),
    "queued fill": lambda address: npu.call("aclrtMemsetAsync", address, 64, 0, 64, NULL),
}


class TestPoison:
    def test_fresh_and_freed_memory(self) -> None:
        memory = npu.device_memory(100)
        assert npu.read(memory, 128) == FRESH * 64
        npu.write(memory, bytes(100))
        npu.call("aclrtFree", memory)
        bigger = npu.value("aclrtMallocAlign32", "void *", 32, 0)
        assert number(bigger) == number(memory), "first fit: the hole is used again"
        assert npu.read(bigger, 32) == FRESH * 16
        npu.call("aclrtFree", bigger)

    def test_a_kernel_that_reads_freed_memory_sees_the_poison(self) -> None:
        memory, host = npu.device_memory(64), npu.pinned(64)
        npu.write(memory, bytes(64))
        npu.call("aclrtMemcpyAsync", host, 64, memory, 64, 2, NULL)
        npu.call("aclrtFree", memory)
        npu.call("aclrtSynchronizeStream", NULL)
        assert bytes(ffi.buffer(host, 64)) == FREED * 32
        npu.call("aclrtFreeHost", host)

    # Each time more blocks than before, so that some lie where none has lain.
    @pytest.mark.parametrize(("count", "limit"), [(4, 1 << 20), (8, resource.RLIM_INFINITY)])
    def test_megabytes_are_poisoned_to_the_last_byte(self, count: int, limit: int) -> None:
        size = 5_000_032
        signals: list[int] = []
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, lambda number, _: signals.append(number))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            blocks = [npu.device_memory(size - 32) for _ in range(count)]
            fresh = [npu.read(block, size) for block in blocks]
            host = npu.pinned(size)
            npu.call("aclrtMemcpyAsync", host, size, blocks[-1], size, 2, NULL)
            for block in blocks:
                npu.call("aclrtFree", block)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, before)
        npu.call("aclrtSynchronizeStream", NULL)
        assert all(bytes(each) == FRESH * (size // 2) for each in fresh)
        assert bytes(ffi.buffer(host, size)) == FREED * (size // 2)
        assert signals == []
        npu.call("aclrtFreeHost", host)

    def test_a_large_block_is_poisoned_at_its_ends_and_here_and_there(self) -> None:
        size = 256 << 20
        memory = npu.device_memory(size)
        at = ffi.cast("char *", memory)
        for offset in (0, 1 << 20, 100 << 20, size - 64):
            assert npu.read(at + offset, 64) == FRESH * 32
        npu.call("aclrtFree", memory)

    def test_the_workspace_is_poisoned_by_its_kernel(self, problem: npu.RmsNormGrad) -> None:
        problem.launch()
        npu.call("aclrtSynchronizeStream", NULL)
        assert npu.read(problem.workspace, 64) == USED * 32

    @pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
    def test_a_workspace_that_was_written_is_poisoned_again(
        self, write: Callable[[Any], None], problem: npu.RmsNormGrad
    ) -> None:
        for _ in range(3):
            problem.launch()
        npu.call("aclrtSynchronizeStream", NULL)
        write(problem.workspace)
        problem.launch()
        npu.call("aclrtSynchronizeStream", NULL)
        assert npu.read(problem.workspace, 64) == USED * 32

    def test_a_workspace_that_another_kernel_has_written_is_poisoned_again(
        self, problem: npu.RmsNormGrad
    ) -> None:
        problem.launch()
        other = npu.RmsNormGrad()
        npu.call("aclSetRawTensorAddr", other.tensors[4], problem.workspace)
        other.launch()
        npu.call("aclrtSynchronizeStream", NULL)
        assert npu.read(problem.workspace, 64) == bytes(64), "dx of ones"
        problem.launch()
        npu.call("aclrtSynchronizeStream", NULL)
        assert npu.read(problem.workspace, 64) == USED * 32
        other.close()


def test_pinned_memory_is_garbage_at_first() -> None:
    host = npu.pinned(40)
    assert bytes(ffi.buffer(host, 40)) == b"\xff" * 40
    npu.call("aclrtFreeHost", host)


def test_where_a_pointer_points() -> None:
    attributes = ffi.new("aclrtPtrAttributes *")
    memory, host, plain = npu.device_memory(64), npu.pinned(64), ffi.new("char[64]")
    for address, expected in (
        (memory, (1, lib.ACL_MEM_LOCATION_TYPE_DEVICE)),
        (host + 63, (0, lib.ACL_MEM_LOCATION_TYPE_HOST)),
        (plain, (0, lib.ACL_MEM_LOCATION_TYPE_UNREGISTERED)),
    ):
        npu.call("aclrtPointerGetAttributes", address, attributes)
        assert (attributes.location.id, attributes.location.type) == expected
    assert lib.aclrtPointerGetAttributes(NULL, attributes) == 100000
    assert lib.aclrtPointerGetAttributes(memory, NULL) == 100000
    npu.call("aclrtFree", memory)
    npu.call("aclrtFreeHost", host)


@pytest.mark.parametrize(
    ("offset", "size", "code"), [(0, 64, 0), (0, 0, 100000), (0, 97, 107000), (1 << 35, 1, 107000)]
)
@pytest.mark.parametrize("function", ["aclrtMemFlush", "aclrtMemInvalidate", "aclrtCmoAsync"])
def test_cache_maintenance_checks_its_range(
    function: str, offset: int, size: int, code: int
) -> None:
    memory = npu.device_memory(64)
    more = (lib.ACL_RT_CMO_TYPE_FLUSH, NULL) if function == "aclrtCmoAsync" else ()
    at = ffi.cast("char *", memory) + offset
    assert getattr(lib, function)(at, size, *more) == code
    assert getattr(lib, function)(NULL, 64, *more) == 100000
    npu.call("aclrtFree", memory)


def test_cache_maintenance_of_no_kind() -> None:
    memory = npu.device_memory(64)
    assert lib.aclrtCmoAsync(memory, 64, ffi.cast("aclrtCmoType", 4), NULL) == 100000
    npu.call("aclrtFree", memory)
