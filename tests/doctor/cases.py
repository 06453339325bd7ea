# SPDX-License-Identifier: Apache-2.0
"""The ways in which a machine can be broken, and what the doctor must say of each."""

from __future__ import annotations

from dataclasses import dataclass

from pyaclnn.doctor.checks.options import Level, Options
from pyaclnn.doctor.report.record import Status

from . import breakages as b
from .installations import LAYOUTS

__all__ = ["CASES", "Case"]

QUICK = Options(level=Level.QUICK)
DEVICE = Options(deadline=20.0, grace=1.0, skip=("NUM",))
IMPATIENT = Options(deadline=2.5, grace=0.5, skip=("NUM",))
RMS = "NUM-rms_norm@0"
ONE_OPERATOR = Options(deadline=20.0, grace=1.0, only=("NUM-rms_norm",))


@dataclass(frozen=True)
class Case:
    """One broken machine.

    Attributes:
        name: What is broken.
        broken: Breaks it.
        check: The first check that is not content.
        words: A pattern that its summary, causes or next step must contain.
        status: The status of that check.
        code: The exit status of the run.
        options: What the doctor is asked to do.
        layouts: In which layouts.
        devices: How many devices the machine has.
    """

    name: str
    broken: b.Break
    check: str
    words: str
    status: Status = Status.FAIL
    code: int = 1
    options: Options = QUICK
    layouts: tuple[str, ...] = ("8.1",)
    devices: int = 1


def visible(text: str, words: str) -> Case:
    broken = b.setting(ASCEND_RT_VISIBLE_DEVICES=text)
    return Case(f"visible devices {text!r}", broken, "ENV-002", words, devices=3)


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
        b.fault(fault),
        check,
        words,
        status,
        code,
        options,
        devices=devices,
    )


WARN, CRASH, TIMEOUT, ERROR = Status.WARN, Status.CRASH, Status.TIMEOUT, Status.ERROR
PACKAGES = Options(deadline=20.0, grace=1.0, only=("PKG",))
NUMBERS_201 = Options(deadline=20.0, grace=1.0, only=("NUM-201",))

