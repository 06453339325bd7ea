# SPDX-License-Identifier: Apache-2.0
"""Functions of the runtime that are host arithmetic, called under their C names.

Each row is a piece of a program. All of them run in one process for each order of streams.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.releases import NEWEST

from .raw_calls import HEAD

if TYPE_CHECKING:
    from .programs import Programs

_PROGRAM = """
import json, traceback
results = {}
for name, code in %r.items():
    try:
        exec(code, dict(globals()))
        results[name] = ''
    except BaseException:
        results[name] = traceback.format_exc()
expect(0, ('aclrtDestroyStream', stream[0]), ('aclrtResetDevice', 0))
print(json.dumps(results))
"""
_SET = """
expect(0, ('aclrtSetDevice', 0))
stream = pointer('aclrtStream')
expect(0, ('aclrtCreateStream', stream))
def new(kind, function, *arguments):
    made = pointer(kind)
    expect(0, (function, made, *arguments))
    return made[0]
def memory(size):
    return new('void *', 'aclrtMalloc', size, 0)
def text(characters):
    return ffi.new('char[]', characters.encode())
def write(at, values):
    data = ffi.new('int32_t[]', values)
    expect(0, ('aclrtMemcpy', at, 4 * len(values), data, 4 * len(values), 1))
def read(at, count):
    data = ffi.new('int32_t[]', count)
    expect(0, ('aclrtSynchronizeDevice',), ('aclrtMemcpy', data, 4 * count, at, 4 * count, 2))
    return list(data)
"""
ROWS = {
    "numbers of the bus lead to their devices": """
name, found = ffi.new('char[32]'), pointer('int32_t')
expect(0, ('aclrtDeviceGetPCIBusId', 1, name, 13), ('aclrtDeviceGetByPCIBusId', name, found))
assert ffi.string(name) == b'0000:C2:00.0' and found[0] == 1
expect(107000, ('aclrtDeviceGetPCIBusId', 1, name, 12))
expect(107001, ('aclrtDeviceGetPCIBusId', 2, name, 32),
       ('aclrtDeviceGetByPCIBusId', text('0000:C9:00.0'), found))
expect(100000, ('aclrtDeviceGetPCIBusId', 0, N, 32), ('aclrtDeviceGetByPCIBusId', N, found))
""",
    "a limit is what was set": """
value = pointer('size_t')
expect(207000, ('aclrtDeviceGetLimit', 2, value))
expect(0, ('aclrtDeviceSetLimit', 2, 65536), ('aclrtDeviceGetLimit', 2, value))
assert value[0] == 65536
expect(107000, ('aclrtDeviceSetLimit', 5, 1), ('aclrtDeviceGetLimit', 5, value))
expect(100000, ('aclrtDeviceGetLimit', 2, N))
limit = pointer('uint32_t')
expect(0, ('aclrtSetOpExecuteTimeOutWithMs', 1234), ('aclrtGetOpExecuteTimeout', limit))
assert limit[0] == 1234
expect(0, ('aclrtSetOpExecuteTimeOutWithMs', 0))
least, greatest = pointer('int32_t'), pointer('int32_t')
expect(0, ('aclrtDeviceGetStreamPriorityRange', least, greatest),
       ('aclrtDeviceGetStreamPriorityRange', N, N))
assert (least[0], greatest[0]) == (7, 0)
""",
    "capabilities": """
value = pointer('int32_t')
expect(0, ('aclrtGetDeviceCapability', 0, 1, value))
assert value[0] == 0
expect(107000, ('aclrtGetDeviceCapability', 0, 2, value))
expect(107001, ('aclrtGetDeviceCapability', 5, 1, value))
operations, bits = ffi.new('aclrtAtomicOperation[]', [0, 9]), ffi.new('uint32_t[]', [7, 7])
expect(0, ('aclrtDeviceGetHostAtomicCapabilities', bits, operations, 2, 0))
assert list(bits) == [0, 0]
bits[0] = 7
expect(0, ('aclrtDeviceGetP2PAtomicCapabilities', bits, operations, 1, 0, 1))
assert bits[0] == 0
expect(107000, ('aclrtDeviceGetHostAtomicCapabilities', bits, operations, 0, 0),
       ('aclrtDeviceGetP2PAtomicCapabilities', N, operations, 1, 0, 1))
