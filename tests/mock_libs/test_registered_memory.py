# SPDX-License-Identifier: Apache-2.0
"""Host memory that a program registers for the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.releases import NEWEST

from .raw_calls import HEAD, check

if TYPE_CHECKING:
    from .programs import Programs

PAGES = """
import mmap, numpy as np
PAGE = 4096
expect(0, ('aclInit', N), ('aclrtSetDevice', 0))
memory = mmap.mmap(-1, 4 * PAGE)
array = np.frombuffer(memory, np.float32)
host = ffi.from_buffer(memory)
device, stream = pointer('void *'), pointer('aclrtStream')
expect(0, ('aclrtCreateStream', stream))
"""


def test_kernels_read_and_write_registered_memory_without_a_copy(programs: Programs) -> None:
    check(
        programs,
        PAGES
        + """
array[:] = np.arange(len(array))
expect(0, ('aclrtHostRegister', host, 4 * PAGE, 0, device))
assert array[-1] == len(array) - 1  # it keeps its content

def tensor(address, count):
    dims = ffi.new('int64_t[]', [count])
    return raw.aclCreateTensor(dims, 1, 0, N, 0, 2, dims, 1, address)

given, result = tensor(device[0], 8), tensor(device[0] + PAGE, 8)
size, executor = pointer('uint64_t'), pointer('aclOpExecutor *')
expect(0, ('aclnnNegGetWorkspaceSize', given, result, size, executor))
expect(0, ('aclnnNeg', N, 0, executor[0], stream[0]), ('aclrtSynchronizeStream', stream[0]))
assert array[1024:1032].tolist() == [-0.0, -1, -2, -3, -4, -5, -6, -7]
array[0] = 99  # what the host writes later, the device reads
back = np.zeros(2, np.float32)
expect(0, ('aclrtMemcpy', ffi.from_buffer(back), 8, device[0], 8, raw.ACL_MEMCPY_DEVICE_TO_HOST))
assert back.tolist() == [99, 1]
expect(0, ('aclrtHostUnregister', host))
assert array[0] == 99 and array[1025] == -1
expect(0, ('aclrtHostRegister', host, 4 * PAGE, 0, device), ('aclrtHostUnregister', host))
expect(507911, ('aclrtHostUnregister', host))
""",
    )


def test_registered_memory_is_pinned(programs: Programs) -> None:
    check(
        programs,
        PAGES
        + """
block = pointer('void *')
expect(0, ('aclrtMalloc', block, PAGE, 0))
kind = raw.ACL_MEMCPY_HOST_TO_DEVICE
expect(0, ('aclrtHostRegisterV2', host, 2 * PAGE, raw.ACL_HOST_REG_PINNED))
array[5] = 7
expect(0, ('aclrtMemcpyAsync', block[0], PAGE, host, PAGE, kind, stream[0]))
array[5] = 8  # an asynchronous copy reads pinned memory when it runs
expect(0, ('aclrtSynchronizeStream', stream[0]))
back = np.zeros(6, np.float32)
expect(0, ('aclrtMemcpy', ffi.from_buffer(back), 24, block[0], 24, raw.ACL_MEMCPY_DEVICE_TO_HOST))
assert back[5] == 8
expect(107000, ('aclrtHostGetDevicePointer', host, device, 0))  # it is not mapped
expect(507910, ('aclrtHostRegisterV2', host + PAGE, PAGE, raw.ACL_HOST_REG_MAPPED))
expect(0, ('aclrtHostRegisterV2', host + 2 * PAGE, PAGE, raw.ACL_HOST_REG_MAPPED))
expect(0, ('aclrtHostGetDevicePointer', host + 2 * PAGE + 8, device, 0))
expect(100000, ('aclrtHostGetDevicePointer', host + 2 * PAGE, device, 1))
""",
    )


def test_only_whole_live_pages_of_the_host_are_registered(programs: Programs) -> None:
    check(
        programs,
        PAGES
        + """
MAPPED = raw.ACL_HOST_REG_MAPPED
expect(100000, ('aclrtHostRegister', N, PAGE, 0, device), ('aclrtHostRegister', host, 0, 0, device))
expect(107000, *(('aclrtHostRegisterV2', host, PAGE, flag) for flag in (0, 1, 2 | 16)))
expect(207000, ('aclrtHostRegister', host, PAGE, 2, device))
block = pointer('void *')
expect(0, ('aclrtMalloc', block, PAGE, 0))
absent = ffi.cast('void *', PAGE)
for address in (host + 8, block[0], absent):
    expect(107000, ('aclrtHostRegisterV2', address, PAGE, MAPPED))
constant = mmap.mmap(-1, PAGE, prot=mmap.PROT_READ)
place = ffi.from_buffer(constant)
expect(107000, ('aclrtHostRegister', place, PAGE, 0, device))  # the device could not write it
expect(999001, ('aclrtHostRegisterV2', host, PAGE, raw.ACL_HOST_REG_IOMEMORY))
""",
    )


def test_a_device_that_closes_leaves_the_memory_to_the_host(programs: Programs) -> None:
    check(
        programs,
        PAGES
        + """
array[3] = 3
expect(0, ('aclrtHostRegister', host, 4 * PAGE, 0, device))
expect(0, ('aclrtResetDevice', 0))
assert array[3] == 3
array[3] = 4
expect(0, ('aclrtSetDevice', 0))
expect(507911, ('aclrtHostUnregister', host))
expect(0, ('aclrtHostRegister', host, 4 * PAGE, 0, device))
assert array[3] == 4
""",
    )


def test_a_device_that_writes_what_it_may_only_read_is_recorded(programs: Programs) -> None:
    result = programs.python(
        HEAD
        + PAGES
        + """
expect(0, ('aclrtHostRegisterV2', host, PAGE, raw.ACL_HOST_REG_READONLY))
expect(0, ('aclrtHostGetDevicePointer', host, device, 0))
expect(0, ('aclrtMemsetAsync', device[0], 64, 1, 64, stream[0]))
raw.aclrtSynchronizeStream(stream[0])
""",
        PYACLNN_MOCK_CANN=NEWEST,
    )
    assert result.returncode == 0, result.stderr
    assert "[access-denied]" in result.stderr
    assert "device 0 writes it, which it may only read" in result.stderr
