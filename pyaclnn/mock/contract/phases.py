# SPDX-License-Identifier: Apache-2.0
"""Rules about the time from phase 1 until the kernel has run."""

from __future__ import annotations

from .rule import Rule

__all__ = ["PHASES"]

_REPEATABLE = "phase_1();\naclSetAclOpExecutorRepeatable(executor);\n"
_RUN = "aclnnRmsNorm(workspace, size, executor, stream);\n"
_DONE = "aclDestroyAclOpExecutor(executor);\nexecutor = NULL;"

PHASES = (
    Rule(
        id="object-destroyed-between-phases",
        title="an argument is destroyed between the phases",
        explanation="The executor points to the tensors, arrays and scalars of phase 1; phase 2 "
        "reads them. They may go as soon as phase 2 has returned, even before the stream runs.",
        fix="destroy the arguments after phase 2 has returned",
        source="CANN: opbase composite_op/aclnn_engine/op_executor.cpp",
        wrong="phase_1();\naclDestroyTensor(x);\nx = NULL;\n" + _RUN + "executor = NULL;",
        right="phase_1();\n" + _RUN + "executor = NULL;\naclDestroyTensor(x);\nx = NULL;",
    ),
    Rule(
        id="object-changed-between-phases",
        title="an argument is changed between the phases",
        explanation="What phase 1 checked and planned for is not what phase 2 would run on. "
        "aclSetRawTensorAddr and aclInitTensor must not be called in between.",
        fix="change a tensor before phase 1, or after phase 2; for a repeatable executor use "
        "aclSetInputTensorAddr or aclSetOutputTensorAddr",
        source="CANN: aclSetRawTensorAddr",
        wrong="phase_1();\naclSetRawTensorAddr(x, device);\n" + _RUN + "executor = NULL;",
        right="aclSetRawTensorAddr(x, device);\nphase_1();\n" + _RUN + "executor = NULL;",
    ),
    Rule(
        id="object-destroyed-while-repeatable",
        title="an argument is destroyed while a repeatable executor needs it",
        explanation="A repeatable executor reads its arguments in every phase 2, so they must "
        "live until aclDestroyAclOpExecutor.",
        fix="destroy the executor first",
        source="CANN: aclSetAclOpExecutorRepeatable",
        wrong=_REPEATABLE + _RUN + "aclDestroyTensor(x);\nx = NULL;\n" + _DONE,
        right=_REPEATABLE + _RUN + _DONE + "\naclDestroyTensor(x);\nx = NULL;",
    ),
    Rule(
        id="workspace-null",
        title="no workspace where phase 1 asked for one",
        explanation="Phase 1 said how many bytes the kernel needs. Phase 2 answers 161001 when "
        "workspace is NULL; a composite operator's executor is consumed all the same.",
        fix="allocate as many bytes as phase 1 said and pass them",
        source="CANN: opbase CommonOpExecutorRun (161001)",
        wrong="phase_1();\naclnnRmsNorm(NULL, size, executor, stream);",
        right="phase_1();\n" + _RUN + "executor = NULL;",
    ),
    Rule(
        id="workspace-too-small",
        title="the workspace is smaller than phase 1 said",
        explanation="Generated operators compare workspaceSize (161002). Composite ones do not, "
        "and no operator sees how large the memory really is: the kernel writes beyond it.",
        fix="allocate at least as many bytes as phase 1 of this very call said",
        source="CANN: opbase individual_op/executor (161002)",
        wrong="phase_1();\naclnnRmsNorm(device, size, executor, stream);\nexecutor = NULL;",
        right="phase_1();\n" + _RUN + "executor = NULL;",
    ),
    Rule(
        id="workspace-freed-in-use",
        title="a workspace is freed before its stream has passed",
        explanation="Phase 2 only queues the kernel. aclrtFree does not wait: the memory goes to "
        "whoever allocates next, and the kernel writes into it.",
        fix="synchronize the stream before aclrtFree, or keep the workspace for the next launch",
        source="CANN: runtime, aclrtFree does not synchronize",
        wrong="phase_1();\n" + _RUN + "executor = NULL;\naclrtFree(workspace);\nworkspace = NULL;",
        right="phase_1();\n" + _RUN + "executor = NULL;\naclrtSynchronizeStream(stream);\n"
        "aclrtFree(workspace);\nworkspace = NULL;",
    ),
    Rule(
        id="workspace-shared-by-streams",
        title="two streams use one workspace at the same time",
        explanation="Kernels of one stream follow each other and may share a workspace; those of "
        "two streams may run together and then spoil each other's intermediate results.",
        fix="give every stream a workspace of its own, or order them by an event",
        source="CANN: two-phase interface, workspace",
        wrong="phase_1();\n" + _RUN + "phase_1_again();\n"
        "aclnnRmsNorm(workspace, size, executor, other);\nexecutor = NULL;",
        right="phase_1();\n" + _RUN + "phase_1_again();\naclrtRecordEvent(event, stream);\n"
        "aclrtStreamWaitEvent(other, event);\n"
        "aclnnRmsNorm(workspace, size, executor, other);\nexecutor = NULL;",
    ),
    Rule(
        id="result-not-written",
        title="a result is silently not written",
        explanation="The kernel's result is copied into the tensor that was given for it. For some "
        "operators nobody compares their shapes before, and nobody looks at the status of the "
        "copy: both phases succeed, and the tensor keeps what it holds.",
        fix="give the result a tensor of the documented shape; as many elements are not enough",
        source="CANN: ops-nn aclnn_layer_norm_backward.cpp, ops-math contiguous.cpp",
        wrong="backward(1, COLUMNS);",
        right="backward(COLUMNS, 0);",
    ),
    Rule(
        id="phases-on-different-devices",
        title="phase 1 and phase 2 run on different devices",
        explanation="Phase 1 plans for the chip and the cores of the thread's current device. "
        "Phase 2 on a stream of another device runs that plan elsewhere.",
        fix="make the stream's device current before phase 1",
        source="CANN: opbase, phase 1 reads the current context",
        wrong="phase_1();\naclrtSetDevice(1);\naclnnRmsNorm(workspace, size, executor, NULL);\n"
        "executor = NULL;\naclrtResetDevice(1);\naclrtSetCurrentContext(primary);",
        right="phase_1();\n" + _RUN + "executor = NULL;",
    ),
)