expect(107001, ('aclrtDeviceGetP2PAtomicCapabilities', bits, operations, 1, 0, 7))
reached = pointer('aclrtHostMemMapCapability')
expect(0, ('aclrtHostMemMapCapabilities', 0, 3, reached))
assert reached[0] == 1
expect(0, ('aclrtHostMemMapCapabilities', 0, 5, reached))
assert reached[0] == 0
expect(107000, ('aclrtHostMemMapCapabilities', 0, 10, reached))
expect(0, ('aclrtDeviceL2CacheFlush', N))
expect(107000, ('aclrtDeviceL2CacheFlush', value))
""",
    "chips of one architecture are compatible": """
same = pointer('int32_t')
for name, answer in (('Ascend910B2', 1), ('Ascend310P3', 0)):
    expect(0, ('aclrtCheckArchCompatibility', text(name), same))
    assert same[0] == answer, name
expect(107000, ('aclrtCheckArchCompatibility', text('Ascend1'), same),
       ('aclrtCheckArchCompatibility', N, same),
       ('aclrtCheckArchCompatibility', text('Ascend910B2'), N))
value = ffi.new('char[32]')
expect(0, ('aclplatformGetDeviceInfo', 13, value, 32))
assert ffi.string(value) == ffi.string(raw.aclrtGetSocName())
expect(0, ('aclplatformGetDeviceInfo', 3, value, 32))
assert int(ffi.string(value)) > 0
expect(107000, ('aclplatformGetDeviceInfo', 13, value, 3), ('aclplatformGetDeviceInfo', 13, N, 9))
expect(207000, ('aclplatformGetDeviceInfo', 6, value, 32))
""",
    "one group of all cores": """
count, length, cores = pointer('uint32_t'), pointer('size_t'), pointer('int32_t')
expect(0, ('aclrtGetGroupCount', count), ('aclrtSetGroup', 0))
assert count[0] == 1
expect(107000, ('aclrtSetGroup', 1))
info = raw.aclrtCreateGroupInfo()
expect(0, ('aclrtGetAllGroupInfo', info))
expect(0, ('aclrtGetGroupInfoDetail', info, 0, 0, cores, 4, length))
assert (cores[0] > 0, length[0]) == (True, 4)
expect(0, ('aclrtGetGroupInfoDetail', info, 0, 5, cores, 4, length))
assert cores[0] == 0
expect(100000, ('aclrtGetGroupInfoDetail', info, 1, 0, cores, 4, length),
       ('aclrtGetGroupInfoDetail', info, 0, 0, cores, 2, length),
       ('aclrtGetGroupInfoDetail', info, 0, 6, cores, 4, length), ('aclrtGetAllGroupInfo', N))
expect(207000, ('aclrtGetGroupInfoDetail', info, 0, 3, cores, 4, length))
expect(0, ('aclrtDestroyGroupInfo', info))
expect(100000, ('aclrtDestroyGroupInfo', N))
""",
    "states of devices and streams are announced": """
seen = []
@ffi.callback('void(int32_t, aclrtDeviceState, void *)')
def state(device, which, data):
    seen.append((device, which))
expect(0, ('aclrtRegDeviceStateCallback', text('a'), state, N))
expect(107000, ('aclrtRegDeviceStateCallback', text('a'), state, N))
expect(100000, ('aclrtRegDeviceStateCallback', N, state, N))
expect(0, ('aclrtSetDevice', 1), ('aclrtResetDevice', 1), ('aclrtSetDevice', 0),
       ('aclrtResetDevice', 0))
assert seen == [(1, 0), (1, 1), (1, 2), (1, 3), (0, 0), (0, 1), (0, 2), (0, 3)]
expect(0, ('aclrtRegDeviceStateCallback', text('a'), N, N),
       ('aclrtRegDeviceStateCallback', text('b'), N, N), ('aclrtSetDevice', 0),
       ('aclrtResetDevice', 0))
