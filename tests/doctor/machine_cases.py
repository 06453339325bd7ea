# SPDX-License-Identifier: Apache-2.0
"""The ways in which the machine, its driver, its devices and its operators can be broken."""

from __future__ import annotations

from pyaclnn.health.checks.context import Options
from pyaclnn.health.report.record import Status

from . import breakages, machine_breakages as b
from .case import OF_THE_TESTS, Case
from .installations import LAYOUTS

__all__ = ["MACHINE"]

DEVICE = Options(grace=1.0, skip=("NUM", *OF_THE_TESTS))
IMPATIENT = Options(deadline=20.0, grace=0.5, skip=("NUM", *OF_THE_TESTS))
PACKAGES = Options(grace=1.0, only=("PKG",))
ONE_OPERATOR = Options(grace=1.0, only=("NUM-rms_norm",))
REPEATED = Options(grace=1.0, only=("NUM-rms_norm",), iterations=8)
NUMBERS_201 = Options(grace=1.0, only=("NUM-201",))
RMS = "NUM-rms_norm@0"
AT = r"at libascendcl.so\+0x[0-9a-f]+"
IN_RMS = r"in aclnnRmsNorm of libopapi.so, at libopapi.so\+0x[0-9a-f]+"
"""Place of a fault, by function, library and offset."""
WARN, CRASH, TIMEOUT, ERROR = Status.WARN, Status.CRASH, Status.TIMEOUT, Status.ERROR


def vendor(
    fault: str,
    check: str,
    words: str,
    status: Status = Status.FAIL,
    options: Options = DEVICE,
    code: int = 1,
    devices: int = 1,
) -> Case:
    return Case(
        f"vendor's fault {fault}",
        breakages.fault(fault),
        check,
        words,
        status,
        code,
        options,
        devices=devices,
    )


