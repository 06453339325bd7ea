# SPDX-License-Identifier: Apache-2.0
"""Functions that the table of the C interface declares, called as by a linked program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.bindgen.mock_gates import read_entry_points
from pyaclnn.facts.interface import functions
from pyaclnn.facts.releases import RELEASES, has
from tests.architecture.c_graph import ROOT
from tests.bindgen.complete import declarations

from .raw_calls import HEAD, check

if TYPE_CHECKING:
    from .programs import Programs

NULLS = [
    line.split("\t")
    for line in (Path(__file__).parent / "nulls.tsv").read_text("utf-8").splitlines()
]
"""A row: a function; the parameters whose NULL answers 100000; those whose 0 does. Sources: CANN:
runtime aclrt_impl, acl_tdt_queue and acl_tdt_channel; ge acl_model."""

# Nothing to copy or to fill needs no memory, so that the function itself looks.
BY_ITSELF = {
    *("aclrtMemcpy", "aclrtMemcpyAsync", "aclrtMemcpyAsyncWithCondition"),
    *("aclrtMemset", "aclrtMemsetAsync"),
}


def test_every_implemented_function_refuses_the_nulls_and_zeros_that_cann_refuses() -> None:
    declared = {each.name: each for each in declarations().functions}
    entry_points = read_entry_points(ROOT / "entry_points.tsv", declarations().functions)
    known = {name: {*nulls.split(), *zeros.split()} for name, nulls, zeros in NULLS}
    written = known.keys() & entry_points.keys()
    assert len(written) > 150
    missing = {name: known[name] - entry_points[name].required for name in sorted(written)}
    accepting = {name for name, those in missing.items() if those}
    # What answers with no status has a value that says that there is nothing.
    assert {name for name in accepting if declared[name].returns == "aclError"} == BY_ITSELF


@pytest.mark.sampled(1)
@pytest.mark.parametrize("release", RELEASES)
def test_raw_has_every_function_of_the_table(release: str, programs: Programs) -> None:
    names = [n for n, row in functions().items() if has(release, row.since, row.until)]
    assert len(names) > 300
    code = f"for name in {names!r}:\n    assert callable(getattr(raw, name)), name"
    check(programs, code, release)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("release", RELEASES)
def test_a_list_of_buffers_keeps_them_in_order(release: str, programs: Programs) -> None:
    check(
        programs,
        """
made = raw.aclmdlCreateDataset()
buffers = [ffi.cast('aclDataBuffer *', 4096 + i) for i in range(9)]
assert all(raw.aclmdlAddDatasetBuffer(made, each) == 0 for each in buffers)
assert raw.aclmdlGetDatasetNumBuffers(made) == 9 and raw.aclmdlGetDatasetNumBuffers(N) == 0
assert [raw.aclmdlGetDatasetBuffer(made, i) for i in range(9)] == buffers
assert raw.aclmdlGetDatasetBuffer(made, 9) == N == raw.aclmdlGetDatasetBuffer(N, 0)
expect(100000, ('aclmdlAddDatasetBuffer', N, buffers[0]), ('aclmdlAddDatasetBuffer', made, N))
expect(100000, ('aclmdlDestroyDataset', N))
expect(0, ('aclmdlDestroyDataset', made))
""",
        release,
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("release", RELEASES)
def test_a_model_cannot_be_loaded_and_its_description_is_empty(
    release: str, programs: Programs
) -> None:
    check(
        programs,
        """
number = pointer('uint32_t')
expect(999001, ('aclmdlLoadFromFile', b'model.om', number))
text = ffi.string(raw.aclGetRecentErrMsg()).decode()
assert 'offline models are compiled for a chip' in text, text
made = raw.aclmdlCreateDesc()
expect(100000, ('aclmdlGetDesc', made, 1), ('aclmdlGetDesc', N, 1))
expect(145003, ('aclmdlUnload', 1))
expect(0, *((f'aclmdlGetNum{what}', made) for what in ('Inputs', 'Outputs')))
expect(0, *((f'aclmdlGet{what}SizeByIndex', made, 0) for what in ('Input', 'Output')))
both = [f'aclmdlGet{w}{f}' for w in ('Input', 'Output') for f in ('Format', 'DataType')]
expect(-1, *((name, made, 0) for name in both))
assert ffi.string(raw.aclmdlGetInputNameByIndex(made, 0)) == b''
dims, index = pointer('aclmdlIODims'), pointer('size_t')
names = ('InputDims', 'InputDimsV2', 'OutputDims', 'CurOutputDims')
expect(100000, *((f'aclmdlGet{name}', made, 0, dims) for name in names))
expect(100000, *((f'aclmdlGet{w}IndexByName', made, b'x', index) for w in ('Input', 'Output')))
expect(0, ('aclmdlDestroyDesc', made))
""",
        release,
    )


def test_an_allocator_is_kept_for_its_stream(programs: Programs) -> None:
    check(
        programs,
        """
