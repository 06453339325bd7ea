# SPDX-License-Identifier: Apache-2.0
"""Makes declarations, and headers, of the table of all operators.

The table is read by its file: the build comes before the package can be imported.
"""

from __future__ import annotations

import runpy
import shutil
from typing import TYPE_CHECKING, Any

from .declarations import RELEASES, Function, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["PHASE_2", "TAIL", "read_table", "write_headers"]

_FOLDER = "aclnnop"
_RELEASE = "acl/acl_release.h"
_ONCE = "#pragma once"
TAIL = (Parameter("uint64_t *", "workspaceSize"), Parameter("aclOpExecutor **", "executor"))
"""The last parameters of every first phase."""
PHASE_2 = (
    Parameter("void *", "workspace"),
    Parameter("uint64_t", "workspaceSize"),
    Parameter("aclOpExecutor *", "executor"),
    Parameter("aclrtStream", "stream"),
)
"""The parameters of every second phase."""
# Short, because there are hundreds of them in every installation, whose LICENSE is theirs.
_TOP = """\
#pragma once
#include "aclnn/acl_meta.h"
"""


def read_table(catalogue: Path) -> list[Function]:
    """Read the table of all operators.

    Args:
        catalogue: The module that reads it, ``pyaclnn/operators/catalogue.py``.

    Returns:
        Both phases of every operator, in the order of the table.
    """
    entries = runpy.run_path(str(catalogue), run_name="catalogue")["catalogue"]().values()
    return [function for entry in entries for function in _phases(entry)]


def _phases(entry: Any) -> Iterator[Function]:
    since = next(name for name in RELEASES if entry.is_in(name))
    header = f"{_FOLDER}/{entry.header}"
    given = tuple(Parameter(parameter.c_type, parameter.name) for parameter in entry.parameters)
    phase_1 = f"{entry.name}GetWorkspaceSize"
    yield Function(phase_1, "aclnnStatus", (*given, *TAIL), False, header, since)
    yield Function(entry.name, "aclnnStatus", PHASE_2, False, header, since)


def write_headers(
    include: Path, by_hand: Iterable[Function], functions: Iterable[Function], output: Path
) -> None:
    """Write the whole include folder of the simulated NPU.

    Args:
        include: The headers that are written by hand; they are copied.
        by_hand: What they declare.
        functions: The operators that none of them declares.
        output: The folder to write; what was in it is gone.
    """
    functions = list(functions)
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(include, output)
    # The folder is of the release that is simulated if nothing else is said.
    (output / _RELEASE).write_text(_release_header(next(iter(RELEASES.values())).headers), "utf-8")
    by_header: dict[str, list[Function]] = {}
    for function in functions:
        by_header.setdefault(function.header, []).append(function)
    for header, declared in by_header.items():
        text = "\n".join(_header(declared))
        path = output / header
        # A header may stand for some of its operators by hand.
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(f"{before}{text}\n", encoding="utf-8")
    newer: dict[str, list[Function]] = {}
    for function in (*by_hand, *functions):
        if function.since != next(iter(RELEASES)):
            newer.setdefault(function.header, []).append(function)
    for header, declared in newer.items():
        path = output / header
        text = path.read_text(encoding="utf-8")
        # What is written by hand has a guard, which ends before this.
        once = "" if _ONCE in text else f"\n{_ONCE}\n"
        path.write_text(f"{text}{once}{''.join(_newer(declared))}", encoding="utf-8")


def _release_header(level: int) -> str:
    """The header by which an include folder is of one release.

    Args:
        level: What ``ACL_STUBS_CANN`` is for that release.
    """
    return f"/* SPDX-License-Identifier: Apache-2.0 */\n#define ACL_STUBS_CANN {level}\n"


def _newer(functions: list[Function]) -> Iterator[str]:
    """What an older release says where they are used; readers without a compiler pass it over."""
    for release in RELEASES.values():
        since = [function for function in functions if function.since == release.name]
        if since:
            yield f"#if ACL_STUBS_CANN < {release.headers} && defined(__GNUC__)\n"
            yield from (f"ACL_STUBS_NEWER({function.name})\n" for function in since)
            yield "#endif\n"


def _header(functions: list[Function]) -> Iterator[str]:
    yield _TOP
    for release in RELEASES.values():
        since = [f for f in functions if f.since == release.name]
        newer = since and release.name != next(iter(RELEASES))
        if newer:
            yield f"#if ACL_STUBS_CANN >= {release.headers}"
        yield from (f"ACL_STUBS_OPERATOR {f.signature(f.name)};" for f in since)
        if newer:
            yield "#endif"
