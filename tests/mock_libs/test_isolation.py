# SPDX-License-Identifier: Apache-2.0
"""The two processes of a device: what reaches the other one, and what happens when one dies."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from .npu import has_ended, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from .programs import Programs

pytestmark = pytest.mark.usefixtures("own_processes")

HANDLES = ["device memory", "context", "stream", "event", "tensor", "array"]


@pytest.fixture(scope="module")
def dereference(programs: Programs) -> Path:
    return programs.build("dereference.c")


class TestDereferencing:
    @pytest.mark.parametrize("access", ["read", "write"])
    @pytest.mark.parametrize("what", HANDLES)
    def test_faults(self, programs: Programs, dereference: Path, what: str, access: str) -> None:
        result = programs.run([dereference, what, access])
        assert result.stdout == "reached\n", result.stderr
        assert -result.returncode in {signal.SIGSEGV, signal.SIGBUS}

    @pytest.mark.parametrize(("what", "access"), [("stream", "nothing"), ("pinned", "write")])
    def test_does_not_fault_otherwise(
        self, programs: Programs, dereference: Path, what: str, access: str
    ) -> None:
        assert programs.run([dereference, what, access]).returncode == 0


class TestDeathOfTheDevice:
    def test_every_call_says_so_and_a_reset_repairs_it(self, programs: Programs) -> None:
        result = programs.python("""
import os, re, signal
call('aclrtSetDevice', 0)
problem = RmsNormGrad(); host = pinned(8); made = event(); wait = stream()
call('aclrtStreamWaitEvent', wait, event(lib.ACL_EVENT_SYNC, 'aclrtCreateEventWithFlag'))
executor = problem.check()
problem.launch(); call('aclrtRecordEvent', made, NULL)
os.kill(children()[0], signal.SIGKILL)
assert wait_until(lambda: has_ended(children()[0]))
size, other = ffi.new('uint64_t *'), ffi.new('aclOpExecutor **')
for name, *arguments in (
    ('SynchronizeStream', NULL), ('SynchronizeDevice',), ('SetDevice', 0),
    ('StreamQuery', NULL, ffi.new('aclrtStreamStatus *')), ('SynchronizeEvent', made),
    ('SynchronizeStream', wait), ('Memcpy', problem.memory[0], 8, b'12345678', 8, 1),
    ('MemcpyAsync', problem.memory[0], 8, host, 8, 1, NULL), ('Malloc', ffi.new('void **'), 8, 0),
    ('CreateStream', ffi.new('void **')), ('CreateEvent', ffi.new('void **')),
):
    code, text = getattr(lib, 'aclrt' + name)(*arguments), message()
    assert code == 507010 and re.search('device 0 (is|was) lost', text), (name, code, text)
assert problem.run(executor) == 361001
assert lib.aclrtGetLastError(0) == 507010
assert lib.aclnnRmsNormGradGetWorkspaceSize(*problem.tensors, size, other) == 361001
assert lib.aclrtGetLastError(0) == 507010
status = ffi.new('aclrtDeviceStatus *'); call('aclrtQueryDeviceStatus', 0, status)
assert status[0] == lib.ACL_RT_DEVICE_STATUS_ABNORMAL
problem.close(); call('aclrtDestroyStream', wait); call('aclrtResetDevice', 0)
assert children() == []
call('aclrtSetDevice', 0); again = RmsNormGrad(); again.launch()
call('aclrtSynchronizeStream', NULL); assert again.dx == bytes(64)
call('aclrtResetDevice', 0); print('fine')
""")
        assert result.stdout == "fine\n", result.stderr

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        ("wait", "code"),
        [("aclrtSynchronizeStream(blocked)", 507010), ("aclrtProcessReport(-1)", 507010)],
    )
    def test_a_thread_that_waits_for_ever_is_woken(
        self, programs: Programs, wait: str, code: int
    ) -> None:
        result = programs.python(f"""
