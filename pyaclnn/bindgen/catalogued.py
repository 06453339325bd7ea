# SPDX-License-Identifier: Apache-2.0
"""Makes declarations, and headers, of the table of all operators.

The build reads the table by its file: it comes before the package can be imported.
"""

from __future__ import annotations

import runpy
import shutil
from typing import TYPE_CHECKING, Any

from .declarations import RELEASES, Function, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = [
    "PHASE_2",
    "RELEASE_HEADER",
    "TAIL",
    "headers_of",
    "phases",
    "read_table",
    "release_header",
    "write_headers",
]

_FOLDER = "aclnnop"
RELEASE_HEADER = "acl/acl_release.h"
"""The header by which an include folder is of one release."""
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
# Short, because there are hundreds of them; the LICENSE of the installation is theirs.
_TOP = """\
#pragma once
#include "aclnn/acl_meta.h"
"""


def read_table(catalogue: Path) -> list[Function]:
    """Read the table of all operators.

    Args:
        catalogue: The module that reads it, ``pyaclnn/facts/operators/catalogue.py``.

    Returns:
        Both phases of every operator, in the order of the table.
    """
    entries = runpy.run_path(str(catalogue), run_name="catalogue")["catalogue"]().values()
    return [function for entry in entries for function in phases(entry)]


def phases(entry: Any) -> Iterator[Function]:
    """Declare the two phases of an operator.

    Args:
        entry: Its ``pyaclnn.facts.operators.catalogue.Entry``, of whichever import.
    """
    since = next(name for name in RELEASES if entry.is_in(name))
    header = f"{_FOLDER}/{entry.header}"
    given = tuple(Parameter(parameter.c_type, parameter.name) for parameter in entry.parameters)
    phase_1 = f"{entry.name}GetWorkspaceSize"
    yield Function(phase_1, "aclnnStatus", (*given, *TAIL), False, header, since)
    yield Function(entry.name, "aclnnStatus", PHASE_2, False, header, since)


def write_headers(
    include: Path, by_hand: Iterable[Function], functions: Iterable[Function], output: Path
) -> None:
    """Write the headers that an installation brings along.

    They are those written by hand, each with what belongs behind it. Of the other operators there
    are none: :func:`headers_of` makes them where they are wanted, from the table.

    Args:
        include: The headers that are written by hand; they are copied.
        by_hand: What they declare.
        functions: The operators that none of them declares.
        output: The folder to make.
    """
    shutil.copytree(include, output)
    # The folder is of the release that is simulated if nothing else is said.
    (output / RELEASE_HEADER).write_text(
        release_header(next(iter(RELEASES.values())).headers), "utf-8"
    )
    # A header may stand for some of its operators by hand.
    beside = {h: f for h, f in _by_header(functions).items() if (output / h).exists()}
    for header, declared in beside.items():
        with (output / header).open("a", encoding="utf-8") as file:
            file.write("\n".join(_header(declared)) + "\n")
    all_of_them = (*by_hand, *(function for declared in beside.values() for function in declared))
    newer = _by_header(function for function in all_of_them if _is_newer(function))
    for header, declared in newer.items():
        text = (output / header).read_text(encoding="utf-8")
        # What is written by hand has a guard, which ends before this.
        once = "" if _ONCE in text else f"\n{_ONCE}\n"
        (output / header).write_text(f"{text}{once}{''.join(_newer(declared))}", encoding="utf-8")


def headers_of(functions: Iterable[Function]) -> dict[str, str]:
    """Write the headers of operators that stand in the table alone.

    Args:
        functions: Their phases.

    Returns:
        The text of each header, by its path below the include folder.
    """
    return {
        header: "\n".join(_header(declared))
        + "\n"
        + "".join(_newer([function for function in declared if _is_newer(function)]))
        for header, declared in _by_header(functions).items()
    }


def _by_header(functions: Iterable[Function]) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for function in functions:
        found.setdefault(function.header, []).append(function)
    return found


def _is_newer(function: Function) -> bool:
    return function.since != RELEASES[next(iter(RELEASES))].name


def release_header(level: int) -> str:
    """Write the header by which an include folder is of one release.

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
