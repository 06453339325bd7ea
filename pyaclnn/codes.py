# SPDX-License-Identifier: Apache-2.0
"""What a status code means: its name, the exception it becomes, and what to do next.

Names and numbers come from the constants of the compiled binding. The table below is keyed by
name; only the code of the simulated NPU, which no header of CANN knows, is written as a number.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn._binding import lib
from pyaclnn.errors import (
    AclError,
    ContextError,
    DeadlineError,
    DeviceLostError,
    InvalidArgumentError,
    KernelError,
    OutOfMemoryError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MOCK_NOT_IMPLEMENTED", "Meaning", "code_named", "describe_failure", "meaning"]

MOCK_NOT_IMPLEMENTED: Final = 999001
"""The simulated NPU's own answer for an operator that it does not implement."""

_PREFIXES: Final = ("ACL_ERROR_", "ACLNN_ERR_")

_KERNEL_HINT: Final = (
    "the kernel failed on the device after it had been queued; check shapes, addresses and "
    "lifetimes of everything queued on this stream since the last synchronize."
)
_LOST_HINT: Final = (
    "the device stopped answering; close its objects and restart the process. "
    "On hardware, look at `npu-smi info` and the device log."
)
_DRIVER_HINT: Final = (
    "the driver failed; check that the device nodes exist, that this user may open them, and that "
    "no other container holds the device."
)
_NO_DEVICE_HINT: Final = (
    "no device could be opened; check `npu-smi info`, ASCEND_RT_VISIBLE_DEVICES and the driver's "
    "version."
)
_CONTEXT_HINT: Final = (
    "the object belongs to another context, or its device was reset; use objects of one device "
    "and close them before the device."
)
_ARGUMENT_HINT: Final = "compare the arguments above with the operator's documentation."
_CAPACITY_HINT: Final = "close objects of this kind that are no longer needed."
_INSTALL_HINT: Final = (
    "the operator package of this chip is missing or damaged; install the one that matches this "
    "CANN version and source its set_env.sh."
)

_TABLE: Final[tuple[tuple[type[AclError], str, tuple[str, ...]], ...]] = (
    (
        InvalidArgumentError,
        _ARGUMENT_HINT,
        (
            "ACL_ERROR_INVALID_PARAM",
            "ACL_ERROR_RT_PARAM_INVALID",
            "ACL_ERROR_RT_ADDR_UNALIGNED",
            "ACL_ERROR_RT_INVALID_MEMORY_TYPE",
            "ACLNN_ERR_PARAM_NULLPTR",
            "ACLNN_ERR_PARAM_INVALID",
        ),
    ),
    (
        InvalidArgumentError,
        "the operator refused the shapes or attributes above; compare them with its documentation.",
        ("ACLNN_ERR_INNER_TILING_ERROR", "ACLNN_ERR_INNER_INFERSHAPE_ERROR"),
    ),
    (
        InvalidArgumentError,
        "device ids run from 0 to device_count() - 1; ASCEND_RT_VISIBLE_DEVICES renumbers them.",
        ("ACL_ERROR_RT_INVALID_DEVICEID",),
    ),
    (
        InvalidArgumentError,
        "record both events, the earlier one first, and synchronize before asking for the time.",
        ("ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID", "ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL"),
    ),
    (
        OutOfMemoryError,
        "release device arrays that are no longer needed, or see who else uses this device.",
        (
            "ACL_ERROR_BAD_ALLOC",
            "ACL_ERROR_STORAGE_OVER_LIMIT",
            "ACL_ERROR_RT_MEMORY_ALLOCATION",
            "ACL_ERROR_RT_DEVICE_OOM",
            "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL",
        ),
    ),
    (
        OutOfMemoryError,
        _CAPACITY_HINT,
        (
            "ACL_ERROR_RT_NO_STREAM_RESOURCE",
            "ACL_ERROR_RT_NO_EVENT_RESOURCE",
            "ACL_ERROR_RT_OVER_LIMIT",
        ),
    ),
    (
        DeadlineError,
        "the work is still queued; wait again with more time, or without a timeout.",
        (
            "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT",
            "ACL_ERROR_RT_EVENT_SYNC_TIMEOUT",
            "ACL_ERROR_RT_REPORT_TIMEOUT",
            "ACL_ERROR_RT_WAIT_TIMEOUT",
            "ACL_ERROR_WAIT_CALLBACK_TIMEOUT",
        ),
    ),
    (
        ContextError,
        _CONTEXT_HINT,
        (
            "ACL_ERROR_RT_CONTEXT_NULL",
            "ACL_ERROR_RT_STREAM_CONTEXT",
            "ACL_ERROR_RT_INVALID_HANDLE",
            "ACL_ERROR_RT_CONTEXT_RELEASE_ERROR",
            "ACL_ERROR_INVALID_RESOURCE_HANDLE",
        ),
    ),
    (
        ContextError,
        "the runtime is not initialised, or was finalised by its owner.",
        ("ACL_ERROR_UNINITIALIZE", "ACL_ERROR_REPEAT_INITIALIZE", "ACL_ERROR_REPEAT_FINALIZE"),
    ),
    (
        ContextError,
        "the stream is being captured; waiting for it or asking about it ends the capture.",
        ("ACL_ERROR_RT_STREAM_CAPTURED", "ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT"),
    ),
    (
        DeviceLostError,
        _LOST_HINT,
        (
            "ACL_ERROR_RT_LOST_HEARTBEAT",
            "ACL_ERROR_RT_SOCKET_CLOSE",
            "ACL_ERROR_RT_TS_ERROR",
            "ACL_ERROR_RT_DEVICE_MEM_ERROR",
            "ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR",
            "ACL_ERROR_RT_DEVICE_TASK_ABORT",
        ),
    ),
    (
        DeviceLostError,
        _DRIVER_HINT,
        ("ACL_ERROR_RT_DRV_INTERNAL_ERROR", "ACL_ERROR_DRV_FAILURE"),
    ),
    (
        DeviceLostError,
        _NO_DEVICE_HINT,
        ("ACL_ERROR_RT_NO_DEVICE", "ACL_ERROR_RT_DEV_SETUP_ERROR", "ACL_ERROR_RT_SOC_VERSION"),
    ),
    (
        KernelError,
        _KERNEL_HINT,
        (
            "ACL_ERROR_RT_SYS_DMA",
            "ACL_ERROR_RT_AICORE_TIMEOUT",
            "ACL_ERROR_RT_AICORE_EXCEPTION",
            "ACL_ERROR_RT_AICORE_TRAP_EXCEPTION",
            "ACL_ERROR_RT_AICPU_TIMEOUT",
            "ACL_ERROR_RT_AICPU_EXCEPTION",
            "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT",
            "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
            "ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION",
            "ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW",
            "ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW",
            "ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW",
            "ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW",
            "ACL_ERROR_RT_FFTS_PLUS_TIMEOUT",
            "ACL_ERROR_RT_FFTS_PLUS_EXCEPTION",
            "ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION",
            "ACL_ERROR_RT_TASK_TIMEOUT",
            "ACL_ERROR_RT_STREAM_ABORT",
            "ACL_ERROR_RT_AICORE_OVER_FLOW",
            "ACL_ERROR_RT_AIVEC_OVER_FLOW",
            "ACL_ERROR_RT_OVER_FLOW",
        ),
    ),
    (
        UnsupportedError,
        "this chip, driver or CANN version does not offer it; the driver may be too old.",
        (
            "ACL_ERROR_API_NOT_SUPPORT",
            "ACL_ERROR_FEATURE_UNSUPPORTED",
            "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
        ),
    ),
    (
        UnsupportedError,
        "no kernel for this chip and these dtypes; " + _INSTALL_HINT,
        ("ACLNN_ERR_INNER_FIND_KERNEL_ERROR",),
    ),
    (
        UnsupportedError,
        _INSTALL_HINT,
        ("ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND", "ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND"),
    ),
    (
        AclError,
        "a runtime call inside the operator failed; is the device of the stream still usable?",
        ("ACLNN_ERR_RUNTIME_ERROR",),
    ),
)