import os, signal, threading
call('aclrtSetDevice', 0); blocked = stream()
call('aclrtStreamWaitEvent', blocked, event(lib.ACL_EVENT_SYNC, 'aclrtCreateEventWithFlag'))
call('aclrtSubscribeReport', threading.get_ident(), blocked)
threading.Timer(0.1, os.kill, (children()[0], signal.SIGKILL)).start()
print(lib.{wait}); call('aclrtResetDevice', 0)
""")
        assert result.stdout == f"{code}\n", result.stderr

    def test_in_the_middle_of_a_kernel(self, programs: Programs) -> None:
        result = programs.holding("""
import os, signal, threading
from held import IN_PHASE_2
call('aclrtSetDevice', 0); problem = RmsNormGrad(rows=IN_PHASE_2); problem.launch()
def end():
    with open(os.environ['HELD'], 'w'):  # the kernel has begun
        os.kill(children()[0], signal.SIGKILL)
        wait_until(lambda: has_ended(children()[0]))
threading.Thread(target=end).start()
print(lib.aclrtSynchronizeStream(NULL), 'lost while' in message())
""")
        assert result.stdout == "507010 True\n", result.stderr

    def test_a_device_process_that_does_not_start(self, programs: Programs) -> None:
        result = programs.python(
            "print(lib.aclrtSetDevice(0), message())", PYACLNN_MOCK_PYTHON="/bin/true"
        )
        assert result.stdout.startswith("507033 ")
        assert "'/bin/true' did not start as a device process" in result.stdout


class TestDeathOfTheHost:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", ""])
    def test_the_device_process_goes_away(self, programs: Programs, end: str) -> None:
        result = programs.python(
            "import os, signal; call('aclrtSetDevice', 0); call('aclrtSetDevice', 1)\n"
            f"print(*children(), flush=True)\n{end}"
        )
        pids = [int(pid) for pid in result.stdout.split()]
        assert len(pids) == 2, result.stderr
        assert _wait_for(pids)

    def test_a_forked_child_does_not_keep_it_alive(self, programs: Programs) -> None:
        result = programs.python(
            "import os, signal, time; call('aclrtSetDevice', 0); device = children()[0]\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    os.closerange(0, 3); time.sleep(30); os._exit(0)\n"
            "print(device, child, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
        )
        device, child = map(int, result.stdout.split())
        try:
            assert _wait_for([device])
        finally:
            os.kill(child, signal.SIGKILL)


def _wait_for(pids: list[int]) -> bool:
    return wait_until(lambda: all(map(has_ended, pids)))


class TestNothingIsLeft:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("leak", [False, True])
    def test_after_the_reset(self, programs: Programs, leak: bool) -> None:
        keep = "call('aclrtCreateContext', ffi.new('void **'), 0)" if leak else ""
        result = programs.python(f"""