assert len(seen) == 8
""",
    "aborted tasks are announced and dropped": """
seen = []
@ffi.callback('int32_t(int32_t, aclrtDeviceTaskAbortStage, uint32_t, void *)')
def aborting(device, stage, timeout, data):
    seen.append((device, stage, timeout))
    return failing[0]
failing = [0]
at, event = memory(8), new('aclrtEvent', 'aclrtCreateEventWithFlag', 1)
write(at, [1, 1])
expect(0, ('aclrtSetDeviceTaskAbortCallback', text('a'), aborting, N))
expect(0, ('aclrtStreamWaitEvent', stream[0], event),
       ('aclrtMemsetAsync', at, 8, 0, 8, stream[0]), ('aclrtDeviceTaskAbort', 0, 9))
assert seen == [(0, 0, 9), (0, 1, 9)]
expect(107022, ('aclrtSynchronizeStream', stream[0]))
expect(0, ('aclrtSynchronizeStream', stream[0]))
assert read(at, 2) == [1, 1]
failing[0] = 3
expect(507000, ('aclrtDeviceTaskAbort', 0, 0))
expect(107001, ('aclrtDeviceTaskAbort', 4, 0))
expect(0, ('aclrtSetDeviceTaskAbortCallback', text('a'), N, N), ('aclrtDestroyEvent', event))
expect(100000, ('aclrtSetDeviceTaskAbortCallback', N, aborting, N))
expect(0, ('aclrtFree', at))
""",
    "initialisation is announced": """
seen = []
@ffi.callback(ffi.typeof(raw.aclInitCallbackRegister).args[1])
def begin(text, length, data):
    seen.append(ffi.unpack(text, length))
    return 0
@ffi.callback(ffi.typeof(raw.aclFinalizeCallbackRegister).args[1])
def end(data):
    seen.append(b'end')
    return 0
import tempfile
with tempfile.NamedTemporaryFile() as file:
    file.write(b'{}')
    file.flush()
    expect(0, ('aclInitCallbackRegister', 3, begin, N), ('aclFinalizeCallbackRegister', 3, end, N))
    expect(107000, ('aclInitCallbackRegister', 3, begin, N), ('aclInitCallbackRegister', 3, N, N))
    expect(100000, ('aclInitCallbackRegister', 9, begin, N))
    expect(0, ('aclInit', text(file.name)), ('aclFinalize',))
    assert seen == [b'{}', b'end']
    expect(0, ('aclInitCallbackUnRegister', 3, begin), ('aclFinalizeCallbackUnRegister', 3, end))
    expect(107000, ('aclInitCallbackUnRegister', 3, begin),
           ('aclFinalizeCallbackUnRegister', 3, end))
    expect(0, ('aclInit', text(file.name)), ('aclFinalize',))
    assert len(seen) == 2
""",
    "dumps and traces write nothing": """
import ctypes
from pyaclnn.mock import libdir
acl = ctypes.CDLL(f'{libdir()}/libascendcl.so')
assert (acl.aclmdlSetDump(b'/dev/null'), acl.aclmdlFinalizeDump()) == (100045, 100045)
assert (acl.aclmdlInitDump(), acl.aclmdlInitDump()) == (0, 100044)
found = [acl.aclmdlSetDump(path) for path in (b'/dev/null', b'/nowhere', None)]
assert found == [0, 100003, 100000] and acl.aclmdlFinalizeDump() == 0
expect(0, ('aclrtProfTrace', text('abc'), 3, stream[0]))
expect(107000, ('aclrtProfTrace', text('abc'), 19, stream[0]))
expect(100000, ('aclrtProfTrace', N, 3, stream[0]), ('aclrtCacheLastTaskOpInfo', text('a'), 0))
expect(0, ('aclrtCacheLastTaskOpInfo', text('a'), 1),
       ('aclrtCacheLastTaskExtendInfo', text('a'), 1))
