# SPDX-License-Identifier: Apache-2.0
"""What the layers below and beside the runtime say: driver, device management, message codes.

These are not status codes of the C interface, but people meet them: in the driver's log, in what
``npu-smi`` prints, and at the beginning of CANN's own error texts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pyaclnn.facts.explanations.entry import Explanation, says

__all__ = ["DEVICE_MANAGEMENT", "DRIVER", "MESSAGES", "DriverCode"]


class DriverCode(NamedTuple):
    """A code of the driver.

    Attributes:
        name: The name in the driver's headers.
        becomes: The name of the status code that the runtime makes of it.
        explanation: What it says.
    """

    name: str
    becomes: str
    explanation: Explanation


_NODES: Final = (
    "look at `ls -l /dev/davinci*`: the nodes must exist, belong to a group of this user, and be "
    "passed to the container."
)
_SMI: Final = "look at `npu-smi info`, outside the container."
_LOG: Final = "read CANN's log (plog) and `dmesg` of the same minute."
_SHARE: Final = "stop the process or container that holds the device, or enable device sharing."
_UNNAMED: Final = "ACL_ERROR_RT_DRV_INTERNAL_ERROR"


_OUT_OF_MEMORY: Final = says(
    "The driver has no memory to give.",
    "this process, or another on the device, holds it",
    do="release device memory; `npu-smi info -t proc-mem -i ID` shows who holds it.",
)

# CANN: driver pkg_inc/ascend_hal_error.h; what becomes of them: runtime errcode_manage.cc.
DRIVER: Final[dict[int, DriverCode]] = {
    1: DriverCode(
        "DRV_ERROR_NO_DEVICE",
        "ACL_ERROR_RT_NO_DEVICE",
        says("The driver sees no device.", "no NPU, or none passed to the container", do=_NODES),
    ),
    2: DriverCode(
        "DRV_ERROR_INVALID_DEVICE",
        "ACL_ERROR_RT_INVALID_DEVICEID",
        says("There is no device of that number.", "fewer devices than expected", do=_SMI),
    ),
    3: DriverCode(
        "DRV_ERROR_INVALID_VALUE",
        "ACL_ERROR_RT_PARAM_INVALID",
        says(
            "The driver cannot take an argument.",
            "an address that was freed, freed twice, or never allocated",
            do="find who frees or passes that address.",
        ),
    ),
    4: DriverCode(
        "DRV_ERROR_INVALID_HANDLE",
        "ACL_ERROR_RT_INVALID_HANDLE",
        says("A handle is not alive.", "the object was destroyed", do="see who destroyed it."),
    ),
    6: DriverCode("DRV_ERROR_OUT_OF_MEMORY", "ACL_ERROR_RT_MEMORY_ALLOCATION", _OUT_OF_MEMORY),
    7: DriverCode(
        "DRV_ERROR_INNER_ERR",
        _UNNAMED,
        says(
            "The driver failed inside.",
            "/dev/davinci_manager cannot be opened: missing, or not permitted to this user",
            do=_NODES,
        ),
    ),
    8: DriverCode(
        "DRV_ERROR_PARA_ERROR",
        _UNNAMED,
        says("The driver cannot take a parameter.", "driver and CANN do not fit together", do=_LOG),
    ),
    13: DriverCode(
        "DRV_ERROR_BUSY",
        _UNNAMED,
        says("The device is busy.", "another process opens or resets it now", do=_SHARE),
    ),
    14: DriverCode("DRV_ERROR_NO_RESOURCES", "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL", _OUT_OF_MEMORY),
    16: DriverCode(
        "DRV_ERROR_WAIT_TIMEOUT",
        "ACL_ERROR_RT_REPORT_TIMEOUT",
        says("The device did not answer in time.", "it is busy, or hangs", do=_SMI),
    ),
    17: DriverCode(
        "DRV_ERROR_IOCRL_FAIL",
        _UNNAMED,
        says(
            "A request to the kernel module failed.",
            "the module was built for another kernel",
            "the container may not use the device",
            do="compare `uname -r` with the kernel the driver was installed for.",
        ),
    ),
    25: DriverCode(
        "DRV_ERROR_SOCKET_CLOSE",
        "ACL_ERROR_RT_SOCKET_CLOSE",
        says("The connection to the device closed.", "its software ended", do=_SMI),
    ),
    33: DriverCode(
        "DRV_ERROR_BUS_DOWN",
        "ACL_ERROR_RT_LOST_HEARTBEAT",
        says("The bus to the device is down.", "the card failed or was reset", do=_SMI),
    ),
    37: DriverCode(
        "DRV_ERROR_OVER_LIMIT",
        "ACL_ERROR_RT_OVER_LIMIT",
        says("A limit is reached.", "objects are never released", do="release what is not needed."),
    ),
    40: DriverCode("DRV_ERROR_MALLOC_FAIL", "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL", _OUT_OF_MEMORY),
    46: DriverCode(
        "DRV_ERROR_OPER_NOT_PERMITTED",
        "ACL_ERROR_RT_NO_PERMISSION",
        says(
            "This user may not do that.",
            "the user is not in the driver's group",
            do="add the user to the group named in /etc/ascend_install.info and log in again.",
        ),
    ),
    53: DriverCode(
        "DRV_ERROR_OPEN_FAILED",
        _UNNAMED,
        says("A device node cannot be opened.", "missing, or not permitted", do=_NODES),
    ),
    58: DriverCode(
        "DRV_ERROR_MEMORY_OPT_FAIL",
        "ACL_ERROR_RT_PARAM_INVALID",
        says("A memory operation failed.", "a wrong address or size", do="check both."),
    ),
    87: DriverCode(
        "DRV_ERROR_RESOURCE_OCCUPIED",
        _UNNAMED,
        says("The device is held by another container.", "one container at a time", do=_SHARE),
    ),
    88: DriverCode(
        "DRV_ERROR_PERMISSION",
        _UNNAMED,
        says("This user may not open the device.", "the wrong group", do=_NODES),
    ),
    89: DriverCode(
        "DRV_ERROR_RESUME",
        "ACL_ERROR_RT_TIMEOUT",
        says("The device is being recovered.", "a fault just before", do="try again later."),
    ),
    0xFFFE: DriverCode(
        "DRV_ERROR_NOT_SUPPORT",
        "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
        says(
            "The driver does not know the request.",
            "it is older than this CANN needs",
            do="upgrade driver and firmware to those that this CANN asks for.",
        ),
    ),
}
"""The driver's codes by number."""

