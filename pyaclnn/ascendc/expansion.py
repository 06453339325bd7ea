# SPDX-License-Identifier: Apache-2.0
"""Sources whose kernels are defined by macros, after the preprocessor."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from typing import TYPE_CHECKING

from pyaclnn.cann.simulator import writtendir

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["with_macros"]

_DEFINES_KERNELS = re.compile(
    r"^[ \t]*\#[ \t]*define\b(?:\\\n|[^\n])*?\b__global__", re.MULTILINE | re.DOTALL
)
_MARKER = re.compile(r'# \d+ "(?P<file>(?:[^"\\]|\\.)*)"(?P<flags>[ \d]*)')
_SYSTEM = "3"


def with_macros(source: Path, text: str, options: Iterable[str] = ()) -> str:
    """Expand the macros of a source, if one of them defines kernels.

    Args:
        source: The source.
        text: Its contents.
        options: Macros and folders of headers, as a compiler takes them.

    Returns:
        The code of the source and of its own headers, or the text as it is.

    Raises:
        ValueError: The preprocessor refused the source.
        OSError: There is no compiler.
    """
    if not _DEFINES_KERNELS.search(text):
        return text
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    headers = writtendir()
    command = [*compiler, "-std=c++17", "-E", "-DPYACLNN_SEARCH", *options, f"-I{headers}"]
    done = subprocess.run(  # noqa: S603  # the compiler the user has chosen
        [*command, "-x", "c++", str(source)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise ValueError(f"{source} defines kernels by macros, which fail:\n{done.stderr.strip()}")
    lines: list[str] = []
    own = True
    for line in done.stdout.splitlines():
        marker = _MARKER.match(line)
        if marker is None:
            lines += [line] if own else []
        else:
            own = _SYSTEM not in marker["flags"] and not marker["file"].startswith(f"{headers}/")
    return "\n".join(lines)
