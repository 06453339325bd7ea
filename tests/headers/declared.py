# SPDX-License-Identifier: Apache-2.0
"""Declarations of a parsed program, reduced to comparable names and texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast, c_generator

__all__ = ["Declared", "declared_in"]


@dataclass
class Declared:
    """Functions with their prototypes, functions with an unnamed parameter, and constants."""

    functions: dict[str, str] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    constants: set[str] = field(default_factory=set)


def declared_in(tree: Any, macros: set[str]) -> Declared:
    """Collect the declarations of a syntax tree.

    Args:
        tree: What pycparser made of the preprocessed text.
        macros: The names of the macros that the preprocessor has met.
    """
    generator = c_generator.CGenerator()
    result = Declared(constants=set(macros))
    for node in tree.ext:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            result.functions[node.name] = generator.visit(node)
            if any(_is_unnamed(parameter) for parameter in node.type.args.params):
                result.unnamed.append(node.name)
        enumeration = _enumeration(node)
        if enumeration is not None:
            result.constants |= {value.name for value in enumeration.values.enumerators}
    return result


def _is_unnamed(parameter: Any) -> bool:
    if isinstance(parameter, c_ast.Typename):
        return getattr(parameter.type.type, "names", None) != ["void"]
    return not isinstance(parameter, c_ast.EllipsisParam) and parameter.name is None


def _enumeration(node: Any) -> Any:
    inner = getattr(node, "type", None)
    if isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    return inner if isinstance(inner, c_ast.Enum) else None
