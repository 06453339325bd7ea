# SPDX-License-Identifier: Apache-2.0
"""A device process that gets a second device."""

from __future__ import annotations

import mmap
import os
from contextlib import closing
from dataclasses import replace

import numpy as np

from pyaclnn.mock.protocol.batch import Run
from pyaclnn.mock.protocol.wire import Check, CheckReply, Forget, Reply

from .test_device_process import HELLO, SIZE, WORKSPACE, Host, rms_norm


def test_a_second_device_has_its_own_memory_and_calls() -> None:
    descriptor = os.memfd_create("second")
    os.ftruncate(descriptor, SIZE)
    with closing(Host()) as host, mmap.mmap(descriptor, SIZE) as second:
        host.ask(HELLO)
        checked = host.ask(Check(rms_norm()))
        assert isinstance(checked, CheckReply)
        second[:16] = np.array([1, 1, 1, 1], np.float32).tobytes()
        second[512:528] = np.array([1, 2, 3, 4], np.float32).tobytes()
        before = host.memory[:4096]

        assert host.ask(Forget()) == Reply(0, "")
        again = replace(HELLO, process=os.getpid(), descriptor=descriptor)
        assert host.ask(again) == Reply(0, "")
        # The number is one of the first device: the call is checked again.
        assert host.ask(Run(WORKSPACE, 16 << 20, rms_norm(), checked.number)) == Reply(0, "")

        written = np.frombuffer(second[1024:1040], np.float32)
        np.testing.assert_array_equal(written, [1, 2, 3, 4])
        assert host.memory[:4096] == before
    os.close(descriptor)


def test_a_memory_file_that_is_gone_is_no_device() -> None:
    with closing(Host()) as host:
        assert host.ask(Forget()) == Reply(0, "")
        reply = host.ask(replace(HELLO, process=os.getpid(), descriptor=1 << 20))
        assert (reply.status, "No such file" in reply.text) == (507033, True)