_GENERAL: Final = "the text above is all that CANN says; its log (plog) may say more."


class Meaning(NamedTuple):
    """One status code explained."""

    name: str
    exception: type[AclError]
    hint: str


@functools.cache
def _names() -> Mapping[int, str]:
    # Where two names share a number, the last in sorted order is the current spelling.
    names = sorted(name for name in dir(lib) if name.startswith(_PREFIXES))
    return {int(getattr(lib, name)): name for name in names}


@functools.cache
def _rows() -> Mapping[str, tuple[type[AclError], str]]:
    return {name: (kind, hint) for kind, hint, names in _TABLE for name in names}


def code_named(name: str) -> int:
    """Return the number of the status code that CANN's headers call ``name``."""
    return int(getattr(lib, name))


def meaning(code: int) -> Meaning:
    """Explain a status code.

    Args:
        code: What a function of CANN returned.

    Returns:
        Its name, the exception class it becomes and a hint. Unknown codes have the name
        ``UNKNOWN`` and become a plain ``AclError``.
    """
    if code == MOCK_NOT_IMPLEMENTED:
        hint = "the simulated NPU does not implement this operator; it needs real hardware."
        return Meaning("MOCK_NOT_IMPLEMENTED", UnsupportedError, hint)
    name = _names().get(code, "UNKNOWN")
    exception, hint = _rows().get(name, (AclError, _GENERAL))
    return Meaning(name, exception, hint)


def describe_failure(
    routine: str,
    code: int,
    detail: str | None,
    arguments: Mapping[str, str],
    cause: int | None = None,
) -> AclError:
    """Build the exception for a status code, without raising it.

    Args:
        routine: The C function that returned the code.
        code: The status code.
        detail: CANN's text for it, or None.
        arguments: Parameter name to description.
        cause: The code of the runtime call inside that failed, if ``code`` says there was one.

    Returns:
        An exception of the class that fits the code, or its cause, with everything known in text
        and attributes.
    """
    name, exception, hint = meaning(code)
    failure = f"{routine} failed with {code} ({name})"
    if cause:
        inner, exception, hint = meaning(cause)
        failure += f", because a call to the runtime inside it failed with {cause} ({inner})"
    lines = [f"{failure}.", f"CANN says: {detail or 'nothing more.'}"]
    if arguments:
        lines.append("Arguments:")
        lines += [f"  {key} = {value}" for key, value in arguments.items()]
    lines.append(f"Hint: {hint}")
    error = exception(
        "\n".join(lines), code=code, name=name, routine=routine, detail=detail, arguments=arguments
    )
    error.cause = cause or None
    return error