expect(0, ('aclrtSetDevice', 0))
stream = pointer('aclrtStream'); expect(0, ('aclrtCreateStream', stream))
made = raw.aclrtAllocatorCreateDesc()
functions = [ffi.cast(kind, 4096 + i) for i, kind in enumerate((
    'aclrtAllocatorAllocFunc', 'aclrtAllocatorFreeFunc', 'aclrtAllocatorAllocAdviseFunc',
    'aclrtAllocatorGetAddrFromBlockFunc'))]
object = ffi.cast('void *', 77)
expect(0, ('aclrtAllocatorSetObjToDesc', made, object))
expect(100000, ('aclrtAllocatorRegister', stream[0], made))
setters = ('AllocFunc', 'FreeFunc', 'AllocAdviseFunc', 'GetAddrFromBlockFunc')
expect(100000, *((f'aclrtAllocatorSet{s}ToDesc', made, N) for s in setters))
expect(0, *((f'aclrtAllocatorSet{s}ToDesc', made, f) for s, f in zip(setters, functions)))
expect(0, ('aclrtAllocatorRegister', stream[0], made), ('aclrtAllocatorDestroyDesc', made))
desc, found = pointer('aclrtAllocatorDesc'), pointer('aclrtAllocator')
places = [ffi.new(ffi.getctype(ffi.typeof(f), '*')) for f in functions]
expect(0, ('aclrtAllocatorGetByStream', stream[0], desc, found, *places))
assert (desc[0], found[0]) == (made, object) and [p[0] for p in places] == functions
expect(0, ('aclrtAllocatorGetByStream', stream[0], desc, N, N, N, N, N))
expect(0, ('aclrtAllocatorUnregister', stream[0]), ('aclrtAllocatorUnregister', stream[0]))
expect(100000, ('aclrtAllocatorGetByStream', stream[0], desc, found, *places))
""",
    )


def test_limits_of_cores_are_kept_by_device_stream_and_thread(programs: Programs) -> None:
    check(
        programs,
        """
value = pointer('uint32_t')
expect(107002, ('aclrtSetDeviceResLimit', 0, 0, 4), ('aclrtGetResInCurrentThread', 0, value))
expect(0, ('aclrtSetDevice', 0))
expect(107001, ('aclrtSetDeviceResLimit', 99, 0, 4))
expect(107000, ('aclrtSetDeviceResLimit', 0, 2, 4), ('aclrtSetDeviceResLimit', 0, 0, 21))
def limits(name, *of):
    found = []
    for kind in (0, 1):
        expect(0, (name, *of, kind, value))
        found.append(value[0])
    return found
assert limits('aclrtGetDeviceResLimit', 0) == [20, 40] == limits('aclrtGetResInCurrentThread')
expect(0, ('aclrtSetDeviceResLimit', 0, 0, 8))
assert limits('aclrtGetDeviceResLimit', 0) == [8, 40] == limits('aclrtGetResInCurrentThread')
stream = pointer('aclrtStream'); expect(0, ('aclrtCreateStream', stream))
assert limits('aclrtGetStreamResLimit', stream[0]) == [8, 40]
expect(0, ('aclrtSetStreamResLimit', stream[0], 1, 12))
assert limits('aclrtGetResInCurrentThread') == [8, 40]
expect(0, ('aclrtUseStreamResInCurrentThread', stream[0]))
assert limits('aclrtGetStreamResLimit', stream[0]) == [8, 12]
assert limits('aclrtGetResInCurrentThread') == [8, 12]
expect(0, ('aclrtUnuseStreamResInCurrentThread', stream[0]), ('aclrtResetDeviceResLimit', 0))
assert limits('aclrtGetResInCurrentThread') == [20, 40]
expect(0, ('aclrtResetStreamResLimit', stream[0]))
assert limits('aclrtGetStreamResLimit', stream[0]) == [20, 40]
expect(100000, ('aclrtGetResInCurrentThread', 0, N), ('aclrtGetStreamResLimit', stream[0], 0, N))
""",
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("release", RELEASES)
def test_profiling_starts_and_stops_and_says_that_it_collects_nothing(
    release: str, programs: Programs
) -> None:
    code = """
