# SPDX-License-Identifier: Apache-2.0
"""Constants of the headers, for the device process, which has no binding."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pyaclnn.cann.packaged import packaged_file

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["enumerators", "macros"]

_MACRO = re.compile(r"^#define (\w+) +(-?\d+)$", re.MULTILINE)
_ENUMERATOR = re.compile(r"^ +(\w+) = (-?\d+),", re.MULTILINE)


@cache
def _text(header: str) -> str:
    with open(packaged_file(f"include_stubs/{header}"), encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


def macros(header: str) -> Mapping[str, int]:
    """Read the macros that are decimal numbers, by name, e.g. of ``opdev/op_errno.h``."""
    return {name: int(number) for name, number in _MACRO.findall(_text(header))}


def enumerators(header: str, enumeration: str) -> Mapping[str, int]:
    """Read the members of an enumeration, by name, in the order in which they are declared."""
    body = _text(header).partition(f"typedef enum {enumeration} {{")[2].partition("}")[0]
    return {name: int(number) for name, number in _ENUMERATOR.findall(body)}
