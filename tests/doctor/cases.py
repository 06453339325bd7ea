# SPDX-License-Identifier: Apache-2.0
"""The ways in which a machine can be broken, and what the doctor must say of each."""

from __future__ import annotations

import platform

from pyaclnn.health.checks.context import Options
from pyaclnn.health.report.record import Status

from . import breakages as b
from .case import Case
from .installations import ARCH, LAYOUTS
from .machine_cases import MACHINE

__all__ = ["CASES"]

WARN = Status.WARN


def visible(text: str, words: str) -> Case:
    broken = b.setting(ASCEND_RT_VISIBLE_DEVICES=text)
    return Case(f"visible devices {text!r}", broken, "ENV-002", words, devices=3)


BY_PROCESSOR = (
    Case(
        "a damaged library for this processor",
        b.damaged_for_processor,
        "ENV-003",
        "programs load libopapi.so from .*glibc-hwcaps/x86-64-v2, not",
    ),
)
"""Those of folders that the loader has for x86-64 only."""

CASES: list[Case] = [
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
    Case(
        "a library to preload that is gone",
        b.setting(LD_PRELOAD="/gone/libjemalloc.so.2 libc.so.6"),
        "ENV-004",
        "LD_PRELOAD names '/gone/libjemalloc.so.2', which does not exist",
        WARN,
        code=0,
    ),
    Case(
        "version files of another user",
        lambda made: (made.cann / "version.cfg").chmod(0o600),
        "CANN-004",
        "may not read .*version.cfg",
    ),
    Case(
        "a folder for a file",
        b.setting(RANK_TABLE_FILE="/usr"),
        "ENV-004",
        "RANK_TABLE_FILE names '/usr', which is no file",
        WARN,
        code=0,
    ),
    Case(
        "no folder of custom operators",
        b.setting(ASCEND_CUSTOM_OPP_PATH="/usr/share"),
        "ENV-004",
        "ASCEND_CUSTOM_OPP_PATH names '/usr/share', which has no op_api",
        WARN,
        code=0,
    ),
    visible("", "is empty, so no device"),
    visible("0, 1", "reading stops at ' '"),
    visible("1,0", "0 stands behind 1, so no device"),
    visible("0,1,1", "1 is there twice, so no device"),
    visible("0,7", "there is no device 7"),
    visible("all", "reading stops at 'a'"),
    visible("0;1", "reading stops at ';'"),
    visible("-1", "reading stops at '-'"),
    visible("\uff10", "reading stops at '\uff10'"),
    Case("a copy in front", b.library_in_front, "ENV-003", "libnnopbase.so from .*copies"),
    *(BY_PROCESSOR if platform.machine() == "x86_64" else ()),
    Case(
        "a quotation mark in the library path",
        b.quoted_path,
        "ENV-003",
        "a quotation mark.*export LD_LIBRARY_PATH=.*lib64:.*driver/lib64/driver",
    ),
    Case(
        "a line break in a path",
        b.line_break_in_a_path,
        "ENV-001",
        r"latest/opp.n', which does not exist.*export ASCEND_OPP_PATH=.*opp",
    ),
    Case(
        "a library that takes CANN's place",
        b.preloaded_runtime,
        "ENV-003",
        "LD_PRELOAD puts .* in the place of CANN",
        Status.ERROR,
        code=3,
    ),
    Case(
        "an interpreter that is gone",
        b.setting(PYTHONHOME="/gone"),
        "DEV-101",
        "PYTHONHOME='/gone' keeps programs from starting",
        options=Options(only=("DEV-101",)),
    ),
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
        "stubs of a processor first",
        b.stubs_for_each_processor,
        "LIB-002",
        "would be loaded from .*devlib/linux/x86_64: a stand-in",
        layouts=("8.1", "9.1"),
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
        "inner library cut short",
        b.cut_inner_library,
        "LIB-003",
        "lib64/libvendorrt.so cannot be used: .*cut short.*; libascendcl.so needs it",
    ),
    Case(
        "operators for a newer system",
        b.for_a_newer_system,
        "LIB-003",
        r"wants GLIBC_9\.9\.9 of lib[cm].so.6, whose newest is GLIBC_2\.\d+.*newer system",
        layouts=("8.1", "9.1"),
    ),
    Case(
        "library of another package missing",
        b.needs_nnal,
        "LIB-003",
        "libatb.so cannot be found.*Ascend-cann-nnal",
    ),
    Case(
        "libraries of another release",
        b.libraries_of_another_release,
        "CANN-004",
        "CANN 8.1.RC1 has no libopapi_nn.so.*mounted or copied",
    ),
    Case(
        "logs of another user",
        b.logs_of_another_user,
        "SYS-002",
        "home/user/ascend cannot be written to: Permission denied; logs of CANN",
        WARN,
        code=0,
    ),
    Case(
        "logs by a link to nowhere",
        lambda made: (made.root / "home/user/ascend").symlink_to("/data/gone"),
        "SYS-002",
        "home/user/ascend cannot be written to: it is a link to /data/gone, which does not exist",
        WARN,
        code=0,
    ),
    Case(
        "kernels' cache of another user",
        b.cache_of_another_user,
        "SYS-002",
        "atc_data cannot be written to: Permission denied; compiled operators",
        WARN,
        code=0,
    ),
    Case(
        "ATB without its libraries",
        b.atb_without_libraries,
        "EXT-001",
        "ATB.*nnal/atb.* has no lib/libatb.so.*Ascend-cann-nnal",
        WARN,
        code=0,
    ),
    Case(
        "MindIE with a library cut short",
        b.mindie_cut_short,
        "EXT-001",
        "MindIE cannot be used: .*libmindie.so: .*cut short",
        WARN,
        code=0,
    ),
    Case(
        "custom operators gone", b.vendor_gone, "EXT-002", "vendors/gone.*not there", WARN, code=0
    ),
    Case(
        "a chip's description of another user",
        lambda made: (made.cann / ARCH / "data/platform_config/Ascend910B3.ini").chmod(0o600),
        "CANN-006",
        "this user may not read .*Ascend910B3.ini.*install CANN again",
        layouts=("8.1", "9.1"),
    ),
    Case(
        "a library of another release",
        b.base_of_another_release,
        "CANN-006",
        "libnnopbase.so is a link out of this installation",
        WARN,
        code=0,
        layouts=("8.1", "9.1"),
    ),
    Case(
        "custom operators that need what is not there",
        b.broken_custom_operators,
        "EXT-002",
        "libcust_opapi.so: it needs libgone.so",
        WARN,
        code=0,
    ),
    Case(
        "an operator compiler of another CANN",
        b.other_compiler,
        "EXT-003",
        "imports tbe from /old/python/tbe, which is not of this CANN",
        WARN,
        code=0,
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
        "aclnnRmsNormGetWorkspaceSize of this CANN differs: takes 8 arguments, not 7",
        layouts=LAYOUTS,
    ),
    Case("a pipe for a library", b.pipe_for_library, "LIB-001", "no ordinary file"),
    Case("a pipe for a header", b.pipe_for_header, "SYM-002", "no ordinary file", WARN, code=0),
    Case(
        "changed type", b.changed_type, "SYM-002", r"argument 3 \(rstd\) is .*aclTensorList \*, not"
    ),
    *MACHINE,
]