expect(100043, ('aclprofFinalize',), ('aclprofStart', ffi.cast('aclprofConfig *', 1)))
expect(100000, ('aclprofInit', N, 3), ('aclprofInit', b'out', 0))
expect(0, ('aclprofInit', b'out', 3))
expect(100042, ('aclprofInit', b'out', 3))
devices = ffi.new('uint32_t[]', [0, 1, 0])
assert raw.aclprofCreateConfig(devices, 3, 0, N, 1) == N  # one of them twice
assert raw.aclprofCreateConfig(N, 1, 0, N, 1) == N == raw.aclprofCreateConfig(devices, 0, 0, N, 1)
assert raw.aclprofCreateConfig(ffi.new('uint32_t[]', [99]), 1, 0, N, 1) == N
made = raw.aclprofCreateConfig(devices, 2, 0, N, raw.ACL_PROF_ACL_API)
assert made != N and raw.aclprofCreateConfig(N, 0, 0, N, raw.ACL_PROF_MSPROFTX) != N
expect(100043, ('aclprofStop', made))
expect(0, ('aclprofStart', made))
expect(100042, ('aclprofStart', made))
expect(0, ('aclprofSetConfig', raw.ACL_PROF_STORAGE_LIMIT, b'200MB', 5))
expect(100000, ('aclprofSetConfig', 99, b'1', 1), ('aclprofSetConfig', 1, N, 1))
stamp, number = raw.aclprofCreateStamp(), pointer('uint32_t')
expect(0, ('aclprofSetStampTraceMessage', stamp, b'x', 1), ('aclprofMark', stamp))
expect(0, ('aclprofPush', stamp), ('aclprofPop',), ('aclprofRangeStart', stamp, number))
expect(0, ('aclprofRangeStop', number[0]), ('aclprofMarkEx', b'x', 1, N))
expect(100000, ('aclprofMark', N), ('aclprofPush', N), ('aclprofRangeStart', N, number))
step = raw.aclprofCreateStepInfo()
expect(0, ('aclprofGetStepTimestamp', step, raw.ACL_STEP_START, N))
raw.aclprofDestroyStepInfo(step); raw.aclprofDestroyStamp(stamp)
expect(0, ('aclprofStop', made), ('aclprofDestroyConfig', made), ('aclprofFinalize',))
expect(100000, ('aclprofDestroyConfig', N))
"""
    result = programs.python(HEAD + code, PYACLNN_MOCK_CANN=release)
    assert result.returncode == 0, result.stderr
    line = "simulated NPU: profiling collects nothing, and writes nothing to out\n"
    assert result.stderr == line


def test_a_device_has_no_hardware_fault(programs: Programs) -> None:
    check(
        programs,
        """
info, count, faults = pointer('aclrtErrorInfo'), pointer('size_t'), pointer('aclrtMemUceInfo')
info.errorType = 3
expect(107001, ('aclrtGetErrorVerbose', 99, info), ('aclrtGetMemUceInfo', 99, faults, 1, count))
expect(0, ('aclrtGetErrorVerbose', 0, info))
assert (info.tryRepair, info.hasDetail, info.errorType) == (0, 0, 0)
expect(107002, ('aclrtRepairError', 0, info), ('aclrtGetMemUceInfo', 0, faults, 1, count))
expect(0, ('aclrtSetDevice', 0))
expect(107000, ('aclrtRepairError', 0, info))  # there is nothing to repair
info.tryRepair = 1
expect(0, ('aclrtRepairError', 0, info))
info.errorType = 3
expect(107000, ('aclrtRepairError', 0, info))
count[0] = 9
expect(0, ('aclrtGetMemUceInfo', 0, faults, 1, count), ('aclrtMemUceRepair', 0, faults, 1))
assert count[0] == 0
expect(100000, ('aclrtGetErrorVerbose', 0, N), ('aclrtRepairError', 0, N))
""",
    )


def test_the_status_of_overflow_is_written_in_the_order_of_the_stream(programs: Programs) -> None:
    check(
        programs,
        """
