# SPDX-License-Identifier: Apache-2.0
"""Declarations and headers made of the table of all operators.

The build reads the table by its file: it runs before the package can be imported.
"""

from __future__ import annotations

import itertools
import runpy
import shutil
from typing import TYPE_CHECKING, Any

from .declarations import RELEASES, CParameter, Function

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
_STUBS = "acl/acl_stubs.h"
"""The header that every other one includes first."""
_ONCE = "#pragma once"
TAIL = (CParameter("uint64_t *", "workspaceSize"), CParameter("aclOpExecutor **", "executor"))
"""The last parameters of every first phase."""
PHASE_2 = (
    CParameter("void *", "workspace"),
    CParameter("uint64_t", "workspaceSize"),
    CParameter("aclOpExecutor *", "executor"),
    CParameter("aclrtStream", "stream"),
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
    later = itertools.dropwhile(lambda name: not entry.is_in(name), RELEASES)
    since = next(later)
    until = next((name for name in later if not entry.is_in(name)), None)
    place = (False, f"{_FOLDER}/{entry.header}", since, until)
    given = tuple(CParameter(parameter.c_type, parameter.name) for parameter in entry.parameters)
    phase_1 = f"{entry.name}GetWorkspaceSize"
    yield Function(phase_1, "aclnnStatus", (*given, *TAIL), *place, entry.note, entry.area)
    yield Function(entry.name, "aclnnStatus", PHASE_2, *place, area=entry.area)


def write_headers(include: Path, functions: Iterable[Function], output: Path) -> None:
    """Write the headers that an installation brings along.

    They are those written by hand, each with diagnostics of newer functions. :func:`headers_of`
    makes those of operators from the table, when a compiler first wants them.

    Args:
        include: The headers that are written by hand; they are copied.
        functions: Their declarations.
        output: The folder to make.
    """
    shutil.copytree(include, output)
    # By default the folder is of the simulated release.
    (output / RELEASE_HEADER).write_text(
        release_header(next(iter(RELEASES.values())).headers), "utf-8"
    )
    with (output / _STUBS).open("a", encoding="utf-8") as file:
        file.writelines(_chosen())
    newer = _by_header(function for function in functions if _is_newer(function))
    for header, declared in newer.items():
        # The guard of the header ends before this.
        with (output / header).open("a", encoding="utf-8") as file:
            file.write(f"\n{_ONCE}\n{''.join(_newer(declared))}")


def headers_of(functions: Iterable[Function]) -> dict[str, str]:
    """Write the headers of operators.

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
        level: The value of ``ACL_STUBS_CANN`` for that release.
    """
    return f"/* SPDX-License-Identifier: Apache-2.0 */\n#define ACL_STUBS_CANN {level}\n"


def _chosen() -> Iterator[str]:
    """Define the name of the chosen release: the newest whose number is not above the chosen."""
    yield "\n#undef ACL_STUBS_CHOSEN\n"
    word = "#if"
    for release, following in itertools.pairwise(RELEASES.values()):
        yield f"{word} ACL_STUBS_CANN < {following.headers}\n"
        yield f'#define ACL_STUBS_CHOSEN "{release.name}"\n'
        word = "#elif"
    newest = next(reversed(RELEASES))
    yield f'#else\n#define ACL_STUBS_CHOSEN "{newest}"\n#endif\n'


def _newer(functions: list[Function]) -> Iterator[str]:
    """Refuse functions where an older release is chosen; readers without a compiler skip it."""
    for release in RELEASES.values():
        since = [function for function in functions if function.since == release.name]
        if since:
            yield f"#if ACL_STUBS_CANN < {release.headers} && defined(__GNUC__)\n"
            where = f'"{release.name}", {release.headers}'
            yield from (f"ACL_STUBS_NEWER({function.name}, {where})\n" for function in since)
            yield "#endif\n"


def _header(functions: list[Function]) -> Iterator[str]:
    yield _TOP
    oldest = next(iter(RELEASES))
    for (since, until), declared in _by_releases(functions).items():
        conditions = [f"ACL_STUBS_CANN >= {RELEASES[since].headers}"] if since != oldest else []
        conditions += [f"ACL_STUBS_CANN < {RELEASES[until].headers}"] if until else []
        if conditions:
            yield f"#if {' && '.join(conditions)}"
        for function in declared:
            note = f"/* {function.note} */\n" if function.note else ""
            yield f"{note}ACL_STUBS_OPERATOR {function.signature(function.name)};"
        if conditions:
            yield "#endif"


def _by_releases(functions: list[Function]) -> dict[tuple[str, str | None], list[Function]]:
    found: dict[tuple[str, str | None], list[Function]] = {}
    for function in sorted(functions, key=lambda f: list(RELEASES).index(f.since)):
        found.setdefault((function.since, function.until), []).append(function)
    return found
