# SPDX-License-Identifier: Apache-2.0
"""Devices: setting, resetting, counting, and what the environment says about them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from .programs import Programs

pytestmark = pytest.mark.usefixtures("own_processes")

DEVICES = {"PYACLNN_MOCK_DEVICES": "4"}


def codes(programs: Programs, *calls: str, **environment: str) -> list[int]:
    """Give the results of expressions over `lib`, in a process of its own."""
    lines = "".join(f"codes.append({call})\n" for call in calls)
    result = programs.python(f"codes = []\n{lines}print(codes)", **environment)
    assert result.returncode == 0, result.stderr
    answer: list[int] = json.loads(result.stdout)
    return answer


COUNT = "value('aclrtGetDeviceCount', 'uint32_t')"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param(["SetDevice(0)", "ResetDevice(0)"], [0, 0], id="once"),
        pytest.param(["ResetDevice(0)"], [507007], id="reset without set"),
        pytest.param(
            ["SetDevice(0)", "SetDevice(0)", "ResetDevice(0)", "ResetDevice(0)", "ResetDevice(0)"],
            [0, 0, 0, 0, 507007],
            id="sets are counted",
        ),
        pytest.param(
            ["SetDevice(0)", "SetDevice(0)", "ResetDeviceForce(0)", "ResetDeviceForce(0)"],
            [0, 0, 0, 507007],
            id="force takes all of them",
        ),
        pytest.param(
            ["SetDevice(0)", "ResetDevice(0)", "SetDevice(0)", "ResetDevice(0)"],
            [0, 0, 0, 0],
            id="again after reset",
        ),
        pytest.param(["SetDevice(-1)", "SetDevice(2)"], [107001, 107001], id="no such device"),
        pytest.param(["ResetDevice(9)"], [107001], id="reset of no such device"),
        pytest.param(
            ["SetDevice(0)", "SetDevice(1)", "ResetDevice(0)", "ResetDevice(1)"],
            [0, 0, 0, 0],
            id="two devices",
        ),
    ],
)
def test_set_and_reset(programs: Programs, steps: list[str], expected: list[int]) -> None:
    assert codes(programs, *(f"lib.aclrt{step}" for step in steps)) == expected


def test_the_last_reset_takes_the_current_context_of_every_thread(programs: Programs) -> None:
    result = programs.python("""
import threading
call('aclrtSetDevice', 0)
made, ended = stream(), threading.Event()
held = threading.Event()
codes = []
def other():
    call('aclrtSetDevice', 0)
    held.set(); ended.wait(300)
    codes.append(lib.aclrtGetDevice(ffi.new('int32_t *')))
thread = threading.Thread(target=other); thread.start(); held.wait(300)
call('aclrtResetDevice', 0); call('aclrtResetDevice', 0)
ended.set(); thread.join()
codes.append(lib.aclrtGetDevice(ffi.new('int32_t *')))
call('aclrtSetDevice', 0)
codes.append(lib.aclrtSynchronizeStream(made))
print(codes)
""")
    assert result.stdout == "[107002, 107002, 107017]\n", result.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("0", 1),
        ("3", 1),
        ("0,1,2,3", 4),
        ("1,3", 2),
        ("0,1,7", 2),  # reading stops at an id that does not exist
        ("0,1x,2", 2),  # and at anything that is no number or comma
        ("0 1", 1),
        ("0,", 1),
        ("1,99999999999999999999", 1),
    ],
)
def test_visible_devices(programs: Programs, visible: str, expected: int) -> None:
    assert codes(programs, COUNT, ASCEND_RT_VISIBLE_DEVICES=visible, **DEVICES) == [expected]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("visible", ["", "x", " 0", "-1", "4", "1,0", "0,0", "0,2,1"])
def test_no_visible_device(programs: Programs, visible: str) -> None:
    result = programs.python(
        "print(lib.aclrtGetDeviceCount(ffi.new('uint32_t *')), message())\n"
        "print(lib.aclrtSetDevice(0), lib.aclrtPeekAtLastError(0))",
        ASCEND_RT_VISIBLE_DEVICES=visible,
        **DEVICES,
    )
    count, set_device = result.stdout.splitlines()
    assert count.startswith("207004 ")
    assert f"ASCEND_RT_VISIBLE_DEVICES is '{visible}'" in count
    assert set_device == "107001 107001"


def test_visible_devices_are_read_when_the_library_is_loaded(programs: Programs) -> None:
    change = "__import__('os').environ.__setitem__('ASCEND_RT_VISIBLE_DEVICES', '0') or 0"
    assert codes(programs, change, COUNT, **DEVICES) == [0, 4]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("devices", "said"), [("", 2), ("0", None), ("1", 1), ("16", 16), ("17", None), ("two", None)]
)
def test_number_of_simulated_devices(programs: Programs, devices: str, said: int | None) -> None:
    result = programs.python(
        "count = ffi.new('uint32_t *'); print(lib.aclrtGetDeviceCount(count), count[0], message())",
        PYACLNN_MOCK_DEVICES=devices,
    )
    status, count, text = result.stdout.strip("\n").split(" ", 2)
    assert (status, count) == ("0", str(said)) if said is not None else status == "207004"
    assert (said is None) == ("PYACLNN_MOCK_DEVICES" in text)


def test_an_unknown_chip_is_named(programs: Programs) -> None:
    result = programs.python(
        "print(lib.aclInit(NULL), message()); print(lib.aclrtGetSocName() == NULL)\n"
        "print(lib.aclrtSetDevice(0), message())",
        PYACLNN_MOCK_SOC="Ascend1",
    )
    init, name, set_device = result.stdout.splitlines()
    assert init.startswith("500000 ")
    assert "PYACLNN_MOCK_SOC is 'Ascend1'" in init
    assert name == "True"
    assert set_device.startswith("507033 ")
    assert "PYACLNN_MOCK_SOC is 'Ascend1'" in set_device


def test_changing_the_chip_does_not_change_an_open_device(programs: Programs) -> None:
    result = programs.python("""