expect(0, ('aclrtSetDevice', 0))
stream = pointer('aclrtStream'); expect(0, ('aclrtCreateStream', stream))
memory = pointer('void *'); expect(0, ('aclrtMalloc', memory, 64, 0))
host = ffi.new('uint32_t[16]', [7] * 16)
for name, size in (('', 'size_t'), ('Float', 'uint64_t')):
    expect(0, ('aclrtMemcpy', memory[0], 64, host, 64, 1))
    expect(0, (f'aclrtGet{name}OverflowStatus', memory[0], 64, stream[0]))
    expect(0, (f'aclrtReset{name}OverflowStatus', stream[0]), ('aclrtSynchronizeStream', stream[0]))
    read = ffi.new('uint32_t[16]', [7] * 16)
    expect(0, ('aclrtMemcpy', read, 64, memory[0], 64, 2))
    assert list(read) == [0] * 16
expect(0, ('aclrtNpuGetFloatOverFlowStatus', memory[0], 64, 0, stream[0]))
expect(0, ('aclrtNpuClearFloatOverFlowStatus', 0, stream[0]))
expect(107000, ('aclrtGetOverflowStatus', memory[0], 32, stream[0]))
expect(107000, ('aclrtGetOverflowStatus', host, 64, stream[0]))
expect(100000, ('aclrtGetOverflowStatus', N, 64, stream[0]))
expect(0, ('aclmdlRICaptureBegin', stream[0], 2))
expect(107027, ('aclrtGetOverflowStatus', memory[0], 64, stream[0]))
expect(107027, ('aclrtResetOverflowStatus', stream[0]))
""",
    )


def test_streams_are_announced_to_the_functions_that_are_registered(programs: Programs) -> None:
    check(
        programs,
        """
seen = []
kind = 'void (*)(aclrtStream, int, void *)'
def callback(word):
    function = ffi.callback(kind, lambda stream, state, data: seen.append((word, stream, state)))
    return function, ffi.cast('aclrtStreamStateCallback', function)
(one, first), (two, second) = callback('one'), callback('two')
expect(100000, ('aclrtRegStreamStateCallback', N, first, N))
expect(0, ('aclrtRegStreamStateCallback', b'one', first, N))
expect(107000, ('aclrtRegStreamStateCallback', b'one', second, N))
expect(0, ('aclrtRegStreamStateCallback', b'two', second, N))
expect(0, ('aclrtRegStreamStateCallback', b'unknown', N, N))
expect(0, ('aclrtSetDevice', 0))
stream = pointer('aclrtStream'); expect(0, ('aclrtCreateStream', stream))
expect(0, ('aclrtRegStreamStateCallback', b'one', N, N))
expect(0, ('aclrtDestroyStream', stream[0]))
assert seen == [('one', stream[0], 1), ('two', stream[0], 1), ('two', stream[0], 2)], seen
""",
    )


def test_several_functions_hear_of_a_failed_task(programs: Programs) -> None:
    check(
        programs,
        """
import pyaclnn.mock
seen = []
def callback(word):
    made = ffi.callback('void (*)(void *)', lambda info: seen.append(word))
    return made, ffi.cast('aclrtExceptionInfoCallback', made)
(one, first), (two, second), (three, third) = map(callback, ('one', 'two', 'three'))
expect(107000, ('aclrtExceptionInfoCallbackUnregister', first))
expect(0, *(('aclrtExceptionInfoCallbackRegister', f) for f in (first, second, first)))
expect(0, ('aclrtSetExceptionInfoCallback', third))
def fail():
    seen.clear()
    pyaclnn.mock.set_faults('aclrtMemsetAsync=async:507015')
    raw.aclrtMemsetAsync(memory[0], 64, 0, 64, stream[0])
    assert raw.aclrtSynchronizeStream(stream[0]) == 507015
    pyaclnn.mock.set_faults('')
    return sorted(seen)
expect(0, ('aclrtSetDevice', 0))
stream, memory = pointer('aclrtStream'), pointer('void *')
expect(0, ('aclrtCreateStream', stream), ('aclrtMalloc', memory, 64, 0))
assert fail() == ['one', 'three', 'two'], seen
expect(0, ('aclrtExceptionInfoCallbackUnregister', second), ('aclrtSetExceptionInfoCallback', N))
assert fail() == ['one'], seen
""",
    )
