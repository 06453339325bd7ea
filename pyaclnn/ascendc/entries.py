# SPDX-License-Identifier: Apache-2.0
"""The kernels that a source file defines: its ``__global__ __aicore__`` functions."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

__all__ = [
    "NO_CODE",
    "SCALARS",
    "KernelEntry",
    "KernelParameter",
    "declare_cores",
    "find_entries",
]

SCALARS = {
    "bool": np.dtype(np.bool_),
    "half": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "int": np.dtype(np.int32),
    **{
        f"{sign}int{bits}_t": np.dtype(f"{sign}int{bits}")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}
"""Types of parameters that are passed by value."""

NO_CODE = re.compile(
    r"""//(?:\\\n|[^\n])* | /\*.*?\*/ | R"(\w*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" """
    r"""| (?<!\w)'(?:\\.|[^'\\\n])*'""",
    re.DOTALL | re.VERBOSE,
)
"""A comment, a string or a character, which may look like code."""
_CORE = r"__aicore__|__vector__|__cube__|__mix__\s*\(\s*\d\s*,\s*\d\s*\)"
_ENTRY = re.compile(
    rf"(?:__global__\s+(?P<core>{_CORE})|(?P<first>{_CORE})\s+__global__)\s+"
    r"(?:__aicore__\s+)?(?:inline\s+)?void\s+(?P<name>\w+)\s*"
    r"\((?P<parameters>[^()]*)\)\s*(?P<after>[{;])"
)
_TEMPLATE = re.compile(r"\btemplate\s*<[^;{}]*>\s*(?:(?:static|inline)\s+|\[\[[^\]]*\]\]\s*)*$")
"""Ends where a kernel begins that is a template."""
_CORES = {
    "__aicore__": "",
    "__vector__": "KERNEL_TYPE_AIV_ONLY",
    "__cube__": "KERNEL_TYPE_AIC_ONLY",
    "__mix__(1,0)": "KERNEL_TYPE_MIX_AIC_1_0",
    "__mix__(0,1)": "KERNEL_TYPE_MIX_AIV_1_0",
    "__mix__(1,1)": "KERNEL_TYPE_MIX_AIC_1_1",
    "__mix__(1,2)": "KERNEL_TYPE_MIX_AIC_1_2",
}
_ON_CHIP_ARRAY = re.compile(r"\b__ubuf__\s+[\w:<>]+\s+\w+\s*\[")
_PARAMETER = re.compile(r"(?P<type>.*?[\s*&])(?P<name>\w+)", re.DOTALL)


class KernelParameter(NamedTuple):
    """A parameter of a kernel.

    Attributes:
        name: Its name.
        type: Its C++ type.
        scalar: The NumPy type of a value; None for an address in global memory.
        structure: True if it is a structure that is passed by value.
    """

    name: str
    type: str
    scalar: np.dtype[np.generic] | None
    structure: bool = False


class KernelEntry(NamedTuple):
    """A kernel function.

    Attributes:
        name: Its name.
        parameters: Its parameters, in order.
        template: True if it needs template arguments.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    template: bool = False


def find_entries(source: str) -> tuple[KernelEntry, ...]:
    """Find the kernels of a source text, in its order.

    Args:
        source: The text of the file; comments and literals are not looked at.

    Raises:
        ValueError: A parameter is of a type that a launch cannot pass, the cores of a kernel are
            none that exist, or threads share an array.
    """
    code = NO_CODE.sub(_blank, source)
    return tuple(
        KernelEntry(
            match["name"],
            tuple(_parameters(match["name"], match["parameters"])),
            _TEMPLATE.search(code, 0, match.start()) is not None,
        )
        for match in _ENTRY.finditer(code)
        if match["after"] == "{"
    )


def declare_cores(source: str) -> str:
    """Declare, at the start of each kernel, the cores that the words before its name ask for.

    Args:
        source: The text of the file.

    Returns:
        The text, each line in its place.

    Raises:
        ValueError: There are no such cores, or threads share an array.
    """
    code = NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    array = _ON_CHIP_ARRAY.search(code)
    if array is not None:
        line = code.count("\n", 0, array.start()) + 1
        raise ValueError(
            f"line {line}: an array of threads in on-chip memory is not simulated; pass a buffer "
            "of the kernel, LocalTensor::GetPhyAddr"
        )
    pieces: list[str] = []
    done = 0
    for match in _ENTRY.finditer(code):
        words = re.sub(r"\s", "", match["core"] or match["first"])
        if words not in _CORES:
            raise ValueError(f"{match['name']} has {words}; it must be one of {', '.join(_CORES)}")
        if match["after"] == "{" and _CORES[words]:
            declared = f" KERNEL_TASK_TYPE_DEFAULT({_CORES[words]});"
            pieces += [source[done : match.end()], declared]
            done = match.end()
    return "".join([*pieces, source[done:]])


def _blank(match: re.Match[str]) -> str:
    return " " + "\n" * match[0].count("\n")


def _parameters(kernel: str, text: str) -> list[KernelParameter]:
    if text.strip() in {"", "void"}:
        return []
    return [_parameter(kernel, number, part) for number, part in enumerate(text.split(","))]


def _parameter(kernel: str, number: int, text: str) -> KernelParameter:
    kind, name = text, f"argument{number}"
    match = _PARAMETER.fullmatch(text.strip())
    if match is not None and match["name"] not in SCALARS:  # otherwise it has no name
        kind, name = match["type"], match["name"]
    words = " ".join(kind.split())
    plain = re.sub(r"\b(?:const|__gm__|__restrict(?:__)?)\b", "", words).strip()
    if plain == "GM_ADDR" or plain.endswith("*"):
        return KernelParameter(name, words, None)
    if plain not in SCALARS:
        if plain.endswith("&") or not re.fullmatch(r"(?:struct )?[\w:]+", plain):
            raise ValueError(
                f"{kernel} has the parameter {name} of type {words}; a launch passes GM_ADDR, "
                f"other addresses, structures, and {', '.join(SCALARS)}"
            )
        return KernelParameter(name, words, None, structure=True)
    return KernelParameter(name, words, SCALARS[plain])