# CANN: DCMI interface reference; npu-smi prints them after "ret is".
DEVICE_MANAGEMENT: Final[dict[int, Explanation]] = {
    -8001: says(
        "A parameter is wrong.",
        "driver and npu-smi are of different versions, as after a broken update",
        do="install the driver package again.",
    ),
    -8002: says(
        "This user may not do that.", "only root, or only outside containers", do="run it as root."
    ),
    -8003: says("A memory operation failed.", "the host's memory is exhausted", do=_LOG),
    -8004: says("A bounds-checked copy failed.", "driver and npu-smi do not fit", do=_LOG),
    -8005: says(
        "Device management failed inside.",
        "another container holds the device",
        "the container lacks the driver's mounts",
        do="mount the driver's folder and pass its device nodes to the container.",
    ),
    -8006: says("The device did not answer in time.", "it is busy, or hangs", do=_LOG),
    -8007: says(
        "There is no device of that number.", "a wrong id", do="see `npu-smi info -l` for the ids."
    ),
    -8008: says("The device does not exist.", "it fell off the bus", do=_LOG),
    -8009: says("A request to the kernel module failed.", "a module of another kernel", do=_LOG),
    -8010: says("A message could not be sent.", "the device's firmware failed", do=_LOG),
    -8011: says("No message was received.", "the device's firmware failed", do=_LOG),
    -8012: says("The device is not ready.", "it is still starting", do="wait a minute, try again."),
    -8013: says("Not possible in a container.", "host-only", do="run it outside the container."),
    -8015: says("The reset failed.", "processes still use the device", do=_SHARE),
    -8016: says("The operation was aborted.", "another one came in between", do="try again."),
    -8017: says("An upgrade is running.", "firmware is being written", do="wait until it is done."),
    -8020: says("The device is occupied.", "another process or container holds it", do=_SHARE),
    -8023: says("A configuration is missing.", "an incomplete driver", do="install it again."),
    -8255: says("Not supported.", "this chip or driver lacks it", do="upgrade the driver."),
}
"""The codes of the device management interface by number."""

MESSAGES: Final[dict[str, Explanation]] = {
    "EE1002": says(
        "A synchronize ran out of time.", "work that hangs", do="find the operator that hangs."
    ),
    "EE1010": says(
        "A stream is not of the current context.",
        "devices mixed up",
        do="use one device's objects.",
    ),
    "EE1015": says(
        "The driver is too old for this CANN.",
        "CANN was upgraded without driver and firmware",
        do="upgrade driver and firmware to those that this CANN asks for.",
    ),
    "EE1016": says("Calls in the wrong order.", "see the text", do="read the text behind it."),
    "EE1017": says(
        "A handle was destroyed, or is of another kind.",
        "used after its end",
        do="see who closed it.",
    ),
    "EE1018": says(
        "Calls in the wrong order.", "an event that was never recorded", do="record it first."
    ),
    "EE1023": says(
        "A resource is exhausted.", "objects never closed", do="close what is not used."
    ),
    "EE2002": says(
        "An environment variable has a value that it cannot have.",
        "ASCEND_RT_VISIBLE_DEVICES with spaces, repeats or a falling order",
        do="correct the variable that the text names.",
    ),
    "EE4": says("The runtime: resources and environment.", do="read the text behind it."),
    "EE9999": says("The runtime failed inside.", "see the first lines of the text", do=_LOG),
    "EE": says("The runtime.", do="read the text behind it."),
    "EH9999": says(
        "The host interface failed inside.",
        "a Python package that the operator compiler needs is missing",
        do="install what CANN's compiler needs: numpy, decorator, sympy, attrs, psutil, scipy.",
    ),
    "EH": says(
        "The host interface: an argument or a file is wrong.", do="correct what the text names."
    ),
    "EZ": says(
        "An operator or its kernel.",
        "data types or formats that this chip does not support",
        do="compare the arguments with the operator's documentation.",
    ),
    "E20002": says(
        "The operators' folder cannot be used.",
        "ASCEND_OPP_PATH is wrong, or this user may not read it",
        do="source set_env.sh and check that this user can read the opp folder.",
    ),
    "E4": says("The operator compiler.", do="read the text behind it."),
    "EP": says("Dumping of tensors.", do="read the text behind it."),
    "EK": says("Profiling.", do="read the text behind it."),
}
"""Beginnings of CANN's error texts; the longest that fits counts."""
