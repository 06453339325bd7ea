# SPDX-License-Identifier: Apache-2.0
"""The kernels that a source file defines: its ``__global__ __aicore__`` functions."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

__all__ = ["NO_CODE", "SCALARS", "KernelEntry", "KernelParameter", "find_entries"]

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
_ENTRY = re.compile(
    r"(?:__global__\s+__aicore__|__aicore__\s+__global__)\s+(?:inline\s+)?void\s+(?P<name>\w+)\s*"
    r"\((?P<parameters>[^()]*)\)\s*(?P<after>[{;])"
)
_PARAMETER = re.compile(r"(?P<type>.*?[\s*&])(?P<name>\w+)", re.DOTALL)


class KernelParameter(NamedTuple):
    """A parameter of a kernel.

    Attributes:
        name: Its name.
        type: Its C++ type.
        scalar: The NumPy type of a value; None for an address in global memory.
    """

    name: str
    type: str
    scalar: np.dtype[np.generic] | None


class KernelEntry(NamedTuple):
    """A kernel function.

    Attributes:
        name: Its name.
        parameters: Its parameters, in order.
    """

    name: str
    parameters: tuple[KernelParameter, ...]


def find_entries(source: str) -> tuple[KernelEntry, ...]:
    """Find the kernels of a source text, in its order.

    Args:
        source: The text of the file; comments and literals are not looked at.

    Raises:
        ValueError: A parameter is of a type that a launch cannot pass.
    """
    code = NO_CODE.sub(_blank, source)
    return tuple(
        KernelEntry(match["name"], tuple(_parameters(match["name"], match["parameters"])))
        for match in _ENTRY.finditer(code)
        if match["after"] == "{"
    )


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
    plain = re.sub(r"\b(?:const|__gm__)\b", "", words).strip()
    if plain == "GM_ADDR" or plain.endswith("*"):
        return KernelParameter(name, words, None)
    if plain not in SCALARS:
        raise ValueError(
            f"{kernel} has the parameter {name} of type {words}; a launch passes GM_ADDR, "
            f"other addresses, and {', '.join(SCALARS)}: hand structures over as tiling"
        )
    return KernelParameter(name, words, SCALARS[plain])
