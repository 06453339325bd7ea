# SPDX-License-Identifier: Apache-2.0
"""Injected faults: each kind fires, when it is told to, and at nobody else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import without

if TYPE_CHECKING:
    from tests.mock_libs.programs import Programs

OPEN = "import pyaclnn.mock as mock\ncall('aclrtSetDevice', 0)\n"
CLOSE = "call('aclrtResetDevice', 0)\n"


class TestWhen:
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("when", "hits"),
        [
            ("", [1, 2, 3, 4, 5, 6]),
            (":3", [3]),
            (":3+", [3, 4, 5, 6]),
            (":*2", [2, 4, 6]),
            (":p0", []),
            (":p1", [1, 2, 3, 4, 5, 6]),
        ],
    )
    def test_which_calls_are_hit(self, programs: Programs, when: str, hits: list[int]) -> None:
        result = programs.python(f"""
import pyaclnn.mock as mock
with mock.faults('aclrtGetRunMode{when}=507899'):
    mode = ffi.new('aclrtRunMode *')
    print([n for n in range(1, 7) if lib.aclrtGetRunMode(mode) == 507899])
""")
        assert result.stdout == f"{hits}\n", result.stderr

    def test_only_calls_on_a_device_are_hit(self, programs: Programs) -> None:
        result = programs.python(
            """
import pyaclnn.mock as mock
mode = ffi.new('aclrtRunMode *')
with mock.faults('aclrtGetRunMode@1:2=507899'):
    for device in (0, 1, 0, 1):
        call('aclrtSetDevice', device)
        print(lib.aclrtGetRunMode(mode), end=' ')
    print(mock.injected())
for device in (0, 1):
    call('aclrtResetDevice', device); call('aclrtResetDevice', device)
""",
            PYACLNN_MOCK_DEVICES="2",
        )
        fault = "[Fault(text='aclrtGetRunMode@1:2=507899', calls=2, effects=1)]"
        assert (result.stdout, result.stderr) == (f"0 0 0 507899 {fault}\n", "")

    def test_a_share_follows_its_seed(self, programs: Programs) -> None:
        result = programs.python("""
import pyaclnn.mock as mock
mode = ffi.new('aclrtRunMode *')
def run(seed):
    with mock.faults(f'seed={seed}; aclrtGetRunMode:p0.3=507899'):
        return [lib.aclrtGetRunMode(mode) != 0 for _ in range(2000)]
one, again, other = run(1), run(1), run(2)
print(one == again, one == other, 450 < sum(one) < 750)
""")
        assert result.stdout == "True False True\n", result.stderr

    def test_wildcards_and_several_faults(self, programs: Programs) -> None:
        result = programs.python(
            OPEN + "with mock.faults('aclrtCreate*=207008; aclrtMalloc:2=207001'):\n"
            "    p = ffi.new('void **')\n"
            "    print(lib.aclrtCreateStream(p), lib.aclrtCreateEvent(p),\n"
            "          lib.aclrtMalloc(p, 64, 0), lib.aclrtMalloc(ffi.new('void **'), 64, 0))\n"
            "call('aclrtFree', p[0])\n" + CLOSE
        )
        assert (result.stdout, result.stderr) == ("207008 207008 0 207001\n", "")

    def test_the_environment(self, programs: Programs) -> None:
        result = programs.python(
            "print(lib.aclrtSetDevice(0), 'injected' in message())",
            PYACLNN_MOCK_FAULTS="aclrtSetDevice:1=507033",
        )
        assert result.stdout == "507033 True\n", result.stderr

    def test_a_text_in_the_environment_that_is_no_fault(self, programs: Programs) -> None:
        result = programs.python(
            "print(lib.aclrtSetDevice(0), message())", PYACLNN_MOCK_FAULTS="aclrtMalloc=often"
        )
        assert result.stdout.startswith("507033 ")
        assert "'aclrtMalloc=often' is no fault" in result.stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text",
    ["x", "=1", "aclrtMalloc=", "aclrtMalloc=0", "aclrtMalloc=-1", "aclrtMalloc:0=1", "f:p2=1",
     "f:*0=1", "f:=1", "f=async:", "f=async:hang", "f=1x", "memory=much", "seed=", "f:1:2=3",
     "f" * 100 + "=1", "f=1;;g", "f=slow:", "f=slow:fast", "f@=1", "f@x=1", "@1=1", "stuck=0:1",
     "stuck=0:1:8", "stuck=0:1:2:3", "stuck=:1:2", "stuck=0:-1:2"],
)  # fmt: skip
def test_what_is_no_fault_is_refused_and_changes_nothing(programs: Programs, text: str) -> None:
    result = programs.python(f"""
