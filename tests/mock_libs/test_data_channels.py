# SPDX-License-Identifier: Apache-2.0
"""Channels of tensors, the tensors, and lists of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.releases import RELEASES

from .raw_calls import check

if TYPE_CHECKING:
    from .programs import Programs

ITEMS = """
DEVICE = ffi.new('void **')
expect(0, ('aclInit', N), ('aclrtSetDevice', 0), ('aclrtMalloc', DEVICE, 8, 0))
data = ffi.new('float[6]', [1, 2, 3, 4, 5, 6])
dims = ffi.new('int64_t[2]', [2, 3])

def item(address=data, size=24, dims=dims, count=2, kind=0):
    return raw.acltdtCreateDataItem(kind, dims, count, 0, address, size)

def dataset(*items):
    made = raw.acltdtCreateDataset()
    expect(0, *(('acltdtAddDataItem', made, each) for each in items))
    return made
"""


def test_a_tensor_gives_what_it_was_made_of(programs: Programs) -> None:
    check(
        programs,
        ITEMS
        + """
made, found = item(), ffi.new('int64_t[2]')
assert raw.acltdtGetDataAddrFromItem(made) == data
assert raw.acltdtGetDataSizeFromItem(made) == 24
assert raw.acltdtGetDimNumFromItem(made) == 2
assert (raw.acltdtGetTensorTypeFromItem(made), raw.acltdtGetDataTypeFromItem(made)) == (0, 0)
expect(0, ('acltdtGetDimsFromItem', made, found, 2))
assert list(found) == [2, 3]
expect(100000, ('acltdtGetDimsFromItem', made, found, 1), ('acltdtGetDimsFromItem', made, N, 2))
number, which = ffi.new('size_t *', 7), ffi.new('size_t *', 7)
expect(0, ('acltdtGetSliceInfoFromItem', made, number, which))
assert (number[0], which[0]) == (0, 0)
for wrong in (dict(dims=N), dict(count=0), dict(count=129), dict(kind=1)):
    assert item(**wrong) == N, wrong
end = item(N, 0, N, 0, 1)  # ACL_TENSOR_DATA_END_OF_SEQUENCE
assert raw.acltdtGetTensorTypeFromItem(end) == 1
assert raw.acltdtGetTensorTypeFromItem(N) == raw.acltdtGetDataTypeFromItem(N) == -1
assert raw.acltdtGetDataSizeFromItem(N) == raw.acltdtGetDimNumFromItem(N) == 0
expect(0, ('acltdtDestroyDataItem', made), ('acltdtDestroyDataItem', end))
""",
    )


def test_a_list_has_tensors_of_the_host_or_of_a_device(programs: Programs) -> None:
    check(
        programs,
        ITEMS
        + """
one, two, other = item(), item(), item(DEVICE[0], 8, dims, 2)
made = dataset(one, two)
assert raw.acltdtGetDatasetSize(made) == 2
assert raw.acltdtGetDataItem(made, 1) == two and raw.acltdtGetDataItem(made, 2) == N
assert ffi.string(raw.acltdtGetDatasetName(made)) == b''
expect(100000, ('acltdtAddDataItem', made, other))
assert raw.acltdtGetDatasetSize(N) == 0 and raw.acltdtGetDataItem(N, 0) == N
expect(0, ('acltdtDestroyDataset', made))
""",
    )


@pytest.mark.parametrize("release", RELEASES)
def test_tensors_pass_through_a_channel_in_order(release: str, programs: Programs) -> None:
    check(
        programs,
        ITEMS
        + """
import threading
channel, size = raw.acltdtCreateChannelWithCapacity(0, b'work', 2), ffi.new('size_t *')
of_host = dataset(item(), item(N, 0, N, 0, 1))
expect(0, ('aclrtMemcpy', DEVICE[0], 8, data, 8, raw.ACL_MEMCPY_HOST_TO_DEVICE))
of_device = dataset(item(DEVICE[0], 8, ffi.new('int64_t *', 2), 1))
found = raw.acltdtCreateDataset()
expect(207013, *(('acltdtReceiveTensor', channel, found, limit) for limit in (0, 9)))
expect(0, ('acltdtSendTensor', channel, of_host, 0), ('acltdtSendTensor', channel, of_device, -1))
expect(207014, ('acltdtSendTensor', channel, of_host, 0))
expect(0, ('acltdtQueryChannelSize', channel, size))
assert size[0] == 2
data[0] = 99  # what was sent is a copy
expect(0, ('acltdtReceiveTensor', channel, found, -1))
tensor = raw.acltdtGetDataItem(found, 0)
assert raw.acltdtGetDatasetSize(found) == 2
assert list(ffi.cast('float[6]', raw.acltdtGetDataAddrFromItem(tensor))) == [1, 2, 3, 4, 5, 6]
assert raw.acltdtGetTensorTypeFromItem(raw.acltdtGetDataItem(found, 1)) == 1
expect(200006, ('acltdtAddDataItem', found, tensor))
expect(100000, ('acltdtReceiveTensor', channel, found, 0))  # it is not empty
second = raw.acltdtCreateDataset()
expect(0, ('acltdtReceiveTensor', channel, second, 0))
address = raw.acltdtGetDataAddrFromItem(raw.acltdtGetDataItem(second, 0))
assert list(ffi.cast('float[2]', address)) == [1, 2]
expect(0, ('acltdtDestroyDataset', found), ('acltdtDestroyDataset', second))

third = raw.acltdtCreateDataset()
wait = ('acltdtReceiveTensor', channel, third, 20_000)
waiting = threading.Thread(target=expect, args=(0, wait), daemon=True)
waiting.start()
expect(0, ('acltdtSendTensor', channel, of_device, 0))
waiting.join(300)
assert raw.acltdtGetDatasetSize(third) == 1
expect(0, ('acltdtSendTensor', channel, of_host, 0), ('acltdtCleanChannel', channel))
expect(0, ('acltdtQueryChannelSize', channel, size))
assert size[0] == 0
""",
        release,
    )


def test_a_stopped_or_destroyed_channel_ends_waits(programs: Programs) -> None:
    check(
        programs,
        ITEMS
        + """
import threading
for end, status in (('acltdtStopChannel', 207013), ('acltdtDestroyChannel', 100000)):
    channel = raw.acltdtCreateChannelWithCapacity(0, b'work', 1)
    wait = ('acltdtReceiveTensor', channel, raw.acltdtCreateDataset(), -1)
    waiting = threading.Thread(target=expect, args=(status, wait), daemon=True)
    waiting.start()
    expect(0, (end, channel))
    waiting.join(300)
    assert not waiting.is_alive()
expect(100000, ('acltdtDestroyChannel', channel), ('acltdtCleanChannel', channel))
old = raw.acltdtCreateChannel(0, b'old')
expect(100000, ('acltdtSendTensor', old, dataset(item()), 0))
expect(200006, ('acltdtQueryChannelSize', old, ffi.new('size_t *')))
assert raw.acltdtCreateChannelWithCapacity(0, b'n' * 127, 1) != N
for device, name, capacity in ((0, b'n' * 128, 1), (0, b'n', 0), (99, b'n', 1)):
    assert raw.acltdtCreateChannelWithCapacity(device, name, capacity) == N
dead = ffi.cast('void *', int(ffi.cast('uintptr_t', DEVICE[0])) + (1 << 30))
expect(100000, ('acltdtSendTensor', raw.acltdtCreateChannelWithCapacity(0, b'n', 1),
                dataset(item(dead)), 0))
""",
    )