MACHINE = [
    # ---- machine and driver
    Case(
        "no device node", b.no_nodes, "HW-001", "no NPU is visible.*driver is not installed", code=4
    ),
    Case(
        "container without nodes",
        b.container_without_nodes,
        "HW-001",
        "in this container.*--device /dev/davinci0",
        code=4,
    ),
    Case("a folder for a node", b.node_is_a_folder, "HW-001", "is a folder, not a device"),
    Case(
        "a file for a node", b.node_is_a_file, "HW-006", "davinci0 is not a device: ordinary file"
    ),
    Case(
        "a node of an unloaded driver",
        b.driver_unloaded,
        "HW-006",
        "no driver of this kernel has the number 236:0 of /dev/davinci0.*load the driver again",
    ),
    Case(
        "a cgroup that forbids the node",
        b.forbidden_by_cgroup,
        "HW-006",
        "cgroup forbid /dev/davinci0 .236:0.*--device",
    ),
    Case(
        "driver updated without a reboot",
        b.updated_driver,
        "DRV-004",
        "drv_pcie_host differs from .*drv_pcie_host.ko.*reboot",
    ),
    Case(
        "driver built for another kernel",
        b.driver_of_another_kernel,
        "DRV-004",
        "built for the kernel 4.19.90-1; this is",
        WARN,
        code=0,
    ),
    Case("NPUs on the bus without nodes", b.undriven, "HW-001", "PCIe has 2 NPUs.*lspci", code=4),
    Case(
        "a link of few lanes",
        b.narrow_link,
        "HW-008",
        "NPU at 0000:82:00.0 has 4 lanes of 16 GT/s, of 16 lanes of 16 GT/s",
        WARN,
        code=0,
    ),
    Case("a slow link", b.slow_link, "HW-008", "82:00.0 has 16 lanes of 2.5 GT/s", WARN, code=0),
    Case(
        "errors of a link",
        b.errors_of_a_link,
        "HW-008",
        "PCIe counts 5 uncorrected errors of the NPU at 0000:82:00.0",
        WARN,
        code=0,
    ),
    Case("no davinci_manager", b.no_manager, "HW-002", "davinci_manager is missing"),
    Case(
        "container without manager",
        b.container_without_manager,
        "HW-002",
        "davinci_manager is missing.*--device /dev/davinci_manager",
    ),
    Case(
        "wrong group",
        b.wrong_group,
        "HW-003",
        "not in the group HwHiAiUser.*usermod",
        layouts=LAYOUTS,
    ),
    Case("root's own", b.roots_own, "HW-003", "may not open.*administrator.*--install-for-all"),
    Case(
        "garbled driver version",
        b.garbled_driver_version,
        "DRV-001",
        "says no version.*npu-smi info",
        WARN,
        code=0,
    ),
    Case(
        "container without driver",
        b.container_without_driver,
        "HW-004",
        "not mounted.*-v /usr/local/Ascend/driver",
    ),
    Case(
        "container without tools",
        b.container_without_tools,
        "HW-004",
        "dcmi is not mounted",
        WARN,
        code=0,
    ),
    Case(
        "driver's version not mounted",
        b.no_driver_version,
        "HW-004",
        "version.info is not mounted",
        WARN,
        code=0,
    ),
    Case(
        "a folder for a mounted file",
        b.folder_for_a_mounted_file,
        "HW-004",
        "ascend_install.info is a folder in this container.*on the host",
        WARN,
        code=0,
    ),
    Case("no driver", b.no_driver, "DRV-001", "driver is not installed"),
    Case("other firmware", b.other_firmware, "DRV-001", "different releases", WARN, code=0),
    Case("no kernel modules", b.no_modules, "DRV-002", "kernel was updated", WARN, code=0),
    Case("driver's interface too old", b.old_interface, "DRV-003", "older than CANN's runtime"),
    Case(
        "driver older than documented",
        b.old_driver,
        "DRV-003",
        "older than any documented",
        WARN,
        code=0,
        layouts=("8.5",),
    ),
    Case(
        "the library of another driver in front",
        b.another_driver_in_front,
        "ENV-003",
        "libascend_hal.so from /opt/driver/lib64/driver, not /usr/local/Ascend/driver",
        WARN,
        code=0,
    ),
    # ---- operator packages, Python
    Case("no kernels", b.no_kernels, "PKG-001", "no operator package is installed"),
    Case(
        "kernels for another chip",
        b.kernels_of_another_chip,
        "PKG-003",
        "for another chip.*Ascend910B3.*install Ascend-cann-kernels-910b 8.1.RC1",
        options=PACKAGES,
    ),
    Case(
        "ops for another chip",
        b.kernels_of_another_chip,
        "PKG-003",
        "install Ascend-cann-910b-ops 9.1.0",
        options=PACKAGES,
        layouts=("9.1",),
    ),
    Case(
        "a kernel without its binary",
        b.kernel_without_binary,
        "PKG-003",
        "RmsNorm of Ascend910B3 is listed and has no binary: aclnnRmsNorm answers 561003",
        WARN,
        code=0,
        options=PACKAGES,
        layouts=("8.1",),
    ),
    Case(
        "lists of kernels without their package",
        b.lists_without_binaries,
        "PKG-003",
        "LayerNorm, and . more kernels of .* has no binary: aclnnLayerNorm answers 561112",
        WARN,
        code=0,
        options=PACKAGES,
        layouts=("8.1",),
    ),
    Case(
        "chip unknown to CANN",
        b.unknown_chip,
        "PKG-002",
        "does not know the chip Ascend910B3",
        options=PACKAGES,
    ),
    Case(
        "Python package missing",
        b.python_without_scipy,
        "PY-001",
        "pip install scipy",
        WARN,
        code=0,
    ),
    Case(
        "Python with torch_npu alone",
        b.prepared_python,
        "PY-001",
        "pip install decorator",
        WARN,
        code=0,
    ),
    Case("NumPy too new", b.numpy_2, "PY-002", "NumPy 2.1.0 is newer", WARN, code=0),
    # ---- loading and initialising
    Case(
        "a library asks in vain",
        b.unresolved,
        "DEV-101",
        "mock_operator_gone.*versions are mixed",
        options=DEVICE,
    ),
    Case(
        "custom operators of another processor",
        b.custom_operators_of_another_processor,
        "EXT-002",
        "libcust_opapi.so: the library is for machine 8",
        WARN,
        options=DEVICE,
    ),
    Case(
        "no room for children",
        b.no_room_for_children,
        "SYS-002",
        "no temporary file can be written.*disk",
        ERROR,
        code=3,
        options=DEVICE,
    ),
    vendor("load-crash", "DEV-101", rf"SIGSEGV.*, {AT}", CRASH),
    vendor("init-segv", "DEV-102", rf"SIGSEGV.*, in aclInit of libascendcl.so, {AT}", CRASH),
    vendor(
        "init-abort", "DEV-102", rf"SIGABRT.*, in aclInit of libascendcl.so, {AT}.*abort\(\)", CRASH
    ),
    vendor("init-exit", "DEV-102", "status 0, as if all were well", CRASH),
    vendor("init-exit-3", "DEV-102", "with status 3", CRASH),
    vendor(
        "init-hang",
        "DEV-102",
        rf"no answer for.*, in aclInit of libascendcl.so, {AT}",
        TIMEOUT,
        IMPATIENT,
    ),
    vendor("init-507008", "DEV-102", "507008.*no driver"),
    vendor("init-500000", "DEV-102", "500000.*no driver"),
    vendor("init-100002", "DEV-102", "100002.*nothing in this process.*LD_PRELOAD"),
    vendor("no-soc-name", "DEV-102", "cannot tell the name of the chip"),
    vendor("count-507899", "DEV-103", "507899.*cannot be opened"),
    vendor("count-0", "DEV-103", "no device to use", code=4),
    vendor("count-fewer", "DEV-103", "counts 1 devices.*there should be 2", devices=2),
    # ---- the device
    vendor("open-hang", "DEV-104@0", "no answer for.*hangs", TIMEOUT, IMPATIENT),
    vendor("open-spin", "DEV-104@0", rf"no answer for.*, {AT}", TIMEOUT, IMPATIENT),
    vendor("open-hang-deaf", "DEV-104@0", "no answer for.*hangs", TIMEOUT, IMPATIENT),
    vendor("open-hang-with-child", "DEV-104@0", "no answer for.*hangs", TIMEOUT, IMPATIENT),
    vendor("open-507033", "DEV-104@0", "507033.*another process or container holds"),
    vendor("open-507033-of-1", "DEV-104@1", "507033", devices=2),
    vendor("malloc-107002", "DEV-107@0", "107002.*two copies of the runtime"),
    vendor("malloc-207001", "DEV-107@0", "207001.*another process holds"),
    vendor("malloc-null", "DEV-107@0", "aclrtMalloc answers success and gives NULL"),
    vendor("malloc-same", "DEV-107@0", "gives the same memory twice"),
    # The simulated device has half the memory of the machine that the tests run on, 64 GiB at most.
    vendor("little-memory", "DEV-104@0", r"of \d\d?\.\d GiB only 20 MiB.*another", WARN, code=0),
    vendor("memory-flip", "DEV-107@0", "1 of .* bytes differ.*memory is damaged"),
    vendor("late", "DEV-109@0", "still under way when aclrtSynchronizeStream returned"),
    vendor("callback-lost", "DEV-110@0", "callback was not called"),
    vendor("end-crash", "DEV-111@0", rf"SIGSEGV while trying: end of the process, {AT}", CRASH),
    vendor("end-hang", "DEV-111@0", "no answer for", TIMEOUT, IMPATIENT),
    # ---- numbers
    vendor("op-zeros", RMS, "all zero.*does nothing", options=ONE_OPERATOR),
    vendor("op-nan", RMS, "NaN.*leaves part of its output unwritten", options=ONE_OPERATOR),
    vendor("op-nothing", RMS, "nothing was written.*never ran", options=ONE_OPERATOR),
    vendor("op-one", RMS, "one wrong element.*fault of the hardware", options=ONE_OPERATOR),
    vendor("op-seldom", RMS, "now and then: in . of 8 iterations.*hardware", options=REPEATED),
    vendor("op-half", RMS, "exact as float16.*lower precision", options=ONE_OPERATOR),
    vendor("late", RMS, "too late.*returns before its work is done", options=ONE_OPERATOR),
    vendor("op-slow", RMS, "right, but slow", WARN, ONE_OPERATOR, code=0),
    vendor("op-flaky", "NUM-201@0", "different bits.*now and then", options=NUMBERS_201),
    vendor("op-161002", RMS, "161002.*of another release than its headers", options=ONE_OPERATOR),
    vendor("op-561003", RMS, "561003.*operator package", options=ONE_OPERATOR),
    vendor("op-segv", RMS, rf"SIGSEGV while trying: rms_norm, {IN_RMS}", CRASH, ONE_OPERATOR),
    vendor(
        "op-hang",
        RMS,
        rf"no answer for.*rms_norm, {IN_RMS}",
        TIMEOUT,
        Options(deadline=20.0, grace=0.5, only=("NUM-rms_norm", "NUM-rms_norm_grad")),
    ),
]
