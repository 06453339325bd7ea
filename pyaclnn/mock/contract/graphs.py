# SPDX-License-Identifier: Apache-2.0
"""Rules about captured work."""

from __future__ import annotations

from .rule import Rule

__all__ = ["GRAPHS"]

_BEGIN = "aclmdlRI graph = NULL;\naclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);\n"
_FILL = "aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\n"
_END = "aclmdlRICaptureEnd(stream, &graph);\n"
_REPLAY = "aclmdlRIExecuteAsync(graph, stream);\n"
_DONE = "aclrtSynchronizeStream(stream);\naclmdlRIDestroy(graph);"
_CAPTURED = _BEGIN + _FILL + _END

GRAPHS = (
    Rule(
        id="capture-disturbed",
        title="a stream or event is asked or waited for while it is being captured",
        explanation="What is captured does not run, so nothing can be said of it. CANN answers "
        "107027 for a stream and 107028 for an event, and the capture is invalid from there on: "
        "aclmdlRICaptureEnd answers 507903 and gives no graph.",
        fix="synchronize and query after a replay, not inside the capture",
        source="CANN: FAQ of graph capture; error codes 107027, 107028, 507903",
        wrong=_BEGIN + _FILL + "aclrtSynchronizeStream(stream);\n" + _END,
        right=_CAPTURED + _REPLAY + _DONE,
    ),
    Rule(
        id="capture-unsafe-call",
        title="a call that works at once is made while a graph is being captured",
        explanation="aclrtMemcpy, aclrtMemcpy2d and aclrtMemset are not captured. A capture in "
        "global mode forbids them to every thread, one in thread-local mode to its own: 107030.",
        fix="call the asynchronous function on the captured stream, make the call before the "
        "capture, or capture in ACL_MODEL_RI_CAPTURE_MODE_RELAXED",
        source="CANN: aclmdlRICaptureBegin (107030)",
        wrong=_BEGIN + "aclrtMemset(device, BYTES, 0, BYTES);\n" + _END + "aclmdlRIDestroy(graph);",
        right="aclmdlRI graph = NULL;\n"
        "aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);\n"
        "aclrtMemset(device, BYTES, 0, BYTES);\n" + _END + "aclmdlRIDestroy(graph);",
    ),
    Rule(
        id="capture-would-block",
        title="an asynchronous copy of pageable host memory is captured",
        explanation="With host memory that is not pinned, an asynchronous copy or fill waits for "
        "its stream, and a stream that is being captured does not move: 107041.",
        fix="take memory from aclrtMallocHost",
        source="CANN: aclrtMemcpyAsync; error code 107041",
        wrong="char pageable[8] = {0};\n"
        + _BEGIN
        + "aclrtMemcpyAsync(device, 8, pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream);\n"
        + _END,
        right=_BEGIN
        + "aclrtMemcpyAsync(device, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream);\n"
        + _END
        + _REPLAY
        + _DONE,
    ),
    Rule(
        id="capture-unpaired",
        title="the begin and the end of a capture do not belong to each other",
        explanation="A stream is captured once at a time (107027). Its capture is ended on the "
        "stream where it began (107029 on one that is not captured, 107036 on one that joined) "
        "and, unless it is relaxed, by the thread that began it (107038).",
        fix="call aclmdlRICaptureEnd once for each aclmdlRICaptureBegin, on the same stream and "
        "thread",
        source="CANN: aclmdlRICaptureEnd; error codes 107027, 107029, 107036, 107038",
        wrong="aclmdlRI graph = NULL;\naclmdlRICaptureEnd(stream, &graph);",
        right=_BEGIN + _END + "aclmdlRIDestroy(graph);",
    ),
    Rule(
        id="capture-unjoined",
        title="a capture ends before a stream that joined it has come back",
        explanation="The work of a stream that joined a capture by waiting for one of its events "
        "must lead back to the first stream, by events, before the end: 107025, and no graph.",
        fix="record an event behind the last work of the other stream and let the first stream "
        "wait for it",
        source="CANN: error code 107025",
        wrong=_BEGIN
        + "aclrtRecordEvent(event, stream);\naclrtStreamWaitEvent(other, event);\n"
        + "aclrtMemsetAsync(device, BYTES, 0, BYTES, other);\n"
        + _END,
        right=_BEGIN
        + "aclrtRecordEvent(event, stream);\naclrtStreamWaitEvent(other, event);\n"
        + "aclrtMemsetAsync(device, BYTES, 0, BYTES, other);\n"
        + "aclrtRecordEvent(event, other);\naclrtStreamWaitEvent(stream, event);\n"
        + _END
        + _REPLAY
        + _DONE,
    ),
    Rule(
        id="capture-mixed",
        title="captured work and other work are to wait for each other",
        explanation="A stream that is being captured waits for events of its own capture only "
        "(107024, 107032 for those of another capture); nobody outside waits for an event that was "
        "captured (107028), and the default stream joins no capture (107031).",
        fix="wait before the capture begins, or record the event inside it",
        source="CANN: error codes 107024, 107028, 107031, 107032",
        wrong="aclrtRecordEvent(event, other);\n"
        + _BEGIN
        + "aclrtStreamWaitEvent(stream, event);\n"
        + _END,
        right="aclrtRecordEvent(event, other);\naclrtStreamWaitEvent(stream, event);\n"
        + _CAPTURED
        + "aclmdlRIDestroy(graph);",
    ),
    Rule(
        id="captured-stream-ended",
        title="a stream is destroyed or aborted while it is being captured",
        explanation="CANN refuses it with 107027, and the stream stays.",
        fix="end the capture first",
        source="CANN: runtime, destruction of a stream (107027)",
        wrong=_BEGIN + "aclrtDestroyStream(stream);\n" + _END + "aclmdlRIDestroy(graph);",
        right=_BEGIN + _END + "aclrtDestroyStream(other);\nother = NULL;\naclmdlRIDestroy(graph);",
    ),
    Rule(
        id="graph-unfinished",
        title="a graph is used while it is being captured",
        explanation="aclmdlRICaptureGetInfo gives a handle during the capture, which can be "
        "compared and named; running or destroying it is refused with 107026.",
        fix="call aclmdlRICaptureEnd first",
        source="CANN: error code 107026",
        wrong=_BEGIN
        + "aclmdlRICaptureStatus status;\naclmdlRICaptureGetInfo(stream, &status, &graph);\n"
        + "aclmdlRIExecuteAsync(graph, other);\n"
        + _END
        + "aclmdlRIDestroy(graph);",
        right=_BEGIN
        + "aclmdlRICaptureStatus status;\naclmdlRICaptureGetInfo(stream, &status, &graph);\n"
        + _END
        + "aclmdlRIExecuteAsync(graph, other);\naclrtSynchronizeStream(other);\n"
        + "aclmdlRIDestroy(graph);",
    ),
    Rule(
        id="graph-destroyed-in-use",
        title="a graph is destroyed while it runs",
        explanation="aclmdlRIExecuteAsync only queues the work. aclmdlRIDestroy answers 107037 "
        "before that has ended, and the graph stays.",
        fix="synchronize with the stream of the last replay first",
        source="CANN: error code 107037",
        wrong=_CAPTURED + _REPLAY + "aclmdlRIDestroy(graph);\n" + _DONE,
        right=_CAPTURED + _REPLAY + _DONE,
    ),
    Rule(
        id="graph-memory-freed",
        title="a graph runs with memory that was freed after the capture",
        explanation="A graph keeps addresses, not memory: every replay uses those of the capture, "
        "whoever owns them by then. CANN does not look; the simulated NPU compares the blocks, "
        "and sees also that an address belongs to a newer block.",
        fix="free what a graph uses after aclmdlRIDestroy",
        source="CANN: aclmdlRICaptureBegin",
        wrong="void *block;\naclrtMalloc(&block, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);\n"
        + _BEGIN
        + "aclrtMemsetAsync(block, BYTES, 0, BYTES, stream);\n"
        + _END
        + "aclrtFree(block);\n"
        + _REPLAY
        + _DONE,
        right="void *block;\naclrtMalloc(&block, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);\n"
        + _BEGIN
        + "aclrtMemsetAsync(block, BYTES, 0, BYTES, stream);\n"
        + _END
        + _REPLAY
        + _DONE
        + "\naclrtFree(block);",
    ),
)
