# SPDX-License-Identifier: Apache-2.0
"""Generator of the libraries of a release that splits one library of older releases.

Operators are spread over libraries by their areas, each with a table of its own. The runtime stays
in one library, which has the state; libraries in front of it have the names of its functions.
Source: CANN: docs header_and_library_files_desc of 9.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .declarations import GENERATED
from .operator_table import write_operators

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .declarations import Declarations, Function, Release

__all__ = ["write_split"]

_OPERATORS = "opapi_"
_FRONTS = {
    "acl_rt": ("acl/rt/data_buffer.h", "acl/rt/dump.h"),
    "acl_mdl": ("acl/acl_mdl.h", "acl/acl_base_mdl.h"),
    "acl_op_executor": ("acl/acl_op.h", "acl/acl_base_mdl.h"),
    "acl_op_compiler": ("acl/acl_op_compiler.h",),
}
"""A library in front of the runtime -> the headers of its functions."""
_OWN = {"acl_rt": "runtime"}
"""One that has a kind of functions as well, whatever their headers."""


def write_split(
    declarations: Declarations,
    operators: Iterable[Function],
    release: Release,
    output: Path,
) -> None:
    """Write a table for each library of a release that shares a place with others.

    Args:
        declarations: The declarations of the headers.
        operators: Both phases of the operators of the release.
        release: The release.
        output: The folder to write to.
    """
    operators = list(operators)
    for library in release.libraries:
        path = output / f"{library}_{release.name}.inc"
        if library.startswith(_OPERATORS):
            area = library.removeprefix(_OPERATORS)
            own = [f for f in operators if f.area == area]
            write_operators(own, path)
        elif library in _FRONTS:
            functions = (f for f in declarations.functions if f.is_in(release.name))
            names = [f.name for f in functions if _is_behind(f, library)]
            lines = [GENERATED, *(f"EXPORTED({name})" for name in names)]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _is_behind(function: Function, library: str) -> bool:
    return function.header in _FRONTS[library] or function.library == _OWN.get(library)
