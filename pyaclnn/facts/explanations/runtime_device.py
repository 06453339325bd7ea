# SPDX-License-Identifier: Apache-2.0
"""Codes 507000 to 507050: device and kernels (CANN: acl/error_codes/rt_error_codes.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import (
    ContextError,
    DeadlineError,
    DeviceLostError,
    KernelError,
    UnsupportedError,
)
from pyaclnn.facts.explanations.entry import AICPU, LOG, LOST, WAIT, says

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.explanations.entry import Explanation

__all__ = ["RUNTIME_DEVICE"]

_KERNEL: Final = (
    "the kernel failed on the device after it had been queued; check shapes, addresses and "
    "lifetimes of everything queued on this stream since the last synchronize."
)
_NO_DEVICE: Final = (
    "no device could be opened; check `npu-smi info`, ASCEND_RT_VISIBLE_DEVICES and the driver's "
    "version."
)
_NOT_YET: Final = "synchronize the stream first."
_REGISTER: Final = "load each kernel binary once and keep it loaded while its kernels may run."
_DIE: Final = "set the die mode once, before the device is opened."

# A kernel that died of a wrong address, and one that never came to an end.
_OUT_OF_BOUNDS: Final = (
    "memory was freed while the stream still needed it",
    "a tensor is described as larger than its memory",
    "kernels built for another chip or CANN version",
)
_ENDLESS: Final = (
    "the kernel waits for something that never comes",
    "shapes so large that it needs more time than allowed",
    "the core is faulty",
)

RUNTIME_DEVICE: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_RT_INTERNAL_ERROR": says(
        "The runtime failed inside, without saying more by its code.",
        "the time of an event that was never recorded was asked for",
        "driver and CANN do not fit together",
        do=LOG,
    ),
    "ACL_ERROR_RT_TS_ERROR": says(
        "The task scheduler of the device failed.",
        "a fault of hardware or firmware",
        do=LOST,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_STREAM_TASK_FULL": says(
        "The stream's queue is full.",
        "very much work was queued without ever synchronizing",
        do="synchronize the stream now and then.",
    ),
    "ACL_ERROR_RT_STREAM_TASK_EMPTY": says(
        "The stream's queue is empty.", "nothing was queued", do="queue work first."
    ),
    "ACL_ERROR_RT_STREAM_NOT_COMPLETE": says(
        "The stream has not finished.", "work is still running", do=_NOT_YET
    ),
    "ACL_ERROR_RT_END_OF_SEQUENCE": says(
        "The data has come to its end; nothing is wrong.",
        "the input pipeline is exhausted",
        do="treat it as the end of the data.",
    ),
    "ACL_ERROR_RT_EVENT_NOT_COMPLETE": says(
        "The event has not been reached.", "work before it is still running", do=_NOT_YET
    ),
    "ACL_ERROR_RT_CONTEXT_RELEASE_ERROR": says(
        "A device's context could not be released.",
        "the device was reset more often than it was set",
        "opening it had failed before: then this only follows from that",
        do="pair each aclrtSetDevice that succeeded with one aclrtResetDevice.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_SOC_VERSION": says(
        "The chip's name could not be read, or is one that this CANN does not know.",
        "no driver, or no device nodes in this container",
        "this user may not open the device nodes",
        "the CANN is older than the chip",
        do=_NO_DEVICE,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT": says(
        "The device cannot run a task of this kind.",
        "firmware that is older than this CANN needs",
        do="upgrade driver and firmware to those that this CANN asks for.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_RT_LOST_HEARTBEAT": says(
        "The device no longer answers.",
        "the device was reset, or its firmware failed",
        "the bus to it is down",
        "on the simulated NPU: the device process ended",
        do=LOST,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_MODEL_EXECUTE": says(
        "A model or captured graph failed while running.",
        "one of its kernels failed",
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_REPORT_TIMEOUT": says(
        "No report arrived from the device in the time given.",
        "the stream had nothing to call back",
        "work queued before takes longer",
        do=WAIT,
        raises=DeadlineError,
    ),
    "ACL_ERROR_RT_SYS_DMA": says(
        "A copy by the device's DMA engine failed.",
        "host memory was freed while it was being copied",
        "a fault of the bus or of memory",
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_AICORE_TIMEOUT": says(
        "A kernel on an AI core did not end in time.", *_ENDLESS, do=_KERNEL, raises=KernelError
    ),
    "ACL_ERROR_RT_AICORE_EXCEPTION": says(
        "A kernel on an AI core broke off.", *_OUT_OF_BOUNDS, do=_KERNEL, raises=KernelError
    ),
    "ACL_ERROR_RT_AICORE_TRAP_EXCEPTION": says(
        "A kernel on an AI core stopped itself.",
        "a check inside the kernel did not hold",
        *_OUT_OF_BOUNDS,
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_AICPU_TIMEOUT": says(
        "An operator on the device's CPUs did not end in time.",
        *_ENDLESS[:2],
        "the device's CPUs are overloaded",
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_AICPU_EXCEPTION": says(
        "An operator on the device's CPUs failed.",
        "inputs that it does not accept",
        "AI CPU operators of another CANN version",
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR": says(
        "The device's CPUs could not dump a tensor.",
        "the dump is configured wrongly, or there is no room for it",
        do="correct the dump section of the configuration given to aclInit.",
    ),
    "ACL_ERROR_RT_AICPU_MODEL_RSP_ERR": says(
        "The device's CPUs could not load or run their part of a model.",
        "AI CPU operators of another CANN version",
        do=AICPU,
    ),
    "ACL_ERROR_RT_PROFILING_ERROR": says(
        "Profiling on the device failed.",
        "another process profiles the device",
        do="end the other profiler, or profile without the device's counters.",
    ),
    "ACL_ERROR_RT_IPC_ERROR": says(
        "Memory or an event could not be shared with another process.",
        "the other process has ended, or was not allowed to open it",
        do="see that both processes run, and that the sharing process allowed the other's id.",
    ),
    "ACL_ERROR_RT_MODEL_ABORT_NORMAL": says(
        "A model was ended early, on request.",
        "somebody stopped it",
        do="treat it as the end of the run, if the stop was intended.",
    ),
    "ACL_ERROR_RT_KERNEL_UNREGISTERING": says(
        "The kernel's binary is being unloaded.",
        "it was unloaded while its kernels were still being launched",
        do=_REGISTER,
    ),
    "ACL_ERROR_RT_RINGBUFFER_NOT_INIT": says(
        "The device's buffer for fault reports does not exist.",
        "the device was not opened completely",
        do="look for the first failure of this process; this one follows from it.",
    ),
    "ACL_ERROR_RT_RINGBUFFER_NO_DATA": says(
        "The device has written no fault report.",
        "the failure was not one of a kernel",
        do="look for the first failure of this process; this one follows from it.",
    ),
    "ACL_ERROR_RT_KERNEL_LOOKUP": says(
        "The kernel is not in the binary that was loaded.",
        "operator packages of another chip or CANN version",
        do="install the operator package that matches this chip and this CANN version.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_RT_KERNEL_DUPLICATE": says(
        "A kernel of that name is loaded already.",
        "two custom operator packages contain the same operator",
        do=_REGISTER,
    ),
    "ACL_ERROR_RT_DEBUG_REGISTER_FAIL": says(
        "Debugging of kernels could not be switched on.",
        "another process debugs the device",
        do="end the other debugger.",
    ),
    "ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL": says(
        "Debugging of kernels could not be switched off.",
        "it was not on, or the device is gone",
        do=LOG,
    ),
    "ACL_ERROR_RT_LABEL_CONTEXT": says(
        "The label belongs to another context.",
        "another device was made current on this thread in between",
        do="use objects of one device and close them before the device.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_PROGRAM_USE_OUT": says(
        "The device has no room for another program.",
        "too many kernel binaries are loaded",
        do="unload kernel binaries that are no longer needed.",
    ),
    "ACL_ERROR_RT_DEV_SETUP_ERROR": says(
        "The device could not be started: aclrtSetDevice got as far as the driver and no further.",
        "driver, firmware and CANN do not fit together",
        "another process or container holds the device",
        "the device is unhealthy: `npu-smi info` shows Warning or Alarm",
        "its helper process cannot start: this user is not in the driver's group, or cannot read "
        "the operator package",
        do=_NO_DEVICE,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT": says(
        "A kernel on a vector core did not end in time.", *_ENDLESS, do=_KERNEL, raises=KernelError
    ),
    "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION": says(
        "A kernel on a vector core broke off.", *_OUT_OF_BOUNDS, do=_KERNEL, raises=KernelError
    ),
    "ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION": says(
        "A kernel on a vector core stopped itself.",
        "a check inside the kernel did not hold",
        *_OUT_OF_BOUNDS,
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_CDQ_BATCH_ABNORMAL": says(
        "A batch in a command queue went wrong.",
        "batches were allocated and freed out of order",
        do=LOG,
    ),
    "ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR": says(
        "The die mode cannot be changed now.", "the device is already open", do=_DIE
    ),
    "ACL_ERROR_RT_DIE_SET_ERROR": says(
        "The die could not be chosen.", "the mode allows no choice", do=_DIE
    ),
    "ACL_ERROR_RT_INVALID_DIEID": says(
        "There is no die of that number.", "a chip with fewer dies", do=_DIE
    ),
    "ACL_ERROR_RT_DIE_MODE_NOT_SET": says(
        "No die mode is set.", "a die was chosen before the mode", do=_DIE
    ),
    "ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW": says(
        "A kernel on an AI core read outside its memory.",
        *_OUT_OF_BOUNDS,
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW": says(
        "A kernel on an AI core wrote outside its memory.",
        *_OUT_OF_BOUNDS,
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW": says(
        "A kernel on a vector core read outside its memory.",
        *_OUT_OF_BOUNDS,
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW": says(
        "A kernel on a vector core wrote outside its memory.",
        *_OUT_OF_BOUNDS,
        do=_KERNEL,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT": says(
        "The stream did not finish in the time given.",
        "the work takes longer",
        "the stream waits for an event that nobody records",
        "the device hangs",
        do=WAIT,
        raises=DeadlineError,
    ),
    "ACL_ERROR_RT_EVENT_SYNC_TIMEOUT": says(
        "The event was not reached in the time given.",
        "the work before it takes longer",
        "its stream waits for another event that nobody records",
        do=WAIT,
        raises=DeadlineError,
    ),
    "ACL_ERROR_RT_FFTS_PLUS_TIMEOUT": says(
        "A group of kernels did not end in time.", *_ENDLESS, do=_KERNEL, raises=KernelError
    ),
    "ACL_ERROR_RT_FFTS_PLUS_EXCEPTION": says(
        "A group of kernels broke off.", *_OUT_OF_BOUNDS, do=_KERNEL, raises=KernelError
    ),
    "ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION": says(
        "A group of kernels stopped itself.",
        "a check inside a kernel did not hold",
        *_OUT_OF_BOUNDS,
        do=_KERNEL,
        raises=KernelError,
    ),
}