expect(107000, ('aclrtCacheLastTaskExtendInfo', N, 1))
""",
    "the last task of a thread has a number": """
number = pointer('uint32_t')
at = memory(4)
expect(0, ('aclrtMemsetAsync', at, 4, 0, 4, stream[0]), ('aclrtGetThreadLastTaskId', number))
first = number[0]
expect(0, ('aclrtMemsetAsync', at, 4, 0, 4, stream[0]), ('aclrtGetThreadLastTaskId', number))
assert number[0] == first + 1
expect(100000, ('aclrtGetThreadLastTaskId', N))
expect(0, ('aclrtSynchronizeStream', stream[0]), ('aclrtFree', at))
""",
    "events with flags": """
other, event = new('aclrtStream', 'aclrtCreateStream'), new('aclrtEvent', 'aclrtCreateEvent')
at = memory(4)
expect(0, ('aclrtMemsetAsync', at, 4, 1, 4, stream[0]),
       ('aclrtRecordEventWithFlag', event, stream[0], 0),
       ('aclrtStreamWaitEventWithFlag', other, event, 5, 0),
       ('aclrtMemsetAsync', at, 4, 2, 4, other), ('aclrtSynchronizeStream', other))
assert read(at, 1) == [0x02020202]
expect(100000, ('aclrtRecordEventWithFlag', event, stream[0], 2),
       ('aclrtRecordEventWithFlag', N, stream[0], 0),
       ('aclrtStreamWaitEventWithFlag', other, event, 1, 1),
       ('aclrtStreamWaitEventWithFlag', other, N, 0, 0),
       ('aclrtStreamWaitEventWithFlag', other, event, 0, 2))
# In a capture, an external record is made by each replay, and a wait for it joins nothing.
model = pointer('aclmdlRI')
expect(0, ('aclmdlRICaptureBegin', stream[0], 2), ('aclrtMemsetAsync', at, 4, 3, 4, stream[0]),
       ('aclrtRecordEventWithFlag', event, stream[0], 1),
       ('aclmdlRICaptureEnd', stream[0], model))
expect(0, ('aclmdlRIExecuteAsync', model[0], stream[0]), ('aclrtSynchronizeEvent', event))
assert read(at, 1) == [0x03030303]
expect(0, ('aclmdlRIDestroy', model[0]), ('aclrtDestroyEvent', event),
       ('aclrtDestroyStream', other), ('aclrtFree', at))
""",
    "a thread takes host functions": """
import threading
seen = []
@ffi.callback('void(void *)')
def work(data):
    seen.append(threading.get_ident())
me = threading.get_ident()
expect(0, ('aclrtSubscribeHostFunc', me, stream[0]), ('aclrtLaunchHostFunc', stream[0], work, N),
       ('aclrtProcessHostFunc', 5000), ('aclrtSynchronizeStream', stream[0]))
assert seen == [me]
expect(0, ('aclrtUnSubscribeHostFunc', me, stream[0]), ('aclrtLaunchHostFunc', stream[0], work, N),
       ('aclrtSynchronizeStream', stream[0]))
assert len(seen) == 2 and seen[1] != me
expect(107000, ('aclrtSubscribeHostFunc', me, N), ('aclrtUnSubscribeHostFunc', me, N))
expect(100000, ('aclrtProcessHostFunc', 0))
""",
}
MODES = [
    "deferred",
    *(pytest.param(m, marks=pytest.mark.exhaustive) for m in ("eager", "shuffled:5")),
]


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest, programs: Programs) -> dict[str, str]:
    done = programs.python(
        HEAD + _SET + _PROGRAM % ROWS,
        PYACLNN_MOCK_CANN=NEWEST,
        PYACLNN_MOCK_DEVICES="2",
        PYACLNN_MOCK_MODE=request.param,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("results", MODES, indirect=True)
@pytest.mark.parametrize("row", ROWS)
def test_it_works(row: str, results: dict[str, str]) -> None:
    assert not results[row], results[row]