CASES = [
    # ---- environment
    Case("not sourced", b.not_sourced, "ENV-001", "was not sourced", layouts=LAYOUTS),
    Case("half sourced", b.half_sourced, "ENV-001", "half of CANN's environment", layouts=LAYOUTS),
    Case("stale variables", b.stale_home, "ENV-001", "does not exist.*removed or updated"),
    Case("two homes", b.two_homes, "ENV-001", "two different installations", layouts=LAYOUTS),
    Case(
        "operators of another toolkit",
        b.foreign_operators,
        "ENV-001",
        "ASCEND_OPP_PATH belongs to another",
        layouts=("8.5",),
    ),
    Case(
        "two toolkits, the other first",
        b.other_toolkit_in_front,
        "ENV-003",
        "programs load CANN from .*other",
        layouts=("8.1", "9.1"),
    ),
    Case("sourced twice", b.sourced_twice, "ENV-003", "2 different CANNs", WARN, code=0),
    Case("library path overwritten", b.library_path_overwritten, "ENV-003", "does not lead to"),
    Case(
        "a value CANN refuses",
        b.setting(ACLNN_CACHE_LIMIT="many"),
        "ENV-004",
        "ACLNN_CACHE_LIMIT is 'many'",
    ),
    Case("log level out of range", b.setting(ASCEND_GLOBAL_LOG_LEVEL="7"), "ENV-004", "0 .debug"),
    Case("log not writable", b.log_not_writable, "ENV-004", "cannot write its log", WARN, code=0),
    visible("", "is empty, so no device"),
    visible("0, 1", "reading stops at ' '"),
    visible("1,0", "0 stands behind 1, so no device"),
    visible("0,1,1", "1 is there twice, so no device"),
    visible("0,7", "there is no device 7"),
    visible("all", "reading stops at 'a'"),
    visible("0;1", "reading stops at ';'"),
    visible("-1", "reading stops at '-'"),
    # ---- what is installed
    Case(
        "nothing at all",
        b.nothing_at_all,
        "CANN-001",
        "no NPU software.*pyaclnn doctor --backend mock",
        code=4,
    ),
    Case(
        "an NPU without CANN",
        b.no_cann,
        "CANN-001",
        "has an NPU, but CANN.*not installed",
        code=4,
        layouts=("8.1",),
    ),
    Case("a link to nowhere", b.dangling_root, "CANN-001", "cannot be used.*link to 8.9.9, which"),
    Case("a link to itself", b.looping_root, "CANN-001", "cannot be used.*leads to itself"),
    Case("no libraries", b.emptied, "CANN-001", "cannot be used.*none of CANN's libraries"),
    Case(
        "a version without a link",
        b.unlinked,
        "CANN-001",
        "cannot be used: /usr/local/Ascend/.*no link.*source .*set_env.sh",
        layouts=LAYOUTS,
    ),
    *(
        Case(
            f"{name} alone",
            b.runtime_package_alone(name),
            "CANN-001",
            f"cannot be used: /usr/local/Ascend/{name}/.*source /usr/local/Ascend/{name}/set_env",
        )
        for name in ("nnae", "nnrt")
    ),
    Case(
        "only on the library path",
        b.library_path_alone,
        "CANN-001",
        "is on LD_LIBRARY_PATH.*source .*srv/npu/set_env.sh",
    ),
    Case("a variable alone", b.home_gone, "CANN-001", "cannot be used: ASCEND_HOME_PATH names"),
    Case(
        "operator packages gone",
        b.operators_gone,
        "ENV-001",
        "operator packages is gone.*install the operator package",
        layouts=LAYOUTS,
    ),
    Case("the mock in CANN's place", b.the_mock_instead, "MOCK-001", "simulated NPU"),
    Case("no built-in operators", b.no_built_in_operators, "CANN-002", "no built-in operators"),
    Case(
        "libraries of another group",
        b.private_libraries,
        "CANN-003",
        "may not read.*usermod",
        layouts=("8.1", "9.1"),
    ),
    Case("operators of another user", b.private_operators, "CANN-003", "may not read .*built-in"),
    Case(
        "stale kernels", b.old_kernels, "CANN-004", "different versions.*was not", layouts=LAYOUTS
    ),
    Case(
        "kernels of a beta",
        b.slightly_old_kernels,
        "CANN-004",
        "ops_nn 9.1.0-beta.3",
        WARN,
        code=0,
        layouts=("9.1",),
    ),
    Case(
        "no version files",
        b.no_versions,
        "CANN-004",
        "does not say its version",
        WARN,
        code=0,
        layouts=("9.1",),
    ),
    # ---- libraries
    Case("no runtime", b.remove_runtime, "ENV-003", "does not lead to", layouts=LAYOUTS),
    Case("no base", b.remove_base, "LIB-001", "libnnopbase.so. is missing", layouts=LAYOUTS),
    Case(
        "no operators",
        b.remove_operators,
        "LIB-001",
        "operators .libopapi.so.* is missing.*operator package",
        layouts=LAYOUTS,
    ),
    Case("cut short", b.truncated, "LIB-001", "unusable: the file is (cut short|damaged).*disk"),
    Case("empty library", b.empty, "LIB-001", "unusable: the file is empty"),
    Case("no library at all", b.no_library, "LIB-001", "no ELF library"),
    Case("another processor", b.other_processor, "LIB-001", "is for machine 8"),
    Case("dangling link", b.dangling, "LIB-001", "libnnopbase.so. is missing"),
    Case(
        "stubs first",
        b.stubs_in_front,
        "LIB-002",
        "stand-in for linking.*stubs' folder",
        layouts=("8.1", "8.5"),
    ),
    Case(
        "stubs for want of a driver",
        b.stubs_for_want_of_a_driver,
        "LIB-002",
        "libascend_hal.so would be loaded from .*devlib",
        layouts=("9.1",),
    ),
    Case(
        "inner library missing",
        b.remove_inner_library,
        "LIB-003",
        "libvendorrt.so cannot be found",
        layouts=("8.1", "9.1"),
    ),
    Case(
        "driver's library gone",
        b.driver_library_gone,
        "LIB-003",
        "libascend_hal.so, the driver's library, does not exist.*not installed",
    ),
    Case(
        "driver's library not on the path",
        b.driver_not_on_path,
        "LIB-003",
        "installed but not found.*export LD_LIBRARY_PATH",
    ),
    Case(
        "an operator is missing",
        b.missing_operator,
        "SYM-001",
        "aclnnRmsNormGrad is in none.*8.1",
        layouts=LAYOUTS,
    ),
    Case(
        "a runtime function is missing",
        b.missing_runtime_function,
        "SYM-001",
        "aclrtCreateEventExWithFlag is in none.*older than 8.1",
    ),
    Case(
        "changed signature",
        b.changed_signature,
        "SYM-002",
        "aclnnRmsNormGetWorkspaceSize of this CANN takes 8 arguments, not 7",
        layouts=LAYOUTS,
    ),
    Case("a pipe for a library", b.pipe_for_library, "LIB-001", "no ordinary file"),
    Case("a pipe for a header", b.pipe_for_header, "SYM-002", "no ordinary file", WARN, code=0),
    Case(
        "changed type", b.changed_type, "SYM-002", r"argument 3 is aclTensorList\*, not aclTensor"
    ),
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
        "mock_call_begun.*versions are mixed",
        options=DEVICE,
    ),
    Case(
        "no room for children",
        b.no_room_for_children,
        "DEV-101",
        "no child process.*disk",
        ERROR,
        code=3,
        options=DEVICE,
    ),
    vendor("load-crash", "DEV-101", "SIGSEGV", CRASH),
    vendor("init-segv", "DEV-102", "SIGSEGV.*, in aclInit of libascendcl.so", CRASH),
    vendor("init-abort", "DEV-102", r"SIGABRT.*, in aclInit.*abort\(\)", CRASH),
    vendor("init-exit", "DEV-102", "status 0, as if all were well", CRASH),
    vendor("init-exit-3", "DEV-102", "with status 3", CRASH),
    vendor("init-hang", "DEV-102", "no answer for.*, in aclInit of lib", TIMEOUT, IMPATIENT),
    vendor("init-507008", "DEV-102", "507008.*no driver"),
    vendor("init-500000", "DEV-102", "500000.*no driver"),
    vendor("no-soc-name", "DEV-102", "cannot tell the name of the chip"),
    vendor("count-507899", "DEV-103", "507899.*cannot be opened"),
    vendor("count-0", "DEV-103", "no device to use", code=4),
    vendor("count-fewer", "DEV-103", "counts 1 devices.*there should be 2", devices=2),
    # ---- the device
    vendor("open-hang", "DEV-104@0", "no answer for.*hangs", TIMEOUT, IMPATIENT),
    vendor("open-hang-deaf", "DEV-104@0", "no answer for.*hangs", TIMEOUT, IMPATIENT),
    vendor("open-hang-with-child", "DEV-104@0", "no answer for.*hangs", TIMEOUT, IMPATIENT),
    vendor("open-507033", "DEV-104@0", "507033.*another process or container holds"),
    vendor("open-507033-of-1", "DEV-104@1", "507033", devices=2),
    vendor("malloc-207001", "DEV-107@0", "207001.*another process uses"),
    vendor("malloc-null", "DEV-107@0", "aclrtMalloc answers success and gives NULL"),
    vendor("malloc-same", "DEV-107@0", "gives the same memory twice"),
    vendor("little-memory", "DEV-104@0", "only 20 MiB are free.*another process", WARN, code=0),
    vendor("memory-flip", "DEV-107@0", "1 of .* bytes differ.*memory is damaged"),
    vendor("late", "DEV-109@0", "still under way when aclrtSynchronizeStream returned"),
    vendor("callback-lost", "DEV-110@0", "callback was not called"),
    vendor("end-crash", "DEV-111@0", "SIGSEGV while trying: end of the process", CRASH),
    vendor("end-hang", "DEV-111@0", "no answer for", TIMEOUT, IMPATIENT),
    # ---- numbers
    vendor("op-zeros", RMS, "all zero.*does nothing", options=ONE_OPERATOR),
    vendor("op-nan", RMS, "NaN.*leaves part of its output unwritten", options=ONE_OPERATOR),
    vendor("op-nothing", RMS, "nothing was written.*never ran", options=ONE_OPERATOR),
    vendor("op-one", RMS, "one wrong element.*fault of the hardware", options=ONE_OPERATOR),
    vendor("op-half", RMS, "exact as float16.*lower precision", options=ONE_OPERATOR),
    vendor("late", RMS, "too late.*returns before its work is done", options=ONE_OPERATOR),
    vendor("op-slow", RMS, "right, but slow", WARN, ONE_OPERATOR, code=0),
    vendor("op-flaky", "NUM-201@0", "different bits.*now and then", options=NUMBERS_201),
    vendor("op-561003", RMS, "561003.*operator package", options=ONE_OPERATOR),
    vendor("op-segv", RMS, "SIGSEGV while trying: rms_norm", CRASH, ONE_OPERATOR),
    vendor(
        "op-hang",
        RMS,
        "no answer for.*rms_norm",
        TIMEOUT,
        Options(deadline=2.5, grace=0.5, only=("NUM-rms_norm", "NUM-rms_norm_grad")),
    ),
]