import pyaclnn.mock as mock
mock.set_faults('aclrtGetRunMode=507899')
try:
    mock.set_faults({text!r})
except ValueError as error:
    print('is no fault' in str(error), lib.aclrtGetRunMode(ffi.new('aclrtRunMode *')))
""")
    assert result.stdout == "True 507899\n", result.stderr


class TestEffects:
    def test_after_its_work(self, programs: Programs) -> None:
        result = programs.python(
            OPEN + "made = stream()\nwith mock.faults('aclrtDestroyStream=after:507899'):\n"
            "    print(lib.aclrtDestroyStream(made))\n"
            "print([thing.kind for thing in mock.alive()])\n" + CLOSE
        )
        assert result.stdout == "507899\n['device']\n", result.stderr

    def test_phase_2_that_fails_consumes_its_executor(self, programs: Programs) -> None:
        result = programs.python(
            OPEN + "problem = RmsNormGrad(); executor = problem.check()\n"
            "with mock.faults('aclnnRmsNormGrad=561000'):\n    print(problem.run(executor))\n"
            "print([t.kind for t in mock.alive() if t.kind == 'aclOpExecutor'])\n"
            "problem.close()\n" + CLOSE
        )
        assert (result.stdout, result.stderr) == ("561000\n[]\n", "")

    def test_an_operator_fails_when_it_runs(self, programs: Programs) -> None:
        result = programs.python(
            OPEN + "problem = RmsNormGrad()\n"
            "with mock.faults('aclnnRmsNormGrad:*2=async:507014'):\n"
            "    for _ in range(3):\n"
            "        problem.launch(); print(lib.aclrtSynchronizeStream(NULL))\n"
            "problem.close()\n" + CLOSE
        )
        assert (result.stdout, result.stderr) == ("0\n507014\n0\n", "")

    def test_wrong_numbers(self, programs: Programs) -> None:
        result = programs.python(
            OPEN
            + "problem = RmsNormGrad()\nproblem.launch(); call('aclrtSynchronizeStream', NULL)\n"
            "right = problem.dx\nwith mock.faults('aclnnRmsNormGrad=wrong'):\n"
            "    problem.launch(); call('aclrtSynchronizeStream', NULL)\n"
            "print(right == bytes(64), problem.dx == b'\\x00\\x00\\x80\\x3f' * 16)\n"
            "problem.launch(); call('aclrtSynchronizeStream', NULL); print(problem.dx == right)\n"
            "problem.close()\n" + CLOSE
        )
        assert (result.stdout, result.stderr) == ("True True\nTrue\n", "")

    def test_a_slow_call_does_its_work_later(self, programs: Programs) -> None:
        result = programs.python(
            OPEN + "import time; mode = ffi.new('aclrtRunMode *')\n"
            "with mock.faults('aclrtGetRunMode:2=slow:60000'):\n"
            "    for _ in range(2):\n"
            "        begun = time.monotonic(); status = lib.aclrtGetRunMode(mode)\n"
            "        print(status, time.monotonic() - begun >= 0.06, end=' ')\n"
            "    print(mock.injected()[0].effects)\n" + CLOSE
        )
        assert (result.stdout, result.stderr) == ("0 False 0 True 1\n", "")

    def test_a_stuck_bit_is_one_whatever_is_written(self, programs: Programs) -> None:
        # The first block lies 64 bytes behind the beginning of the memory.
        result = programs.python(
            OPEN
            + """
data, host = device_memory(64), pinned(64)
def read_back():
    call('aclrtMemcpy', host, 64, data, 64, 2)
    return {i: b for i, b in enumerate(bytes(ffi.buffer(host, 64))) if b}
with mock.faults('stuck=0:548:5; stuck=1:549:5; stuck=0:4000:0'):
    for write in (
        lambda: call('aclrtMemset', data, 64, 0, 64),
        lambda: call('aclrtMemsetAsync', data, 64, 0, 64, NULL),
        lambda: call('aclrtMemcpy', data, 64, host, 64, 1),
        lambda: call('aclrtMemcpyAsync', data, 64, host, 64, 1, NULL),
    ):
        ffi.memmove(host, bytes(64), 64)
        write(); call('aclrtSynchronizeStream', NULL)
        print(read_back(), end=' ')
