# SPDX-License-Identifier: Apache-2.0
"""Queues of messages, their buffers and routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.releases import RELEASES

from .raw_calls import check

if TYPE_CHECKING:
    from .programs import Programs


@pytest.mark.sampled(1)
@pytest.mark.parametrize("release", RELEASES)
def test_messages_pass_through_a_queue_in_order(release: str, programs: Programs) -> None:
    check(
        programs,
        """
import threading, time
attr, number = raw.acltdtCreateQueueAttr(), pointer('uint32_t')
name = ffi.new('char[]', b'work')
expect(0, ('acltdtSetQueueAttr', attr, 0, 8, ffi.new('char **', name)))
expect(0, ('acltdtSetQueueAttr', attr, 1, 4, ffi.new('uint32_t *', 3)))
wrong = ((1, 8), (2, 4))
expect(100000, *(('acltdtSetQueueAttr', attr, kind, size, number) for kind, size in wrong))
size, depth = pointer('size_t'), pointer('uint32_t')
expect(0, ('acltdtGetQueueAttr', attr, 1, 4, size, depth))
assert (size[0], depth[0]) == (4, 3)
expect(0, ('acltdtCreateQueue', attr, number))
queue = number[0]
expect(0, ('acltdtAttachQueue', queue, 0, number))
assert number[0] == 7
data = ffi.new('char[]', b'message 0')
expect(207013, ('acltdtDequeueData', queue, data, 9, size, N, 0, 0))
began = time.monotonic()
expect(207013, ('acltdtDequeueData', queue, data, 9, size, N, 0, 50))
assert time.monotonic() - began > 0.04
for i in range(3):
    data[8] = b'%d' % i
    expect(0, ('acltdtEnqueueData', queue, data, 9, b'area', 4, 0, 0))
expect(207014, ('acltdtEnqueueData', queue, data, 9, N, 0, 0, 0))
expect(107000, ('acltdtEnqueueData', queue, data, 9, data, 97, 0, 0))
expect(107000, ('acltdtDequeueData', queue, data, 8, size, N, 0, 0))
area = ffi.new('char[8]')
for i in range(3):
    expect(0, ('acltdtDequeueData', queue, data, 10, size, area, 4, 0))
    assert (ffi.buffer(data, size[0])[:], ffi.string(area)) == (b'message %d' % i, b'area')
# A thread that waits gets what another one sends.
buffer, found = pointer('acltdtBuf'), pointer('acltdtBuf')
wait = ('acltdtDequeue', queue, found, 20_000)
waiting = threading.Thread(target=expect, args=(0, wait), daemon=True)
waiting.start()
expect(0, ('acltdtAllocBuf', 16, 0, buffer))
expect(0, ('acltdtEnqueue', queue, buffer[0], 0))
waiting.join(300)
assert found[0] == buffer[0]
expect(0, ('acltdtFreeBuf', buffer[0]), ('acltdtDestroyQueue', queue))
expect(107000, ('acltdtEnqueue', queue, buffer[0], 0), ('acltdtDestroyQueue', queue))
expect(0, ('acltdtDestroyQueueAttr', attr))
""",
        release,
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("family", ["aclrt", "acltdt"])
def test_buffers_share_their_memory_and_form_chains(family: str, programs: Programs) -> None:
    check(
        programs,
        f"family = {family!r}\n"
        """
def call(name, *given): return (family + name, *given)
def allocate(size):
    place = pointer('acltdtBuf')
    order = (place, size) if family == 'aclrt' else (size, 0, place)
    expect(0, call('AllocBuf', *order))
    return place[0]
one, two = allocate(32), allocate(8)
data, size = pointer('void *'), pointer('size_t')
expect(0, call('GetBufData', one, data, size))
assert size[0] == 32
ffi.memmove(data[0], b'shared', 6)
expect(0, call('SetBufDataLen', one, 6), call('GetBufDataLen', one, size))
assert size[0] == 6
expect(107000, call('SetBufDataLen', one, 33))
copy = pointer('acltdtBuf')
expect(0, call('SetBufUserData', one, b'mine', 4, 92), call('CopyBufRef', one, copy))
expect(107000, call('SetBufUserData', one, b'mine', 4, 93))
expect(0, call('FreeBuf', one))
expect(107000, call('FreeBuf', one), call('GetBufData', one, data, size))
expect(0, call('GetBufData', copy[0], data, size), call('GetBufDataLen', copy[0], size))
assert ffi.buffer(data[0], size[0])[:] == b'shared'
area = ffi.new('char[5]')
expect(0, call('GetBufUserData', copy[0], area, 4, 92))
assert ffi.string(area) == b'mine'
number, found = pointer('uint32_t'), pointer('acltdtBuf')
expect(0, call('AppendBufChain', copy[0], two), call('GetBufChainNum', copy[0], number))
expect(0, call('GetBufFromChain', copy[0], 1, found))
assert (number[0], found[0]) == (2, two)
expect(107000, call('AppendBufChain', copy[0], two), call('GetBufFromChain', copy[0], 2, found))
expect(0, call('FreeBuf', copy[0]))
expect(107000, call('FreeBuf', two))  # it went with its chain
""",
    )


def test_routes_of_queues_are_listed(programs: Programs) -> None:
    check(
        programs,
        """
made, route = raw.acltdtCreateQueueRouteList(), raw.acltdtCreateQueueRoute(3, 5)
expect(0, ('acltdtAddQueueRoute', made, route), ('acltdtAddQueueRoute', made, route))
assert raw.acltdtGetQueueRouteNum(made) == 2 and raw.acltdtGetQueueRouteNum(N) == 0
found, size, value = raw.acltdtCreateQueueRoute(0, 0), pointer('size_t'), pointer('uint32_t')
expect(0, ('acltdtGetQueueRoute', made, 1, found))
expect(100000, ('acltdtGetQueueRoute', made, 2, found))
for kind, number in enumerate((3, 5, 0)):
    expect(0, ('acltdtGetQueueRouteParam', found, kind, 4, size, value))
    assert (value[0], size[0]) == (number, 4)
wrong = ((3, 4), (0, 2))
expect(100000, *(('acltdtGetQueueRouteParam', found, *each, size, value) for each in wrong))
expect(0, *(('acltdtDestroyQueueRoute', each) for each in (route, found)))
info = raw.acltdtCreateQueueRouteQueryInfo()
expect(0, ('acltdtSetQueueRouteQueryInfo', info, 1, 4, value))
expect(100000, ('acltdtSetQueueRouteQueryInfo', info, 3, 4, value))
expect(999001, ('acltdtBindQueueRoutes', made), ('acltdtQueryQueueRoutes', info, made))
expect(0, ('acltdtDestroyQueueRouteQueryInfo', info), ('acltdtDestroyQueueRouteList', made))
""",
    )
