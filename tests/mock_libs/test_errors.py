# SPDX-License-Identifier: Apache-2.0
"""Error texts, last errors, asynchronous failures and who is told of them."""

from __future__ import annotations

import ctypes
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.mock import libdir

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("context")
UNKNOWN = ffi.cast("void *", 0x1234)


class TestText:
    def test_nothing_pending_is_null(self) -> None:
        assert lib.aclGetRecentErrMsg() == NULL

    def test_reading_clears(self) -> None:
        assert lib.aclrtFree(NULL) == 100000
        assert "devPtr is NULL" in npu.message()
        assert lib.aclGetRecentErrMsg() == NULL

    def test_what_was_read_stays_valid_until_the_next_reading(self) -> None:
        lib.aclrtFree(NULL)
        text = lib.aclGetRecentErrMsg()
        lib.aclrtFree(UNKNOWN)
        assert "devPtr is NULL" in ffi.string(text).decode()

    def test_every_thread_has_its_own(self) -> None:
        lib.aclrtFree(NULL)
        assert npu.in_thread(npu.message) == ""
        assert npu.message() != ""

    @pytest.mark.parametrize(
        ("function", "arguments", "prefix"),
        [
            ("aclrtFree", (NULL,), "EH0001"),
            ("aclrtFree", (UNKNOWN,), "EE1001"),
            ("aclDestroyAclOpExecutor", (NULL,), "EZ9999"),
        ],
    )
    def test_how_it_begins(self, function: str, arguments: tuple[Any, ...], prefix: str) -> None:
        assert getattr(lib, function)(*arguments) != 0
        start = rf"{prefix}: \[PID: {os.getpid()}\] \d{{4}}-.* simulated NPU: "
        assert re.match(start, npu.message())


class TestLastError:
    @pytest.mark.parametrize(
        ("function", "arguments", "code", "last"),
        [
            ("aclrtFree", (UNKNOWN,), 107000, 107000),
            ("aclrtSynchronizeStream", (UNKNOWN,), 107017, 107017),
            ("aclrtFree", (NULL,), 100000, 0),
            ("aclrtDeviceEnablePeerAccess", (0, 1), 200006, 0),
            ("aclDestroyAclOpExecutor", (NULL,), 561103, 0),
        ],
    )
    def test_only_codes_of_the_runtime_layer_are_kept(
        self, function: str, arguments: tuple[Any, ...], code: int, last: int
    ) -> None:
        assert getattr(lib, function)(*arguments) == code
        assert lib.aclrtPeekAtLastError(0) == last
        assert lib.aclrtGetLastError(0) == last
        assert lib.aclrtGetLastError(0) == 0

    def test_success_does_not_clear_it(self) -> None:
        lib.aclrtFree(UNKNOWN)
        npu.call("aclrtSynchronizeStream", NULL)
        assert lib.aclrtGetLastError(0) == 107000

    def test_every_thread_has_its_own(self) -> None:
        lib.aclrtFree(UNKNOWN)
        assert npu.in_thread(lambda: lib.aclrtGetLastError(0)) == 0

    def test_there_is_one_level(self) -> None:
        level = ffi.cast("aclrtLastErrLevel", 1)
        assert lib.aclrtGetLastError(level) == lib.aclrtPeekAtLastError(level) == 100000


class TestAsynchronousFailure:
    def test_launching_succeeds_and_synchronizing_fails_once(self, broken: npu.RmsNormGrad) -> None:
        stream = npu.stream()
        broken.launch(stream)
        assert lib.aclrtSynchronizeStream(stream) == 507015
        assert "aclnnRmsNormGrad" in npu.message()
        assert lib.aclrtGetLastError(0) == 507015
        assert lib.aclrtSynchronizeStream(stream) == 0

    def test_a_query_reports_it(self, broken: npu.RmsNormGrad) -> None:
        status = ffi.new("aclrtStreamStatus *")
        broken.launch()
        assert lib.aclrtStreamQuery(NULL, status) == 0
        assert lib.aclrtStreamQuery(NULL, status) == 507015
        assert status[0] == lib.ACL_STREAM_STATUS_COMPLETE

    def test_synchronizing_the_device_reports_it(self, broken: npu.RmsNormGrad) -> None:
        broken.launch(npu.stream())
        assert lib.aclrtSynchronizeDevice() == 507015
        assert lib.aclrtSynchronizeDevice() == 0

    def test_other_streams_do_not_report_it(self, broken: npu.RmsNormGrad) -> None:
        stream = npu.stream()
        broken.launch(stream)
        npu.call("aclrtSynchronizeStream", NULL)
        assert lib.aclrtSynchronizeStream(stream) == 507015

    def test_what_stands_behind_it_still_runs(
        self, broken: npu.RmsNormGrad, problem: npu.RmsNormGrad
    ) -> None:
        broken.launch()
        problem.launch()
        assert lib.aclrtSynchronizeStream(NULL) == 507015
        assert problem.dx == bytes(64)

    def test_the_last_failure_wins(self, broken: npu.RmsNormGrad) -> None:
        host, memory = npu.pinned(8), npu.device_memory(8)
        broken.launch()
        npu.call("aclrtMemcpyAsync", host, 8, memory, 8, 2, NULL)
        npu.call("aclrtFreeHost", host)
        assert lib.aclrtSynchronizeStream(NULL) == 507013
        npu.call("aclrtFree", memory)

    def test_a_kernel_over_its_time(self, context: Any) -> None:
        del context
        problem = npu.RmsNormGrad(rows=200_000)
        npu.call("aclrtSetOpExecuteTimeOutWithMs", 1)
        problem.launch()
        code = lib.aclrtSynchronizeStream(NULL)
        npu.call("aclrtSetOpExecuteTimeOut", 0)
        assert code == 507014
        problem.launch()
        npu.call("aclrtSynchronizeStream", NULL)
        problem.close()


