# SPDX-License-Identifier: Apache-2.0
"""Inputs that a kernel does not read: those that change no number, in `unread.txt`.

A line is ``Reason: names``. A name is a parameter's without ``Optional`` and ``Ref``; operators may
stand before it and a dot, with ``*`` for any letters. Behind ``=`` stands a value. A kernel refuses
an input that it does not read, unless that is NULL, 0, false or empty, has such a value, or has a
name without one here.
"""

from __future__ import annotations

import functools
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from pyaclnn.reference.kernels.kernel import short_names

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["harmless_values", "unread"]

_FILE: Final = f"{__file__.removesuffix('.py')}.txt"


@functools.cache
def unread() -> Mapping[str, str]:
    """Return the values of inputs that need not be read, by patterns of ``operator.parameter``.

    An empty text is any value.
    """
    with open(_FILE, encoding="utf-8") as file:  # noqa: PTH123  # pathlib is dear
        text = file.read()
    lines = [s for s in re.sub(r"\n +", " ", text).splitlines() if s and not s.startswith("#")]
    words = (word.partition("=") for line in lines for word in line.split(": ")[1].split())
    return {name if "." in name else f"*.{name}": value for name, _, value in words}


@functools.cache
def harmless_values(operator: str, parameter: str) -> tuple[str, ...]:
    """Return the values that an input may have although no kernel reads it; empty for any.

    Args:
        operator: The C name of the operator.
        parameter: The C name of the input.
    """
    short, names = operator.removeprefix("aclnn"), short_names(parameter)
    return tuple(
        value
        for pattern, value in unread().items()
        if pattern.rpartition(".")[2] in names and fnmatchcase(short, pattern.rpartition(".")[0])
    )
