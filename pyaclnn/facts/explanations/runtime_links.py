# SPDX-License-Identifier: Apache-2.0
"""Codes from 507051 on: memory, links, driver (CANN: acl/error_codes/rt_error_codes.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import ContextError, DeviceLostError, InvalidArgumentError, KernelError
from pyaclnn.facts.explanations.entry import AICPU, LOST, says

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.explanations.entry import Explanation

__all__ = ["RUNTIME_LINKS"]

_MEMORY: Final = (
    "end the process, look at `npu-smi info -t ecc -i ID`, and have the device reset or replaced."
)
_LINK: Final = "look at `npu-smi info -t topo` and at the state of the cables and the switch."
_SNAPSHOT: Final = "take snapshots from one thread, while nothing runs on the device."

RUNTIME_LINKS: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_RT_SEND_MSG": says(
        "A message to the device could not be sent.",
        "the device is being reset, or its firmware failed",
        do=LOST,
    ),
    "ACL_ERROR_RT_COPY_DATA": says(
        "Data could not be copied between runtime and driver.",
        "a host address that is not valid in this process",
        do="check that every host array lives until the stream has been synchronized.",
    ),
    "ACL_ERROR_RT_DEVICE_MEM_ERROR": says(
        "The device's memory is faulty.",
        "errors in the memory that could not be corrected",
        do=_MEMORY,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR": says(
        "A memory cell of the device has more wrong bits than can be corrected.",
        "failing memory",
        do=_MEMORY,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR": says(
        "A failure that may come from the device's memory.",
        "failing memory",
        "a kernel that read an address outside its tensors",
        do=_MEMORY,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_LINK_ERROR": says(
        "A link between devices failed.",
        "a cable, a port or the device at the other end",
        do=_LINK,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_SUSPECT_REMOTE_ERROR": says(
        "A failure that probably began on another device.",
        "the device at the other end of a link failed",
        do="look at the reports of the other devices; the first failure is the cause.",
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_DRV_INTERNAL_ERROR": says(
        "The driver failed with a code that the runtime has no name for.",
        "/dev/davinci_manager or a /dev/davinci node cannot be opened: it is missing, or this user "
        "is not in its group",
        "another container holds the device",
        "the container was started without the driver's device nodes",
        "the driver is not loaded, or broken after an update of the kernel",
        do="the driver failed; check that the device nodes exist, that this user may open them, "
        "and that no other container holds the device.",
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_AICPU_INTERNAL_ERROR": says(
        "The software on the device's CPUs failed.",
        "AI CPU operators of another CANN version",
        do=AICPU,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_SOCKET_CLOSE": says(
        "The connection to the device's software was closed.",
        "its process on the device ended",
        "the device was reset",
        do=LOST,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR": says(
        "The device's CPUs could not load their operators.",
        "the operator package is missing, unreadable, or of another version",
        do=AICPU,
    ),
    "ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED": says(
        "The capture broke off earlier; nothing can be added to it.",
        "a call that is forbidden in a capture was made",
        do="end the capture, find the call that failed first, and capture again.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_COMM_OP_RETRY_FAIL": says(
        "A collective operator failed, also when it was tried again.",
        "a link between devices failed",
        "one of the ranks has ended",
        do=_LINK,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT": says(
        "The process could not be held for a snapshot in time.",
        "work on the device did not come to an end",
        do=_SNAPSHOT,
    ),
    "ACL_ERROR_SNAPSHOT_LOCK_FAILED": says(
        "The process could not be held for a snapshot.",
        "it is held already",
        do=_SNAPSHOT,
    ),
    "ACL_ERROR_SNAPSHOT_UNLOCK_FAILED": says(
        "The process could not be let go after a snapshot.",
        "it was not held, or a step in between failed",
        do=_SNAPSHOT,
    ),
    "ACL_ERROR_SNAPSHOT_BACKUP_FAILED": says(
        "The device's state could not be saved.",
        "the host's memory does not suffice",
        "the process was not held first",
        do=_SNAPSHOT,
    ),
    "ACL_ERROR_SNAPSHOT_RESTORE_FAILED": says(
        "The device's state could not be restored.",
        "another chip, driver or CANN version than when it was saved",
        do="restore on a device of the same chip with the same driver and CANN.",
    ),
    "ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED": says(
        "The host memory, or a part of it, is registered already.",
        "it was registered twice",
        do="register each range of host memory once.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_HOST_MEMORY_NOT_REGISTERED": says(
        "The host memory is not registered.",
        "it was unregistered before, or is another address",
        do="pass the very address that was registered.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_SNAPSHOT_CALLBACK_FAILED": says(
        "A callback of the snapshot failed.",
        "the program's own function returned an error",
        do="look at what the callback does.",
    ),
    "ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED": says(
        "A callback of the snapshot could not be registered.",
        "it is registered already",
        do="register each callback once, before the snapshot.",
    ),
    "ACL_ERROR_RT_L3_PORT_ERROR": says(
        "A network port of the device failed.",
        "a cable, the port or the switch",
        do=_LINK,
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_CCU_TIMEOUT": says(
        "The device's communication unit did not finish in time.",
        "one of the ranks has not come to the same operator",
        "a link between devices failed",
        do="look at the reports of the other ranks; the first failure is the cause.",
        raises=KernelError,
    ),
    "ACL_ERROR_RT_CCU_EXCEPTION": says(
        "The device's communication unit failed.",
        "memory of another rank was freed too early",
        "a link between devices failed",
        do="look at the reports of the other ranks; the first failure is the cause.",
        raises=KernelError,
    ),
}
