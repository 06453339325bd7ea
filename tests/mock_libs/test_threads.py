# SPDX-License-Identifier: Apache-2.0
"""Many threads and forked children."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .programs import Programs


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["threads", "forks", "fork_storm"])
def test_program_ends_well(programs: Programs, name: str) -> None:
    result = programs.run([programs.build(f"{name}.c")])
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.exhaustive
def test_threads_that_launch_operators_on_streams_of_their_own(programs: Programs) -> None:
    result = programs.python("""
import threading
call('aclrtSetDevice', 0)
done = []
def work():
    call('aclrtSetDevice', 0)
    own = stream(); problem = RmsNormGrad()
    for _ in range(20):
        problem.launch(own); call('aclrtSynchronizeStream', own)
        assert problem.dx == bytes(64)
    problem.close(); call('aclrtDestroyStream', own); call('aclrtResetDevice', 0)
    done.append(1)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(done), lib.aclrtResetDevice(0), lib.aclrtResetDevice(0))
""")
    assert result.stdout == "8 0 507007\n", result.stderr


@pytest.mark.exhaustive
def test_threads_that_set_and_reset_the_device(programs: Programs) -> None:
    result = programs.python("""
import threading
def work():
    for _ in range(4):
        call('aclrtSetDevice', 0); own = stream(); memory = device_memory(64)
        call('aclrtMemsetAsync', memory, 64, 1, 64, own); call('aclrtSynchronizeStream', own)
        call('aclrtFree', memory); call('aclrtResetDevice', 0)
    done.append(1)
done = []
threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(done), lib.aclrtResetDevice(0))
""")
    assert result.stdout == "6 507007\n", result.stderr


def test_a_child_forked_by_python(programs: Programs) -> None:
    result = programs.python("""
import os
call('aclrtSetDevice', 0); memory = device_memory(8); write(memory, b'12345678')
child = os.fork()
if child == 0:
    code = lib.aclrtMemset(memory, 8, 0, 8)
    os._exit(0 if code == 507010 and 'forked from' in message() else 1)
print(os.waitpid(child, 0)[1], read(memory, 8)); call('aclrtResetDevice', 0)
""")
    assert result.stdout == "0 b'12345678'\n", result.stderr
