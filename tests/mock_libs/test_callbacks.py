# SPDX-License-Identifier: Apache-2.0
"""Host callbacks: bound to a thread, run by aclrtProcessReport."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

pytestmark = pytest.mark.usefixtures("context")
NO_BLOCK, BLOCK = lib.ACL_CALLBACK_NO_BLOCK, lib.ACL_CALLBACK_BLOCK


@pytest.fixture
def called() -> list[tuple[int, int]]:
    """Calls of a test's callbacks: their number and their thread."""
    return []


@pytest.fixture
def note(called: list[tuple[int, int]]) -> Any:
    def function(data: Any) -> None:
        called.append((int(ffi.cast("uintptr_t", data)), threading.get_ident()))

    return ffi.callback("void(void *)", function)


def number(value: int) -> Any:
    return ffi.cast("void *", value)


def test_a_stream_nobody_subscribed_to(note: Any) -> None:
    assert lib.aclrtLaunchCallback(note, NULL, NO_BLOCK, NULL) == 107015


def test_codes(note: Any) -> None:
    stream, me = npu.stream(), threading.get_ident()
    npu.call("aclrtSubscribeReport", me, stream)
    assert lib.aclrtSubscribeReport(me, stream) == 107011
    assert lib.aclrtLaunchCallback(NULL, NULL, NO_BLOCK, stream) == 100000
    wrong = ffi.cast("aclrtCallbackBlockType", 2)
    assert lib.aclrtLaunchCallback(note, NULL, wrong, stream) == 100000
    assert lib.aclrtUnSubscribeReport(me + 1, stream) == 107012
    assert lib.aclrtProcessReport(0) == lib.aclrtProcessReport(-2) == 100000
    assert lib.aclrtProcessReport(3) == 507012
    npu.call("aclrtUnSubscribeReport", me, stream)
    assert lib.aclrtProcessReport(3) == 107012
    assert lib.aclrtUnSubscribeReport(me, stream) == 107012


def test_callbacks_run_in_the_polling_thread_and_in_order(
    note: Any, called: list[tuple[int, int]]
) -> None:
    stream, me = npu.stream(), threading.get_ident()
    npu.call("aclrtSubscribeReport", me, stream)
    for i in (1, 2, 3):
        npu.call("aclrtLaunchCallback", note, number(i), NO_BLOCK, stream)
    npu.call("aclrtSynchronizeStream", stream)
    assert called == [], "only the subscribed thread runs them"
    assert npu.in_thread(lambda: lib.aclrtProcessReport(3)) == 107012
    for _ in range(3):
        npu.call("aclrtProcessReport", 1000)
    assert called == [(1, me), (2, me), (3, me)]
    assert lib.aclrtProcessReport(3) == 507012


def test_polling_lets_the_stream_run_up_to_the_callback(
    note: Any, called: list[tuple[int, int]]
) -> None:
    stream, me = npu.stream(), threading.get_ident()
    memory = npu.device_memory(1)
    npu.call("aclrtSubscribeReport", me, stream)
    npu.call("aclrtMemsetAsync", memory, 1, 1, 1, stream)
    npu.call("aclrtLaunchCallback", note, NULL, BLOCK, stream)
    npu.call("aclrtMemsetAsync", memory, 1, 2, 1, stream)
    npu.call("aclrtProcessReport", 1000)
    assert len(called) == 1
    assert npu.read(memory, 1) == b"\x01"
    npu.call("aclrtSynchronizeStream", stream)
    assert npu.read(memory, 1) == b"\x02"
    npu.call("aclrtFree", memory)


@pytest.mark.parametrize(("block", "code"), [(NO_BLOCK, 0), (BLOCK, 507046)])
def test_a_blocking_callback_holds_its_stream_up(note: Any, block: int, code: int) -> None:
    stream = npu.stream()
    npu.call("aclrtSubscribeReport", threading.get_ident(), stream)
    npu.call("aclrtLaunchCallback", note, NULL, block, stream)
    assert lib.aclrtSynchronizeStreamWithTimeout(stream, 3) == code
    npu.call("aclrtProcessReport", 1000)
    assert lib.aclrtSynchronizeStreamWithTimeout(stream, 100000) == 0


def test_a_thread_that_polls_while_another_one_synchronizes(
    note: Any, called: list[tuple[int, int]], context: Any
) -> None:
    stream, ready, done = npu.stream(), threading.Event(), threading.Event()
    identity: list[int] = []

    def poll() -> None:
        identity.append(threading.get_ident())
        npu.call("aclrtSetCurrentContext", context)
        ready.set()
        while not done.is_set():
            lib.aclrtProcessReport(20)

    thread = threading.Thread(target=poll)
    thread.start()
    ready.wait()
    npu.call("aclrtSubscribeReport", identity[0], stream)
    for i in range(20):
        npu.call("aclrtLaunchCallback", note, number(i), i % 2, stream)
    npu.call("aclrtSynchronizeStream", stream)
    assert npu.wait_until(lambda: len(called) == 20)
    done.set()
    thread.join()
    assert called == [(i, identity[0]) for i in range(20)]


def test_a_callback_may_call_the_runtime() -> None:
    stream, answers = npu.stream(), []

    def ask(_data: Any) -> None:
        answers.append(lib.aclrtGetDevice(ffi.new("int32_t *")))
        answers.append(lib.aclrtFree(npu.device_memory(8)))

    function = ffi.callback("void(void *)", ask)
    npu.call("aclrtSubscribeReport", threading.get_ident(), stream)
    npu.call("aclrtLaunchCallback", function, NULL, BLOCK, stream)
    npu.call("aclrtProcessReport", 1000)
    assert answers == [0, 0]
