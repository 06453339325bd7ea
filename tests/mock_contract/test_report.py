# SPDX-License-Identifier: Apache-2.0
"""Reports of violations: stderr, a file, Python, and the end of the process."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mock_libs.programs import Programs

TWICE = """
call('aclrtSetDevice', 0)
import pyaclnn.mock
made = stream(); call('aclrtDestroyStream', made)
code = lib.aclrtDestroyStream(made)
"""
END = "call('aclrtResetDevice', 0)\n"


class TestOnStderr:
    def test_says_what_where_and_what_to_do(self, programs: Programs) -> None:
        result = programs.python(TWICE + END)
        lines = [line.strip() for line in result.stderr.splitlines()]
        assert lines[0] == "simulated NPU: [destroyed-twice] an object is destroyed a second time"
        assert lines[1].startswith("in aclrtDestroyStream, called from ")
        assert lines[2] == "this stream was destroyed before"
        assert lines[3].startswith("stream 0xac81")
        assert lines[4].startswith("created in aclrtCreateStream, called from ")
        assert lines[5].startswith("destroyed in aclrtDestroyStream, called from ")
        assert lines[6].startswith("do this: ")
        assert len(lines) == 7

    def test_a_loop_does_not_flood_it(self, programs: Programs) -> None:
        result = programs.python(
            TWICE + "for _ in range(100): lib.aclrtDestroyStream(made)\n"
            "print(len(pyaclnn.mock.violations()))\n" + END
        )
        assert result.stdout == "101\n"
        assert result.stderr.count("[destroyed-twice]") == 10
        assert "more of this rule are not shown" in result.stderr


class TestInAFile:
    def test_one_line_of_json_for_each(self, programs: Programs, report: Path) -> None:
        code = TWICE + "lib.aclrtFree(ffi.cast('void *', 64))\n" + END
        programs.python(code, PYACLNN_MOCK_REPORT=str(report))
        first, second = map(json.loads, report.read_text(encoding="utf-8").splitlines())
        assert (first["rule"], second["rule"]) == ("destroyed-twice", "memory-not-allocated")
        assert first["function"] == "aclrtDestroyStream"
        assert first["created"].startswith("aclrtCreateStream, called from ")
        assert first["destroyed"].startswith("aclrtDestroyStream, called from ")
        assert first["handle"].startswith("0xac81")

    def test_a_file_that_cannot_be_written_harms_nobody(self, programs: Programs) -> None:
        result = programs.python(
            TWICE + "print(code)\n" + END, PYACLNN_MOCK_REPORT="/nowhere/report"
        )
        assert result.stdout == "107017\n"
        assert result.stderr.count("cannot write /nowhere/report: No such file") == 1


class TestFromPython:
    def test_violations(self, programs: Programs) -> None:
        result = programs.python(
            TWICE + "found, = pyaclnn.mock.violations()\n"
            "print(found.rule, found.function, found.created is not None)\n"
            "pyaclnn.mock.clear_violations(); print(pyaclnn.mock.violations())\n" + END
        )
        assert result.stdout == "destroyed-twice aclrtDestroyStream True\n[]\n", result.stderr

    def test_without_the_simulated_npu_there_are_none(self, programs: Programs) -> None:
        code = "import pyaclnn.mock as m; print(m.violations(), m.alive(), sum(m.calls().values()))"
        result = programs.run([sys.executable, "-c", code])
        assert result.stdout == "[] [] 0\n", result.stderr

    def test_alive(self, programs: Programs) -> None:
        result = programs.python("""
