# SPDX-License-Identifier: Apache-2.0
"""What the programs around CANN say: torch_npu, the collective communication, the dynamic loader.

Sources: torch_npu: NPUException.h and its error codes; HCCL: the list of fault codes in its
documentation; ld.so(8) and the texts of glibc's loader.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pyaclnn.facts.explanations.entry import Explanation, says

__all__ = ["COLLECTIVE", "LOADER", "TORCH_KINDS", "TORCH_MODULES", "LoaderError"]


TORCH_MODULES: Final = {
    0: "torch_npu itself",
    1: "an operator of torch_npu",
    2: "distributed training",
    3: "graphs",
    4: "profiling",
}
"""Whose error it is: the first two digits after ``ERR``."""

_ARGUMENT: Final = "compare the arguments with the documentation of the function in the traceback."
_REPORT: Final = "read the whole text with the traceback; CANN's own log (plog) has the details."
TORCH_KINDS: Final[dict[int, Explanation]] = {
    1: says("A parameter is invalid.", "a wrong argument", do=_ARGUMENT),
    2: says("A type is invalid.", "a dtype or class that is not supported here", do=_ARGUMENT),
    3: says("A value is invalid.", "a number or shape out of its range", do=_ARGUMENT),
    4: says("A pointer is invalid.", "something that was freed, or never made", do=_REPORT),
    5: says("An internal error.", "a mistake in torch_npu or a mix of versions", do=_REPORT),
    6: says(
        "Memory could not be had or used.",
        "too little device memory",
        do="use a smaller batch, or look with `npu-smi info` who else uses the device.",
    ),
    7: says(
        "A feature is not supported.", "this chip or CANN does not have it", do="do without it."
    ),
    8: says("A resource was not found.", "a file or library is missing", do=_REPORT),
    9: says("A resource is unavailable.", "it is in use, or already closed", do=_REPORT),
    10: says("A system call failed.", "the operating system refused it", do=_REPORT),
    11: says("A time-out.", "a process of the group hangs or has ended", do=_REPORT),
    12: says("A permission is missing.", "a file of another user", do="look at the file's owner."),
    100: says(
        "A call of the C interface failed.",
        "see the status code in the same text",
        do="explain the six-digit status code that stands in the text.",
    ),
    200: says(
        "A call of the collective communication failed.",
        "see the code that begins with EI or EJ in the same text",
        do="explain the code that begins with EI or EJ; look at the first rank that failed.",
    ),
    300: says("A call of the graph engine failed.", "see the code in the same text", do=_REPORT),
}
"""What kind of error it is: the last three digits."""

_RANKS: Final = "compare the first error of every rank; the one that failed first is the cause."
COLLECTIVE: Final[dict[str, Explanation]] = {
    "EI0001": says(
        "An environment variable of the collective communication is invalid.",
        "a value that the text names",
        do="correct the variable that the text names.",
    ),
    "EI0002": says(
        "A rank waited for another one until its time was over.",
        "a rank ended, hangs, or runs another program",
        "ranks reach the operation at times too far apart",
        do=_RANKS,
    ),
    "EI0003": says(
        "An argument of a collective operation is invalid.",
        "a count, type or rank that the text names",
        do="correct the argument that the text names.",
    ),
    "EI0004": says(
        "The rank table is invalid.",
        "a wrong device, address or number of ranks",
        do="correct the rank table; every device may stand in it once.",
    ),
    "EI0005": says(
        "The ranks do not ask for the same.",
        "shapes, types or the order of operations differ between ranks",
        do="have every rank run the same operations in the same order.",
    ),
    "EI0006": says(
        "A connection between two ranks was not made in time.",
        "a rank did not start",
        "a firewall or a wrong network interface between the machines",
        do=_RANKS,
    ),
    "EI0007": says(
        "A resource of the collective communication could not be had.",
        "too little device memory, or too many groups",
        do="free device memory, or use fewer process groups.",
    ),
    "EI0008": says(
        "The ranks run different versions.",
        "CANN differs between the machines",
        do="install the same CANN on every machine.",
    ),
    "EI": says("The collective communication.", "see the text behind it", do=_RANKS),
    "EJ": says(
        "The device's network, on which the collective communication rests.",
        "the network interface of the device is down or has no address",
        do="look at the device's link and address with `hccn_tool`.",
    ),
}
"""Beginnings of the texts of the collective communication."""


class LoaderError(NamedTuple):
    """A text of the dynamic loader.

    Attributes:
        pattern: Fits the text; its first group, if it has one, is the library or name in question.
        explanation: What it says.
    """

    pattern: re.Pattern[str]
    explanation: Explanation


_SOURCE: Final = "source the set_env.sh of CANN; `pyaclnn doctor` names what is missing."
_ONE_VERSION: Final = "open a new shell and source the set_env.sh of one CANN only."
LOADER: Final = (
    LoaderError(
        re.compile(r"(lib(?:ascend_hal|dcmi|drv\w+)\.so\S*): cannot open shared object file"),
        says(
            "A library of the driver was not found.",
            "the driver is not installed, or not mounted into the container",
            "LD_LIBRARY_PATH lacks the driver's folders",
            do="add /usr/local/Ascend/driver/lib64/driver and /common to LD_LIBRARY_PATH, or mount "
            "/usr/local/Ascend/driver into the container.",
        ),
    ),
    LoaderError(
        re.compile(r"(\S+\.so\S*): cannot open shared object file: Permission denied"),
        says("A library may not be read.", "it belongs to another group", do="look at its owner."),
    ),
    LoaderError(
        re.compile(r"(\S+\.so\S*): cannot open shared object file"),
        says("A library was not found.", "LD_LIBRARY_PATH lacks its folder", do=_SOURCE),
    ),
    LoaderError(
        re.compile(r"undefined symbol: (\w+)"),
        says(
            "A library needs a function that no loaded library has.",
            "libraries of two versions of CANN, or of CANN and driver, are mixed",
            do=_ONE_VERSION,
        ),
    ),
    LoaderError(
        re.compile(r"version [`'](\S+?)' not found"),
        says(
            "A library was made for a newer system library.",
            "a package for a newer operating system",
            "an older libstdc++ comes first, e.g. that of a conda environment",
            do="use a system library that is as new, or a CANN for this operating system.",
        ),
    ),
    LoaderError(
        re.compile(r"(\S+\.so\S*): (?:file too short|invalid ELF header)"),
        says("A library is damaged.", "a copy was cut short", do="install the package again."),
    ),
    LoaderError(
        re.compile(r"(\S+\.so\S*): wrong ELF class|cannot execute binary file"),
        says(
            "A library is for another processor.",
            "the package of another architecture was installed",
            do="install the CANN package for this processor.",
        ),
    ),
    LoaderError(
        re.compile(r"(\S+\.so\S*): cannot allocate memory in static TLS block"),
        says(
            "A library came too late for the room that it needs in every thread.",
            "many libraries were loaded before it",
            do="load it first: import what needs it before the others, or use LD_PRELOAD.",
        ),
    ),
)
"""Texts of the dynamic loader; the first that fits counts."""