call('aclrtMemset', data, 64, 0, 64)
print(read_back())
call('aclrtFree', data); call('aclrtFreeHost', host)
"""
            + CLOSE
        )
        assert (result.stdout, result.stderr) == ("{36: 32} " * 4 + "{}\n", "")

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("queued", ["problem.launch(own)", "copy(own)"])
    def test_a_hanging_stream(self, programs: Programs, queued: str) -> None:
        result = programs.python(
            OPEN + "problem = RmsNormGrad(); own = stream(); host = pinned(64)\n"
            "def copy(on): call('aclrtMemcpyAsync', problem.memory[0], 64, host, 64, 1, on)\n"
            "with mock.faults('aclnnRmsNormGrad=hang; aclrtMemcpyAsync=hang'):\n"
            f"    {queued}\n"
            "    print(lib.aclrtSynchronizeStreamWithTimeout(own, 20))\n"
            "    print(lib.aclrtSynchronizeStreamWithTimeout(NULL, 20))\n"
            "print(lib.aclrtSynchronizeStreamWithTimeout(own, 20))\n"
            "problem.close(); call('aclrtFreeHost', host); call('aclrtDestroyStream', own)\n"
            + CLOSE
        )
        assert (result.stdout, result.stderr) == ("507046\n0\n0\n", "")

    def test_a_lost_device(self, programs: Programs) -> None:
        result = programs.python(
            OPEN + "problem = RmsNormGrad()\nwith mock.faults('aclrtSynchronizeStream:2=lost'):\n"
            "    for _ in range(2):\n"
            "        problem.launch(); print(lib.aclrtSynchronizeStream(NULL))\n"
            "problem.close()\n" + CLOSE + "call('aclrtSetDevice', 0)\n" + CLOSE
        )
        assert (result.stdout, result.stderr) == ("0\n507010\n", "")

    def test_little_memory(self, programs: Programs) -> None:
        result = programs.python(
            OPEN + "with mock.faults('memory=100000'):\n    p = ffi.new('void **')\n"
            "    print(lib.aclrtMalloc(p, 100000, 0), lib.aclrtMalloc(p, 90000, 0),\n"
            "          lib.aclrtMalloc(ffi.new('void **'), 20000, 0))\n"
            "call('aclrtFree', p[0])\n" + CLOSE
        )
        assert (result.stdout, result.stderr) == ("207001 0 207001\n", "")


class TestWithout:
    PROGRAM = """
import ctypes, sys
folder = sys.argv[1]
for name in ("ascendcl", "nnopbase", "opapi"):
    try:
        library = ctypes.CDLL(f"{folder}/lib{name}.so", mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        print(name)
        continue
    for symbol in ("aclrtMalloc", "aclnnRmsNorm", "aclnnRmsNormGrad", "aclCreateTensor"):
        if hasattr(library, symbol):
            print(symbol)
    if name == "ascendcl":
        print(library.aclrtSetDevice(0), library.aclrtResetDevice(0))
"""

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            ((), "aclCreateTensor aclnnRmsNorm aclnnRmsNormGrad aclrtMalloc"),
            (("aclnnRmsNorm",), "aclCreateTensor aclnnRmsNormGrad aclrtMalloc"),
            (("aclrtMalloc", "aclnnRmsNormGrad"), "aclCreateTensor aclnnRmsNorm"),
            (("opapi",), "aclCreateTensor aclrtMalloc opapi"),
        ],
    )
    def test_what_is_left_out_is_not_there(
        self, programs: Programs, names: tuple[str, ...], expected: str
    ) -> None:
        with without(*names) as folder:
            environment = {"LD_LIBRARY_PATH": str(folder)}
            command = [sys.executable, "-c", self.PROGRAM, str(folder)]
            result = programs.run(command, environment)
        # A look-up in a library looks into those it needs as well, so names come more than once.
        words = result.stdout.split()
        assert " ".join(sorted(set(words) - {"0"})) == expected, result.stderr
        assert words.count("0") == 2
        assert not folder.exists()

    def test_a_name_that_nothing_has(self) -> None:
        with (
            pytest.raises(ValueError, match="aclnnNothing cannot be left out"),
            without("aclnnNothing"),
        ):
            pass
