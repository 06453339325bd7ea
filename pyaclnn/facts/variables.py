# SPDX-License-Identifier: Apache-2.0
"""Environment variables that are read: their meaning, and the visibility of their values."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.releases import DEFAULT, RELEASES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PUBLIC", "REPORTED", "VARIABLES"]

PUBLIC: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PYACLNN_BACKEND": "`cann`, `mock` (the simulated NPU), or a folder of libraries; without "
        "it, an installed CANN",
        "PYACLNN_MOCK_SOC": "the chip to simulate, default `Ascend910B3`; `pyaclnn mock chips` "
        "lists them",
        "PYACLNN_MOCK_DEVICES": "how many of them, default 2",
        "ASCEND_HOME_PATH": "where CANN is installed, as its `set_env.sh` says; the first place "
        "that is looked at",
        "ASCEND_TOOLKIT_HOME": "the same, by its older name",
        "ASCEND_OPP_PATH": "the folder of CANN's operator packages",
        "ASCEND_AICPU_PATH": "where CANN is installed, for its AI CPU kernels; set by `set_env.sh`",
        "TOOLCHAIN_HOME": "a folder of CANN's toolkit; set by the `set_env.sh` of 8.1",
        "ASCEND_CUSTOM_OPP_PATH": "folders of packages with custom operators, separated by colons",
        "ASCEND_RT_VISIBLE_DEVICES": "as in CANN: the devices to be seen, which are numbered from "
        "0 again",
        "ASCEND_VISIBLE_DEVICES": "the devices that the Ascend Docker Runtime puts into a "
        "container; CANN does not read it",
        "ASCEND_GLOBAL_LOG_LEVEL": "as in CANN: 0 (debug) to 4 (off); what a program logs by "
        "`aclAppLog` on the simulated NPU goes to stderr, errors alone if it is not set",
        "ASCEND_SLOG_PRINT_TO_STDOUT": "as in CANN: `1` logs to the terminal instead of files",
        "ASCEND_PROCESS_LOG_PATH": "as in CANN: where it writes its logs; without it in "
        "`ASCEND_WORK_PATH`, then in `~/ascend/log`",
        "ASCEND_WORK_PATH": "as in CANN: where it writes its logs if nothing else is said",
        "ACLNN_CACHE_LIMIT": "as in CANN: how many executors the operator cache of a thread keeps",
        "DISABLE_L2_CACHE": "as in CANN: turns the operator cache off",
        "ASCEND_LAUNCH_BLOCKING": "`1` makes torch_npu wait for each operator; CANN does not "
        "read it",
        "LD_LIBRARY_PATH": "where the loader looks for libraries; the last place where CANN is "
        "looked for",
        "LD_PRELOAD": "libraries that the doctor looks into for functions of CANN",
    }
)
"""Variables whose values a bundle for a bug report contains: name to meaning in Markdown."""

_REPORTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ASCEND_INSTALL_PATH": "the same as `ASCEND_HOME_PATH`, as samples of CANN call it",
        "ASCEND_GLOBAL_EVENT_ENABLE": "as in CANN: `1` logs events too",
    }
)
"""Variables whose values a report contains, and no bundle."""

_RELEASES: Final = f"`{DEFAULT}` (the default)" + "".join(
    f" or `{name}`" for name in RELEASES if name != DEFAULT
)
_SILENT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PYACLNN_CACHING": "`0` turns the pools of all streams off: memory goes back to CANN at "
        "once",
        "PYACLNN_CAPTURE": "the trace to write; set by `pyaclnn capture`",
        "PYACLNN_CAPTURE_FRONTS": "the folder of libraries that is captured, and that of the "
        "libraries in front of them; set by `pyaclnn capture`",
        "PYACLNN_CAPTURE_OPTIONS": "what is recorded; set by `pyaclnn capture`",
        "PYACLNN_MOCK_CANN": f"the release of CANN to simulate, {_RELEASES}",
        "PYACLNN_LOG": "`calls` logs each C call that pyaclnn makes with its arguments and its "
        "answer, by Python's `logging` as `pyaclnn.calls`; on stderr if nothing else is set up",
        "PYACLNN_MOCK_PYTHON": "the Python that runs the device process, if it is not found by "
        "itself",
        "PYACLNN_MOCK_FORK_SERVER": "the pid of a process; while it lives, device processes begin "
        "as forks of one that has Python and NumPy loaded; pytest names itself",
        "PYACLNN_MOCK_OPERATORS": "files of kernels for operators, separated by colons",
        "PYACLNN_MOCK_PATIENCE": "seconds that the device process may take to start, and a kernel "
        "to end in phase 1; default 60",
        "PYACLNN_MOCK_MEMORY": "MiB of memory of each device, at most its chip's; default: "
        "half of what the machine or the container has",
        "PYACLNN_MOCK_REPORT": "a file for records of broken rules, one JSON object a line",
        "PYACLNN_MOCK_STRICT": "`1` stops the program at the first broken rule, with a backtrace; "
        "device memory lies at odd multiples of 64 bytes, all that CANN promises, instead of 512",
        "PYACLNN_MOCK_ALLOW": "rules the program may break, separated by commas: no record, no "
        "stop",
        "PYACLNN_MOCK_MODE": "`deferred` (work runs when it must; the default), `eager`, or "
        "`shuffled:SEED`",
        "PYACLNN_MOCK_FAULTS": "the faults to inject; `pyaclnn mock faults` says how they are "
        "written",
        "CC": "the C compiler that builds operator packages, default `cc`",
        "CXX": "the C++ compiler that builds kernels, default `c++`",
        "XDG_CACHE_HOME": "where compiled kernels are kept, below `pyaclnn/ascendc`, headers for "
        "compilers, below `pyaclnn/include`, and libraries of captures, below `pyaclnn/capture`; "
        "default `~/.cache`; `pyaclnn cache` prints and removes them",
    }
)
"""Variables whose values are never reported."""

REPORTED: Final = frozenset({*PUBLIC, *_REPORTED})
"""Variables whose values a report of ``pyaclnn doctor`` contains."""

VARIABLES: Final[Mapping[str, str]] = MappingProxyType(
    dict(
        sorted(
            {**PUBLIC, **_REPORTED, **_SILENT}.items(),
            key=lambda item: not item[0].startswith("PYACLNN_"),
        )
    )
)
"""All variables, those of pyaclnn first."""