class TestStopOnFailure:
    @pytest.fixture
    def stopped(self, broken: npu.RmsNormGrad, context: Any) -> Iterator[npu.RmsNormGrad]:
        """A context that one failure has stopped; another one is current after the test."""
        inner = npu.value("aclrtCreateContext", "aclrtContext", 1)
        stream = npu.stream()
        npu.call("aclrtSetStreamFailureMode", stream, lib.ACL_STOP_ON_FAILURE)
        broken.launch(stream)
        assert lib.aclrtSynchronizeStream(stream) == 507015
        yield broken
        npu.call("aclrtDestroyStream", stream)
        npu.call("aclrtDestroyContext", inner)
        npu.call("aclrtSetCurrentContext", context)

    def test_everything_in_the_context_fails(self, stopped: npu.RmsNormGrad) -> None:
        size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
        for code in (
            lib.aclrtSynchronizeStream(NULL),
            lib.aclrtSynchronizeStream(NULL),
            lib.aclrtSynchronizeDevice(),
            lib.aclrtCreateStream(ffi.new("aclrtStream *")),
            lib.aclrtMalloc(ffi.new("void **"), 8, 0),
            lib.aclrtMemsetAsync(stopped.memory[0], 8, 0, 8, NULL),
        ):
            assert code == 507015
        assert "ACL_STOP_ON_FAILURE" in npu.message()
        phase1 = lib.aclnnRmsNormGradGetWorkspaceSize
        assert phase1(*stopped.tensors, size, executor) == 361001
        assert lib.aclrtGetLastError(0) == 507015

    def test_every_later_error_repeats_the_first_failure(self, stopped: npu.RmsNormGrad) -> None:
        del stopped
        for fails in (
            lambda: lib.aclrtSynchronizeStream(NULL),
            lambda: lib.aclrtMalloc(ffi.new("void **"), 8, 0),
            lib.aclrtSynchronizeDevice,
        ):
            assert fails() == 507015
            text = npu.message()
            assert "its first failure: AI Core exception in aclnnRmsNormGrad" in text
            assert "launched in aclnnRmsNormGrad, called from " in text

    def test_host_memory_is_there(self, stopped: npu.RmsNormGrad) -> None:
        del stopped
        npu.call("aclrtFreeHost", npu.pinned(64))

    def test_freeing_goes_on(self, stopped: npu.RmsNormGrad) -> None:
        npu.call("aclrtFree", stopped.memory.pop())

    def test_other_contexts_go_on(self, stopped: npu.RmsNormGrad, context: Any) -> None:
        del stopped
        inner = npu.value("aclrtGetCurrentContext", "aclrtContext")
        npu.call("aclrtSetCurrentContext", context)
        npu.call("aclrtSynchronizeDevice")
        npu.call("aclrtSetCurrentContext", inner)


class TestExceptionCallback:
    def test_it_is_told_of_every_failed_kernel_in_order(self, broken: npu.RmsNormGrad) -> None:
        told = []
        getters = [
            lib.aclrtGetErrorCodeFromExceptionInfo,
            lib.aclrtGetDeviceIdFromExceptionInfo,
            lib.aclrtGetStreamIdFromExceptionInfo,
            lib.aclrtGetTaskIdFromExceptionInfo,
        ]

        def note(info: Any) -> None:
            told.append([get(info) for get in getters])

        function = ffi.callback("void(aclrtExceptionInfo *)", note)
        stream, number = npu.stream(), ffi.new("int32_t *")
        npu.call("aclrtStreamGetId", stream, number)
        npu.call("aclrtSetExceptionInfoCallback", function)
        broken.launch(stream)
        broken.launch(stream)
        assert lib.aclrtSynchronizeStream(stream) == 507015
        npu.call("aclrtSetExceptionInfoCallback", NULL)
        broken.launch(stream)
        assert lib.aclrtSynchronizeStream(stream) == 507015
        assert told == [[507015, 1, number[0], 1], [507015, 1, number[0], 2]]
        assert [get(NULL) for get in getters] == [0xFFFFFFFF] * 4


@pytest.mark.parametrize("function", ["aclmdlExecute", "aclopInferShape", "aclmdlLoadFromMem"])
def test_what_is_not_implemented_says_so(function: str) -> None:
    library = ctypes.CDLL(str(libdir() / "libascendcl.so"))
    assert getattr(library, function)(1, None, None) == 999001
    text = f"{function} is declared by CANN but not implemented by the simulated NPU"
    assert text in npu.message()
