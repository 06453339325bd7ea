# SPDX-License-Identifier: Apache-2.0
"""Rules about executors."""

from __future__ import annotations

from .rule import Rule

__all__ = ["EXECUTORS"]

EXECUTORS = (
    Rule(
        id="executor-used-twice",
        title="an executor is used after phase 2 consumed it",
        explanation="Phase 2 deletes the executor, or puts it back into a pool where it may serve "
        "another operator already, unless it was made repeatable.",
        fix="run phase 1 again, or make the executor repeatable before the first phase 2",
        source="CANN: opbase composite_op/aclnn_engine/op_executor.cpp CommonOpExecutorRun",
        wrong="phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\nexecutor = NULL;",
        right="phase_1();\naclSetAclOpExecutorRepeatable(executor);\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\naclDestroyAclOpExecutor(executor);\n"
        "executor = NULL;",
    ),
    Rule(
        id="executor-used-after-failure",
        title="an executor is used after one of its phases failed",
        explanation="A phase 1 that fails makes no executor; a phase 2 that fails consumes it all "
        "the same. Often a status code was not looked at.",
        fix="look at every status code, and start again with phase 1 after a failure",
        source="CANN: opbase composite_op/aclnn_engine/op_executor.cpp CommonOpExecutorRun",
        wrong="aclnnStatus status = aclnnRmsNormGetWorkspaceSize(x, NULL, 1e-6, y, rstd, &size,\n"
        "                                                  &executor);\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\n(void)status;",
        right="aclnnStatus status = aclnnRmsNormGetWorkspaceSize(x, NULL, 1e-6, y, rstd, &size,\n"
        "                                                  &executor);\n"
        "if (status == 0) {\n    aclnnRmsNorm(workspace, size, executor, stream);\n}",
    ),
    Rule(
        id="executor-never-used",
        title="an executor was never given back",
        explanation="Phase 1 allocates it and only phase 2 or aclDestroyAclOpExecutor gives it "
        "back; a repeatable one only aclDestroyAclOpExecutor. The memory, or the place in the "
        "pool, is lost.",
        fix="run phase 2, or call aclDestroyAclOpExecutor; for a repeatable one always the latter",
        source="CANN: opbase composite_op/aclnn_engine/op_executor.cpp",
        wrong="phase_1();\nexecutor = NULL;\nstage_close();\naclrtResetDevice(0);\naclFinalize();",
        right="phase_1();\naclDestroyAclOpExecutor(executor);\nexecutor = NULL;\nstage_close();\n"
        "aclrtResetDevice(0);\naclFinalize();",
        alone=True,
    ),
    Rule(
        id="executor-destroyed-after-use",
        title="an executor is destroyed after phase 2 consumed it",
        explanation="aclDestroyAclOpExecutor is for repeatable executors and for those that never "
        "reach phase 2. After phase 2 of any other it frees freed memory, or another operator's "
        "executor.",
        fix="leave out aclDestroyAclOpExecutor, or make the executor repeatable",
        source="CANN: aclDestroyAclOpExecutor",
        wrong="phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\n"
        "aclDestroyAclOpExecutor(executor);\nexecutor = NULL;",
        right="phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\nexecutor = NULL;",
    ),
    Rule(
        id="executor-repeatable-from-cache",
        title="a cached executor is used as if it had become repeatable",
        explanation="When phase 1 is answered from the thread's operator cache, the executor is "
        "a wrapper around the cached one: aclSetAclOpExecutorRepeatable answers 561000, and phase "
        "2 consumes it. Nothing else tells a program that the cache was hit, so to ask is no "
        "mistake; to go on as if the answer had been yes is one.",
        fix="look at the status: either keep the executor, or run phase 1 again each time",
        source="CANN: opbase aclSetAclOpExecutorRepeatable (561000)",
        wrong="phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\nphase_1();\n"
        "aclSetAclOpExecutorRepeatable(executor);\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\naclDestroyAclOpExecutor(executor);\n"
        "executor = NULL;",
        right="phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\nphase_1();\n"
        "bool kept = aclSetAclOpExecutorRepeatable(executor) == 0;\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\n"
        "if (kept) {\n    aclDestroyAclOpExecutor(executor);\n}\nexecutor = NULL;",
    ),
    Rule(
        id="executor-address-one-shot",
        title="a tensor address is set on an executor that is not repeatable",
        explanation="New addresses are for the second and later runs of a repeatable executor. "
        "On a one-shot executor the call depends on how the operator is built.",
        fix="call aclSetAclOpExecutorRepeatable first, and look at its status",
        source="CANN: opbase aclSetInputTensorAddr",
        wrong="phase_1();\naclSetInputTensorAddr(executor, 0, x, x_at);\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\nexecutor = NULL;",
        right="phase_1();\naclSetAclOpExecutorRepeatable(executor);\n"
        "aclSetInputTensorAddr(executor, 0, x, x_at);\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\naclDestroyAclOpExecutor(executor);\n"
        "executor = NULL;",
    ),
    Rule(
        id="executor-address-from-cache",
        title="a tensor address is set on a cached executor",
        explanation="A phase 1 that is answered from the operator cache has taken the addresses "
        "already. The call answers success and has no effect: the kernel works on the old memory.",
        fix="set addresses only on an executor that aclSetAclOpExecutorRepeatable accepted",
        source="CANN: opbase, cache wrapper executors",
        wrong="phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\nphase_1();\n"
        "aclSetInputTensorAddr(executor, 0, x, x_at);\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\nexecutor = NULL;",
        right="phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\n"
        "aclSetRawTensorAddr(x, x_at);\nphase_1();\n"
        "aclnnRmsNorm(workspace, size, executor, stream);\nexecutor = NULL;",
    ),
    Rule(
        id="executor-of-another-operator",
        title="phase 2 gets the executor of another operator",
        explanation="The two phases belong together: an executor holds what phase 1 of its own "
        "operator prepared.",
        fix="pass the executor that phase 1 of the same operator gave",
        source="CANN: opbase, two-phase interface",
        wrong="phase_1();\naclnnRmsNormGrad(workspace, size, executor, stream);\nexecutor = NULL;",
        right="phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\nexecutor = NULL;",
    ),
)
