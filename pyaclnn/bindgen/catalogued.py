# SPDX-License-Identifier: Apache-2.0
"""Declarations and headers made of tables: that of all operators, and that of the C interface.

The build reads the tables by their files: it runs before the package can be imported.
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
    "forwarded_headers",
    "headers_of",
    "listed_headers",
    "phases",
    "read_interface",
    "read_table",
    "release_header",
    "write_declared",
    "write_headers",
]

_FOLDER = "aclnnop"
RELEASE_HEADER = "acl/acl_release.h"
"""The header by which an include folder is of one release."""
_STUBS = "acl/acl_stubs.h"
"""The header that every other one includes first."""
_FORWARDED = "ascendc/headers.def"
"""The names of headers that only include the kernel interface, by folder."""
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


def read_interface(interface: Path) -> tuple[Any, ...]:
    """Read the table of the C interface, ``pyaclnn/facts/interface.py``; its rows."""
    rows: tuple[Any, ...] = runpy.run_path(str(interface), run_name="interface")["interface"]()
    return rows


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


def write_declared(include: Path, rows: Iterable[Any], output: Path) -> None:
    """Write the headers that are written by hand, completed from the table of the C interface.

    Args:
        include: The headers that are written by hand; they are copied.
        rows: The table.
        output: The folder to make.
    """
    shutil.copytree(include, output)
    for header, text in listed_headers(rows).items():
        (output / header).parent.mkdir(parents=True, exist_ok=True)
        with (output / header).open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")


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
    for name, target in forwarded_headers(include / _FORWARDED).items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(f'#pragma once\n#include "{target}"\n', "utf-8")
    newer = _by_header(f for f in functions if _is_newer(f) and not f.listed)
    for header, declared in newer.items():
        with (output / header).open("a", encoding="utf-8") as file:
            file.write(f"\n{''.join(_newer(declared))}")


def forwarded_headers(table: Path) -> dict[str, str]:
    """Read which headers of kernels only include another one.

    Args:
        table: Rows ``folder: names`` or ``folder > header: names`` behind a comment; the folders
            but ``/`` lie below two others.

    Returns:
        The other header by their paths below the include folder.
    """
    rows = [
        line.partition(": ") for line in table.read_text("utf-8").rpartition("*/\n")[2].splitlines()
    ]
    return {
        f"{top}{name}.h": target or "kernel_operator.h"
        for row, _, names in rows
        for folder, _, target in (row.partition(" > "),)
        for top in ([""] if folder == "/" else [f"lib/{folder}/", f"adv_api/{folder}/"])
        for name in names.split()
    }


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


def listed_headers(rows: Iterable[Any]) -> dict[str, str]:
    """Write the headers of the C interface, or what they have behind the part written by hand.

    Args:
        rows: Each a ``pyaclnn.facts.interface.Row``, of whichever import.

    Returns:
        The text by the path below the include folder.
    """
    by_header: dict[str, list[Any]] = {}
    for row in rows:
        by_header.setdefault(row.header, []).append(row)
    return {header: "\n".join(_listed(header, own)) + "\n" for header, own in by_header.items()}


def _listed(header: str, rows: list[Any]) -> Iterator[str]:
    yield "#pragma once"  # which the part written by hand has already, if there is one
    includes = [row.text for row in rows if row.text.startswith("#include")]
    yield from ['#include "acl/acl_stubs.h"', *includes]
    yield "ACL_STUBS_C_BEGIN"
    rest = rows[len(includes) :]
    for (since, until), group in itertools.groupby(rest, lambda row: (row.since, row.until)):
        yield from _limited(since, until, [_declaration(row) for row in group])
    yield "ACL_STUBS_C_END"
    functions = [
        Function(row.function, "", (), False, header, row.since) for row in rows if row.function
    ]
    yield "".join(_newer([function for function in functions if _is_newer(function)]))


def _declaration(row: Any) -> str:
    if row.function:
        return f"ACL_FUNC_VISIBILITY {row.text};"
    return row.text if row.text.startswith(("#", "static ")) else f"{row.text};"


def _limited(since: str, until: str | None, lines: list[str]) -> Iterator[str]:
    """Put lines between the directives that keep them to some releases."""
    conditions = []
    if since != next(iter(RELEASES)):
        conditions.append(f"ACL_STUBS_CANN >= {RELEASES[since].headers}")
    if until:
        conditions.append(f"ACL_STUBS_CANN < {RELEASES[until].headers}")
    yield from [f"#if {' && '.join(conditions)}"] if conditions else []
    yield from lines
    yield from ["#endif"] if conditions else []


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
    for (since, until), declared in _by_releases(functions).items():
        yield from _limited(since, until, [_of_operator(function) for function in declared])


def _of_operator(function: Function) -> str:
    note = f"/* {function.note} */\n" if function.note else ""
    return f"{note}ACL_STUBS_OPERATOR {function.signature(function.name)};"


def _by_releases(functions: list[Function]) -> dict[tuple[str, str | None], list[Function]]:
    found: dict[tuple[str, str | None], list[Function]] = {}
    for function in sorted(functions, key=lambda f: list(RELEASES).index(f.since)):
        found.setdefault((function.since, function.until), []).append(function)
    return found
