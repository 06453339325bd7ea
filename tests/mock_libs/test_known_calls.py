# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of calls that the device has accepted before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .programs import Programs

pytestmark = pytest.mark.usefixtures("own_processes")

PROGRAM = """
import os, signal
def check(problem):
    size, executor = ffi.new('uint64_t *'), ffi.new('aclOpExecutor **')
    return lib.aclnnRmsNormGradGetWorkspaceSize(*problem.tensors, size, executor)
def stop():
    kid = children()[0]
    os.kill(kid, signal.SIGSTOP)
    os.waitid(os.P_PID, kid, os.WSTOPPED | os.WNOWAIT)
    return kid
call('aclrtSetDevice', 0)
known = RmsNormGrad(rows=3)
assert check(known) == 0
%s
"""
STOPPED = "kid = stop(); print({}); sys.stdout.flush(); os.kill(kid, signal.SIGKILL); os._exit(0)"
ASKED = 361001
"""Status of phase 1 when it has asked a device that does not answer."""


@pytest.mark.exhaustive
def test_an_equal_call_is_accepted_without_the_device(programs: Programs) -> None:
    probe = STOPPED.format("check(same), check(other)")
    problems = "same, other = RmsNormGrad(rows=3), RmsNormGrad(rows=4)\n"
    done = programs.python(PROGRAM % (problems + probe), PYACLNN_MOCK_PATIENCE="20")
    assert done.stdout == f"0 {ASKED}\n", done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(("operator", "status"), [("Muls", 0), ("Cumprod", ASKED)])
def test_a_scalar_that_is_multiplied_may_have_another_value(
    operator: str, status: int, programs: Programs
) -> None:
    calls = f"""
one, two = (tensor((4, 4), device_memory(64)) for _ in range(2))
size, executor = ffi.new('uint64_t *'), ffi.new('aclOpExecutor **')
types = [lib.ACL_FLOAT] if '{operator}' == 'Cumprod' else []
def check(number):
    scalar = lib.aclCreateScalar(ffi.new('int64_t *', number), lib.ACL_INT64)
    phase_1 = getattr(lib, 'aclnn{operator}GetWorkspaceSize')
    return phase_1(one, scalar, *types, two, size, executor)
assert check(0) == 0
"""
    done = programs.python(
        PROGRAM % (calls + STOPPED.format("check(1)")), PYACLNN_MOCK_PATIENCE="20"
    )
    assert done.stdout == f"{status}\n", done.stderr


@pytest.mark.exhaustive
def test_a_device_that_was_reset_is_asked_again(programs: Programs) -> None:
    reset = """
known.close(); call('aclrtResetDevice', 0); call('aclrtSetDevice', 0)
known = RmsNormGrad(rows=3)
"""
    probe = STOPPED.format("check(known)")
    done = programs.python(PROGRAM % (reset + probe), PYACLNN_MOCK_PATIENCE="20")
    assert done.stdout == f"{ASKED}\n", done.stderr


@pytest.mark.exhaustive
def test_another_device_is_asked_itself(programs: Programs) -> None:
    before = "call('aclrtSetDevice', 1); own = RmsNormGrad(rows=3)\n"
    probe = STOPPED.replace("stop()", "stop(1)").format("check(own)")
    program = (PROGRAM % (before + probe)).replace("def stop():", "def stop(number=0):")
    program = program.replace("children()[0]", "children()[number]")
    done = programs.python(program, PYACLNN_MOCK_PATIENCE="20")
    assert done.stdout == f"{ASKED}\n", done.stderr


def test_a_refused_call_is_refused_again_with_its_message(programs: Programs) -> None:
    done = programs.python(
        PROGRAM
        % """
known.tensors[3] = known.tensors[0]
for _ in range(2):
    print(check(known), 'gamma' in message())
"""
    )
    assert done.stdout == "561002 True\n" * 2, done.stderr


@pytest.mark.exhaustive
def test_more_calls_than_are_remembered_have_each_their_own_answer(programs: Programs) -> None:
    done = programs.python(
        PROGRAM
        % """
x, y = device_memory(1 << 20), device_memory(1 << 20)
def size_of(rows):
    size, executor = ffi.new('uint64_t *'), ffi.new('aclOpExecutor **')
    shapes = ((rows, 8), (rows, 8), (rows,), (8,), (rows, 8), (8,))
    made = [tensor(shape, y if place > 3 else x) for place, shape in enumerate(shapes)]
    call('aclnnRmsNormGradGetWorkspaceSize', *made, size, executor)
    call('aclDestroyAclOpExecutor', executor[0])
    for each in made:
        call('aclDestroyTensor', each)
    return size[0]
counts = range(1, 6000)
first = [size_of(rows) for rows in counts]
print(len(set(first)) > 1, first == [size_of(rows) for rows in counts])
"""
    )
    assert done.stdout == "True True\n", done.stderr
