# SPDX-License-Identifier: Apache-2.0
"""Declarations of the headers, as plain data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BOUND",
    "GENERATED",
    "HOST",
    "RELEASES",
    "CParameter",
    "Constant",
    "Declarations",
    "Function",
    "Release",
]

GENERATED = "/* Generated from include_stubs; edit the headers or the generator instead. */"
"""First line of every generated file."""


@dataclass(frozen=True)
class Release:
    """A release of CANN, as a line of ``releases.json`` has it.

    Attributes:
        name: Its name in short, e.g. ``8.1``.
        version: Its name in full, e.g. ``8.1.RC1``.
        headers: The value of the macro that selects it in our headers.
        interface: The version of its interface.
        libraries: The libraries that a program links.
    """

    name: str
    version: str
    headers: int
    interface: tuple[int, int, int]
    libraries: tuple[str, ...]


# Read by its file: the build comes before the package can be imported.
RELEASES = {
    row["name"]: Release(**row)
    for row in json.loads(
        (Path(__file__).parents[1] / "facts" / "releases.json").read_text("utf-8")
    )
}
"""Every release that the headers distinguish, by its short name, the oldest first."""

_LIBRARY_OF = {
    "acl/": "runtime",
    "acl/acl_base_mdl.h": "graph",
    "acl/acl_mdl.h": "graph",
    "acl/acl_op.h": "graph",
    "acl/acl_op_compiler.h": "graph",
    "acl/rt/data_buffer.h": "graph",
    "acl/rt/dump.h": "graph",
    "acl/acl_dump.h": "ascend_dump",
    "acl/acl_prof.h": "msprofiler",
    "acl/acl_tdt.h": "acl_tdt_channel",
    "acl/acl_tdt_queue.h": "acl_tdt_queue",
    "acl/ops/acl_cblas.h": "acl_cblas",
    "acl/ops/acl_fv.h": "acl_retr",
    "aclnn/": "base",
    "opdev/": "base",
    "nnopbase/": "packages",
    "aclnnop/": "operators",
    "graph/": "ge",
    "hccl/": "collectives",
    "hcomm": "hcomm",
    "mspti/": "mspti",
    "mstx/": "inline",
    "profiling/": "tasks",
    "runtime/": "tasks",
}
"""The beginning of a header's path -> the kind of library that provides its functions, the longest
beginning of all; a kind that Python does not call may be the library's own name."""
BOUND = frozenset({"runtime", "base", "operators"})
"""The kinds of library that Python calls; the others are there for programs that link them."""
HOST = tuple(_LIBRARY_OF)
"""Beginnings of the paths of the headers of CANN's host API."""
_PHASE_1_SUFFIX = "GetWorkspaceSize"


@dataclass(frozen=True)
class CParameter:
    """One parameter of a function: its C type (``const aclTensor *``) and its name."""

    type: str
    name: str

    @property
    def declaration(self) -> str:
        """Its C text in a list of parameters."""
        return f"{self.type}{'' if self.type.endswith('*') else ' '}{self.name}"


@dataclass(frozen=True)
class Function:
    """A declared C function.

    Attributes:
        name: The C symbol.
        returns: The C type of the result.
        parameters: The parameters, in order.
        variadic: True if the list ends in ``...``.
        header: Path of the declaring header below ``include_stubs/``.
        since: The first of `RELEASES` whose headers declare it.
        until: The first later one that does not declare it any more, or None.
        note: A remark for callers, for a generated header; or empty.
        area: The area of an operator, such as ``nn``; or empty.
        listed: True if the table of the C interface declares it, and no header written by hand.
    """

    name: str
    returns: str
    parameters: tuple[CParameter, ...]
    variadic: bool
    header: str
    since: str
    until: str | None = None
    note: str = ""
    area: str = ""
    listed: bool = False

    @property
    def library(self) -> str:
        """The kind of library that exports the symbol, such as ``runtime``."""
        if self.listed and self.header.startswith("aclnnop/"):
            return "base"  # no operator: it has one phase
        return _LIBRARY_OF[max(filter(self.header.startswith, HOST), key=len)]

    @property
    def operator(self) -> str | None:
        """The operator this is the first phase of, or ``None``."""
        if self.library == "operators" and self.name.endswith(_PHASE_1_SUFFIX):
            return self.name.removesuffix(_PHASE_1_SUFFIX)
        return None

    def is_in(self, release: str) -> bool:
        """Return whether a release of CANN has it."""
        names = list(RELEASES)
        last = len(names) if self.until is None else names.index(self.until)
        return names.index(self.since) <= names.index(release) < last

    def signature(self, name: str) -> str:
        """Return the C declarator of this function under another name, e.g. ``(*slot)``."""
        arguments = ", ".join(p.declaration for p in self.parameters) or "void"
        if self.variadic:
            arguments += ", ..."
        return f"{self.returns} {name}({arguments})"


@dataclass(frozen=True)
class Constant:
    """A numeric macro: its name and its value."""

    name: str
    value: int


@dataclass(frozen=True)
class Declarations:
    """Everything a set of headers declares.

    Attributes:
        headers: The headers read, as paths below the include folder.
        types: C text of every type declaration, in an order that compiles.
        functions: Every function, in the order of declaration.
        constants: Every macro with a numeric value.
        listed: Names that the table of the C interface declares -> their headers.
    """

    headers: tuple[str, ...]
    types: tuple[str, ...]
    functions: tuple[Function, ...]
    constants: tuple[Constant, ...]
    listed: Mapping[str, str] = field(default_factory=dict)