import os
call('aclrtSetDevice', 0)
os.environ['PYACLNN_MOCK_SOC'] = 'none'
call('aclrtDestroyStream', stream()); call('aclrtDestroyEvent', event())
call('aclrtFree', device_memory(8))
os.environ['PYACLNN_MOCK_SOC'] = 'Ascend310P3'
call('aclrtSetDevice', 1)  # one kind of chip a process
print(ffi.string(lib.aclrtGetSocName()).decode())
call('aclrtResetDevice', 1); call('aclrtResetDevice', 0)
print(ffi.string(lib.aclrtGetSocName()).decode())
os.environ['PYACLNN_MOCK_SOC'] = 'none'
print(lib.aclrtSetDevice(0))
""")
    assert result.stdout == "Ascend910B3\nAscend310P3\n507033\n", result.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("soc", "cores", "vector_cores", "cache"),
    [
        ("Ascend910B3", 20, 40, 192 << 20),
        ("Ascend310P3", 8, 7, 16 << 20),
        ("Ascend910A", 32, 0, 32 << 20),
    ],
)
def test_chip(programs: Programs, soc: str, cores: int, vector_cores: int, cache: int) -> None:
    result = programs.python(
        "core = ffi.new('int64_t *')\n"
        "print(ffi.string(lib.aclrtGetSocName()).decode())\n"
        "for info in range(3):  # AI cores, vector cores, cache\n"
        "    call('aclGetDeviceCapability', 0, info, core); print(core[0])",
        PYACLNN_MOCK_SOC=soc,
    )
    assert result.stdout.split() == [soc, str(cores), str(vector_cores), str(cache)]


@pytest.mark.usefixtures("context")
class TestQuestions:
    def test_device_of_the_current_context(self) -> None:
        assert npu.value("aclrtGetDevice", "int32_t") == 1

    def test_run_mode_is_host(self) -> None:
        assert npu.value("aclrtGetRunMode", "aclrtRunMode") == lib.ACL_HOST == 1

    def test_utilization_is_unknown(self) -> None:
        info = ffi.new("aclrtUtilizationInfo *")
        assert lib.aclrtGetDeviceUtilizationRate(1, info) == 0
        assert info.cubeUtilization == -1
        info.utilizationExtend = ffi.cast("void *", 1)
        assert lib.aclrtGetDeviceUtilizationRate(1, info) == 100000

    def test_status_is_normal(self) -> None:
        status = ffi.new("aclrtDeviceStatus *")
        assert lib.aclrtQueryDeviceStatus(1, status) == 0
        assert status[0] == lib.ACL_RT_DEVICE_STATUS_NORMAL

    @pytest.mark.parametrize(
        ("function", "arguments", "code"),
        [
            ("aclrtGetDeviceCount", (NULL,), 100000),
            ("aclrtGetDevice", (NULL,), 100000),
            ("aclrtGetRunMode", (NULL,), 100000),
            ("aclrtQueryDeviceStatus", (0, NULL), 100000),
            ("aclGetDeviceCapability", (0, 0, NULL), 100000),
            ("aclrtDeviceEnablePeerAccess", (0, 1), 200006),
            ("aclrtDeviceEnablePeerAccess", (1, 0), 100000),
            ("aclrtDeviceEnablePeerAccess", (7, 0), 107001),
            ("aclrtDeviceEnablePeerAccess", (0, 0), 0),
            ("aclrtDeviceDisablePeerAccess", (0,), 0),
            ("aclrtSetTsDevice", (0,), 0),
            ("aclrtSetTsDevice", (5,), 100000),
            ("aclrtSynchronizeDeviceWithTimeout", (0,), 107000),
            ("aclrtSynchronizeDeviceWithTimeout", (-2,), 107000),
            ("aclrtSynchronizeDeviceWithTimeout", (-1,), 0),
        ],
    )
    def test_code(self, function: str, arguments: tuple[Any, ...], code: int) -> None:
        assert getattr(lib, function)(*arguments) == code


def test_a_forced_reset_waits_for_the_device_and_for_no_thread(programs: Programs) -> None:
    result = programs.python("""
call('aclrtSetDevice', 0)
blocked, free = stream(), stream()
never = event(lib.ACL_EVENT_SYNC, 'aclrtCreateEventWithFlag')
call('aclrtStreamWaitEvent', blocked, never)
copies = [pinned(8), pinned(8)]
for host in copies: ffi.memmove(host, b'--------', 8)
for host, queue in zip(copies, (blocked, free)):
    memory = value('aclrtMalloc', 'void *', 8, 0)
    call('aclrtMemset', memory, 8, 42, 8)
    call('aclrtMemcpyAsync', host, 8, memory, 8, lib.ACL_MEMCPY_DEVICE_TO_HOST, queue)
call('aclrtResetDeviceForce', 0)
print([bytes(ffi.buffer(host, 8)) for host in copies], children())
call('aclrtSetDevice', 0); RmsNormGrad().launch(); call('aclrtSynchronizeStream', NULL)
call('aclrtResetDevice', 0)
""")
    assert result.stdout == "[b'--------', b'********'] []\n", result.stderr
