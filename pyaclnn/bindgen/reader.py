# SPDX-License-Identifier: Apache-2.0
"""Reader of C headers into :class:`~.declarations.Declarations`.

pcpp preprocesses, pycparser parses; what is left here is the choice of what to keep. Each set of
headers is read once per release of CANN, which shows the first release of each function.
"""

from __future__ import annotations

import copy
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pcpp.preprocessor import Action, OutputDirective, Preprocessor
from pycparser import c_ast, c_generator, c_parser

from .declarations import HOST, RELEASES, Constant, CParameter, Declarations, Function

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["HeaderError", "find_headers", "read"]

# The macro that selects a release of CANN in our headers.
_SWITCH = "ACL_STUBS_CANN"

# Prefixes of the names of constants.
_OURS = ("ACL", "MOCK_")

# The system types our headers use; <stdint.h> and friends are not preprocessed.
_SYSTEM_TYPES = "\n".join(
    [
        *(f"typedef int {sign}int{bits}_t;" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        "typedef unsigned long size_t;",
        "typedef unsigned long uintptr_t;",
        "typedef _Bool bool;",
    ]
)
_NUMBER = re.compile(r"\(?\s*(-?\s*(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*\s*\)?")


class HeaderError(ValueError):
    """A header could not be read; the message names the place and the reason."""


class _HeaderPreprocessor(Preprocessor):  # type: ignore[misc]  # pcpp ships no types
    """pcpp, configured to skip system headers and to raise instead of printing."""

    def on_include_not_found(
        self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str
    ) -> None:
        if is_malformed or not is_system_include:
            raise HeaderError(f"{curdir}: cannot find the header {includepath!r}")
        raise OutputDirective(Action.IgnoreAndPassThrough)

    def on_error(self, file: str, line: int, msg: str) -> None:
        raise HeaderError(f"{file}:{line}: {msg}")

    def on_directive_handle(
        self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]
    ) -> Any:
        if directive.value == "error":
            words = "".join(token.value for token in toks)
            raise HeaderError(f"{directive.source}:{directive.lineno}: {words}")
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)


def find_headers(include: Path) -> tuple[str, ...]:
    """Every C header of CANN's host API below an include folder, sorted, relative to it."""
    found = (path.relative_to(include).as_posix() for path in include.rglob("*.h"))
    return tuple(sorted(header for header in found if header.startswith(HOST)))


def read(include: Path, listed: Mapping[str, str] | None = None) -> Declarations:
    """Read every header below a folder.

    Args:
        include: An include folder that holds ``acl/``, ``aclnn/`` and ``aclnnop/``.
        listed: Names that the table of the C interface declares -> their headers.

    Returns:
        The types and constants of the newest version, and the functions of all, each marked with
        the first version that has it, and the first later one that does not.

    Raises:
        HeaderError: A header cannot be preprocessed or parsed.
    """
    headers = find_headers(include)
    if not headers:
        raise HeaderError(f"no header below {include}")
    found: dict[str, Function] = {}
    known = listed or {}
    for release in RELEASES.values():
        tree, macros = _parse(include, headers, release.headers)
        here = {function.name: function for function in _functions(tree, include, release.name)}
        gone = {
            name: function if function.until else replace(function, until=release.name)
            for name, function in found.items()
            if name not in here
        }
        since = {name: found[name].since for name in here if name in found}
        kept = {
            name: replace(f, since=since.get(name, f.since), listed=name in known)
            for name, f in here.items()
        }
        found = {**kept, **gone}
    return Declarations(
        headers=headers,
        types=tuple(_types(tree)),
        functions=tuple(found.values()),
        constants=tuple(macros),
        listed=known,
    )


def _parse(
    include: Path, headers: tuple[str, ...], level: int
) -> tuple[c_ast.FileAST, list[Constant]]:
    preprocessor = _HeaderPreprocessor()
    preprocessor.add_path(str(include))
    preprocessor.define(f"{_SWITCH} {level}")
    preprocessor.parse("".join(f'#include "{header}"\n' for header in headers), "all.h")
    text = io.StringIO()
    preprocessor.write(text)
    kept = (
        line
        for line in text.getvalue().splitlines()
        if not line.startswith(("#include", "#pragma"))
    )
    source = "\n".join(kept)
    try:
        tree = c_parser.CParser().parse(f"{_SYSTEM_TYPES}\n{source}", "all.h")
    except c_parser.ParseError as error:
        raise HeaderError(str(error)) from error
    return tree, list(_constants(preprocessor))


def _constants(preprocessor: _HeaderPreprocessor) -> Iterator[Constant]:
    for name, macro in preprocessor.macros.items():
        match = _NUMBER.fullmatch("".join(token.value for token in macro.value))
        if macro.arglist is None and match and name.startswith(_OURS) and name != _SWITCH:
            yield Constant(name, int(match[1].replace(" ", ""), 0))


def _declared(tree: c_ast.FileAST) -> Iterator[c_ast.Node]:
    """Return the nodes of a header, without the system types above."""
    return (node for node in tree.ext if node.coord.file != "all.h")


def _types(tree: c_ast.FileAST) -> Iterator[str]:
    generator = c_generator.CGenerator()
    for node in _declared(tree):
        is_type = not isinstance(node, c_ast.FuncDef)  # which is all in the header
        if is_type and not isinstance(getattr(node, "type", None), c_ast.FuncDecl):
            yield f"{generator.visit(node)};"


def _functions(tree: c_ast.FileAST, include: Path, release: str) -> Iterator[Function]:
    for node in _declared(tree):
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            arguments = node.type.args.params if node.type.args else []
            named = [p for p in arguments if isinstance(p, c_ast.Decl)]
            yield Function(
                name=node.name,
                returns=_type_text(node.type.type),
                parameters=tuple(CParameter(_type_text(p.type), p.name) for p in named),
                variadic=any(isinstance(p, c_ast.EllipsisParam) for p in arguments),
                header=_relative(node.coord.file, include),
                since=release,
            )


def _relative(file: str, include: Path) -> str:
    # pcpp writes paths relative to the current directory.
    return Path(file).resolve().relative_to(include.resolve()).as_posix()


def _type_text(node: c_ast.Node) -> str:
    """Return the C text of a type, without the name it declares."""
    nameless = copy.deepcopy(node)
    declarator = nameless
    while not isinstance(declarator, c_ast.TypeDecl):
        declarator = declarator.type
    declarator.declname = None
    typename = c_ast.Typename(name=None, quals=[], align=None, type=nameless)
    return str(c_generator.CGenerator().visit(typename))