import pyaclnn.mock
call('aclrtSetDevice', 0); before = pyaclnn.mock.alive()
made = stream(); memory = device_memory(64); host = pinned(8); view = tensor((2,), memory)
print(*(f'{thing.kind}:{thing.function}' for thing in pyaclnn.mock.alive()))
call('aclDestroyTensor', view); call('aclrtFree', memory); call('aclrtFreeHost', host)
call('aclrtDestroyStream', made); print(pyaclnn.mock.alive() == before)
call('aclrtResetDevice', 0); print(pyaclnn.mock.alive())
""")
        assert result.stdout == (
            "stream:aclrtCreateStream aclTensor:aclCreateTensor pinned_memory:aclrtMallocHost "
            "device:aclrtSetDevice device_memory:aclrtMalloc\nTrue\n[]\n"
        ), result.stderr


class TestWhatIsLeftAlive:
    LEAKS = "call('aclInit', NULL); call('aclrtSetDevice', 0)\nfor _ in range({}): stream()\n"
    END = "call('aclFinalize')\n"

    def test_a_single_thing_is_shown(self, programs: Programs) -> None:
        result = programs.python(self.LEAKS.format(0) + self.END)
        assert result.stderr.count("[alive-at-finalize]") == 1, result.stderr
        assert "device 0 was not reset" in result.stderr

    def test_many_are_one_line_and_each_in_the_report(
        self, programs: Programs, report: Path
    ) -> None:
        code = self.LEAKS.format(40) + self.END
        result = programs.python(code, PYACLNN_MOCK_REPORT=str(report))
        assert result.stderr == (
            "simulated NPU: [alive-at-finalize] something is still alive at aclFinalize: "
            "40 stream, 1 device (PYACLNN_MOCK_REPORT=FILE records each of them)\n"
        )
        assert len(report.read_text(encoding="utf-8").splitlines()) == 41

    def test_a_strict_program_stops_at_the_first(self, programs: Programs) -> None:
        result = programs.python(self.LEAKS.format(40) + self.END, PYACLNN_MOCK_STRICT="1")
        assert -result.returncode == signal.SIGABRT
        assert "created in aclrtCreateStream" in result.stderr


class TestStrict:
    def test_stops_at_the_first_with_a_backtrace(self, programs: Programs) -> None:
        result = programs.python(TWICE + "print('went on')", PYACLNN_MOCK_STRICT="1")
        assert -result.returncode == signal.SIGABRT
        assert result.stdout == ""
        assert "native backtrace:" in result.stderr
        assert "libascendcl.so" in result.stderr

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("value", ["", "0"])
    def test_is_off_by_default(self, programs: Programs, value: str) -> None:
        result = programs.python(TWICE + "print(code)\n" + END, PYACLNN_MOCK_STRICT=value)
        assert (result.returncode, result.stdout) == (0, "107017\n")


class TestAllowed:
    @pytest.mark.parametrize("names", ["destroyed-twice", "alive-at-exit,destroyed-twice,"])
    def test_a_rule_by_its_name_leaves_no_trace(self, programs: Programs, names: str) -> None:
        result = programs.python(
            TWICE + "print(code, pyaclnn.mock.violations())\n" + END,
            PYACLNN_MOCK_ALLOW=names,
            PYACLNN_MOCK_STRICT="1",
        )
        assert (result.returncode, result.stdout) == (0, "107017 []\n"), result.stderr
        assert result.stderr == ""

    def test_the_others_hold(self, programs: Programs) -> None:
        result = programs.python(TWICE, PYACLNN_MOCK_ALLOW="alive-at-exit", PYACLNN_MOCK_STRICT="1")
        assert -result.returncode == signal.SIGABRT
        assert "[destroyed-twice]" in result.stderr

    def test_a_name_that_no_rule_has_is_told(self, programs: Programs) -> None:
        result = programs.python("pass", PYACLNN_MOCK_ALLOW="alive-at-exit,destroyed-twic")
        assert result.stderr == (
            "simulated NPU: PYACLNN_MOCK_ALLOW: there is no rule 'destroyed-twic'; "
            "`pyaclnn mock rules` lists them\n"
        )


class TestHistory:
    def test_of_a_handle_survives_a_thousand_others(self, programs: Programs) -> None:
        result = programs.python(
            TWICE + "pyaclnn.mock.clear_violations()\n"
            "for _ in range(1000): call('aclrtDestroyStream', stream())\n"
            "lib.aclrtDestroyStream(made); found, = pyaclnn.mock.violations()\n"
            "print(found.created is not None, found.destroyed is not None)\n" + END
        )
        assert result.stdout == "True True\n", result.stderr

    def test_a_forked_child_is_not_blamed_for_what_its_parent_holds(
        self, programs: Programs, report: Path
    ) -> None:
        result = programs.python(
            "import os, sys\ncall('aclrtSetDevice', 0); made = stream()\n"
            "child = os.fork()\nif child == 0: sys.exit(0)\n"
            "os.waitpid(child, 0); call('aclrtDestroyStream', made)\n" + END,
            PYACLNN_MOCK_REPORT=str(report),
        )
        assert (result.returncode, result.stderr) == (0, "")
        assert not report.exists()


class TestTexts:
    def test_a_text_of_the_device_keeps_its_own_code_and_gets_no_second(
        self, programs: Programs
    ) -> None:
        result = programs.python("""
import re
call('aclrtSetDevice', 0); problem = RmsNormGrad()
wrong = tensor((3, 3), problem.memory[0]); size = ffi.new('uint64_t *')
executor = ffi.new('aclOpExecutor **')
print(lib.aclnnRmsNormGradGetWorkspaceSize(wrong, *problem.tensors[1:], size, executor))
print(re.findall('E[A-Z][0-9]{4}: ', message()))
call('aclDestroyTensor', wrong); problem.close(); call('aclrtResetDevice', 0)
""")
        code, _, codes = result.stdout.partition("\n")
        assert code != "0"
        assert codes.count("E") == 1, result.stdout