before = held(); call('aclInit', NULL); call('aclrtSetDevice', 0)
problem = RmsNormGrad(); problem.launch(); call('aclrtSynchronizeStream', NULL)
assert all(now > then for now, then in zip(held(), before)), 'the count sees an open device'
{keep}
call('aclrtResetDevice', 0); call('aclFinalize'); print(held() == before)
""")
        assert result.stdout == f"{not leak}\n", result.stderr

    def test_after_a_start_that_failed(self, programs: Programs) -> None:
        result = programs.python(
            "before = held(); code = lib.aclrtSetDevice(0)\nprint(code, held() == before)",
            PYACLNN_MOCK_PYTHON="/bin/false",
        )
        assert result.stdout == "507033 True\n", result.stderr


class TestLimits:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        ("limit", "size", "text"),
        [
            ("RLIMIT_AS", 400 << 20, "address space"),
            ("RLIMIT_FSIZE", 1 << 30, "no shared memory"),
        ],
    )
    def test_are_errors_and_no_crash(
        self, programs: Programs, limit: str, size: int, text: str
    ) -> None:
        result = programs.python(
            f"import resource; resource.setrlimit(resource.{limit}, ({size}, {size}))\n"
            "print(lib.aclrtSetDevice(0), message())"
        )
        assert result.stdout.startswith("507033 "), result.stderr
        assert text in result.stdout

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("size", [2 << 30, 20 << 30])
    def test_little_address_space_is_a_device_with_little_memory(
        self, programs: Programs, size: int
    ) -> None:
        result = programs.python(
            f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({size}, {size}))\n"
            "call('aclrtSetDevice', 0); problem = RmsNormGrad(); problem.launch()\n"
            "print(lib.aclrtSynchronizeStream(NULL)); problem.close()\n"
            "free, total = ffi.new('size_t *'), ffi.new('size_t *')\n"
            "call('aclrtGetMemInfo', lib.ACL_HBM_MEM, free, total)\n"
            f"print({size} // 16 < free[0] <= total[0] <= {size} // 8)\n"
            "print(lib.aclrtMalloc(ffi.new('void **'), total[0], 0), message())\n"
            "call('aclrtResetDevice', 0)"
        )
        status, much, refused = result.stdout.splitlines()
        assert (status, much) == ("0", "True"), result.stderr
        assert refused.startswith("207001 ")
        assert "the limit of address space (ulimit -v) allows no more" in refused

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        ("limits", "text"),
        [
            ((), "'/bin/false' did not start"),
            (
                ("DATA",),
                "'/bin/false', which may have no more than 2097152 KiB of data (ulimit -d), did",
            ),
            (
                ("DATA", "AS"),
                "2097152 KiB of address space (ulimit -v) and 2097152 KiB of data (ulimit -d), did",
            ),
        ],
        ids=["none", "one", "two"],
    )
    def test_on_memory_are_named_where_a_process_does_not_start(
        self, programs: Programs, limits: tuple[str, ...], text: str
    ) -> None:
        limited = "".join(
            f"resource.setrlimit(resource.RLIMIT_{name}, (2 << 30, 2 << 30)); " for name in limits
        )
        result = programs.python(
            f"import resource; {limited}print(lib.aclrtSetDevice(0), message())",
            PYACLNN_MOCK_PYTHON="/bin/false",
        )
        assert result.stdout.startswith("507033 "), result.stderr
        assert text in result.stdout

    def test_on_memory_are_named_where_a_process_ends(self, programs: Programs) -> None:
        result = programs.python("""
import os, resource, signal
resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
call('aclrtSetDevice', 0)
os.kill(children()[0], signal.SIGKILL)
assert wait_until(lambda: has_ended(children()[0]))
print(lib.aclrtSynchronizeDevice(), message())
""")
        assert result.stdout.startswith("507010 "), result.stderr
        assert "its process, which may have no more than 2097152 KiB of data" in result.stdout

    def test_too_few_descriptors(self, programs: Programs) -> None:
        result = programs.python("""
import os, resource
highest = max(map(int, os.listdir('/proc/self/fd')))
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
for limit in range(highest + 1, highest + 12):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
    code = lib.aclrtSetDevice(0)
    assert code in (0, 507033), code
    if code == 0:
        call('aclrtResetDevice', 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
call('aclrtSetDevice', 0); call('aclrtResetDevice', 0); print('fine')
""")
        assert result.stdout == "fine\n", result.stderr

    @pytest.mark.exhaustive
    def test_most_of_the_memory_can_be_allocated_without_having_it(
        self, programs: Programs
    ) -> None:
        result = programs.python(
            """
call('aclrtSetDevice', 0)
blocks = [device_memory(15 << 30) for _ in range(4)]
for block in blocks:
    call('aclrtFree', block)
import pathlib
used = [line for line in pathlib.Path('/proc/self/status').read_text().splitlines()
        if line.startswith('RssShmem')]
print(int(used[0].split()[1]) < 1 << 20)
""",
            PYACLNN_MOCK_MEMORY=str(64 << 10),
        )
        assert result.stdout == "True\n", result.stderr
