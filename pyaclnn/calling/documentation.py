# SPDX-License-Identifier: Apache-2.0
"""Docstrings of the Python functions of operators."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pyaclnn.calling.example import Example
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.documentation import (
    WIDTH,
    item,
    limits_in_words,
    shape_in_words,
)
from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.parameters import Kind, Option, Tensor
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.facts.releases import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyaclnn.calling.declared import Declared
    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Parameter
    from pyaclnn.facts.operators.torch_signature import TorchSignature

__all__ = ["docstring", "signature_in_words"]

_KINDS = (
    "NumPy arrays in mean NumPy arrays out, when all is done; device arrays in mean device "
    "arrays out, queued and not waited for."
)


def docstring(operator: Operator) -> str:
    """Write the docstring of a public function."""
    return "\n".join(_docstring(operator)) + "\n"


def _docstring(operator: Operator) -> Iterator[str]:
    first, _, rest = operator.doc.partition(". ")
    yield f"{first.rstrip('.')}."
    more = [rest] if rest else []
    drives = f"Drives ``{operator.c_name}``{_since(operator)}."
    yield from _filled(" ".join(["", *more, drives]).strip(), "")
    if operator.torch is not None:
        yield from _filled(_about_torch(operator.torch, operator.positional), "")
    yield "\nArgs:"
    for name in (*operator.positional, *operator.keywords):
        others = [other for other, known in operator.synonyms.items() if known == name]
        also = f" ``{'`` or ``'.join(others)}`` is taken for it too." if others else ""
        yield from item(name, _about(operator, operator.by_name[name]) + also)
    if operator.saved:
        forward, *names = operator.saved
        listed = " and ".join(f"``{name}``" for name in names)
        words = [word for t in operator.inputs if t.name in names for _, word in t.by_chip]
        named = " or ".join(f"``{word}``" for word in words)
        text = f"The result of ``{forward}``, which has {listed}; or a dict of both, in which the"
        yield from item("saved", f"{text} last is named {named}, as the chip has it.")
    yield from item("stream", "Where to queue the work; the device's default stream if None.")
    if operator.outputs:
        yield from item("out", _about_out(operator))
    yield "\nReturns:"
    for tensor in operator.outputs:
        yield from item(tensor.name, _about(operator, tensor))
    for tensor in () if operator.outputs else operator.returned:
        yield from item(tensor.name, "The very array that was given.")
    yield "\nRaises:"
    refused = "An argument is not acceptable; nothing was computed or allocated."
    yield from item("InvalidArgumentError", refused)
    failed = "CANN refused the call, or, with NumPy arrays, the work failed."
    yield from item("AclError", failed)
    yield "\nExamples:"
    yield from (f"    {line}" for line in Example(operator).lines())
    if operator.source:
        yield f"\nSource: {operator.source}."


def _about_torch(signature: TorchSignature, positional: Sequence[str]) -> str:
    defaults = [f"``{p.name}`` is {p.meant} by default" for p in signature.parameters if p.word]
    if not defaults and [parameter.name for parameter in signature.parameters] == [*positional]:
        return f"Names and order are those of ``{signature}``."
    its = f"; there, {' and '.join(defaults)}" if defaults else ""
    return (
        f"Calls written for ``{signature}`` are accepted where the kinds of their arguments do not "
        f"fit the signature above{its}."
    )


def _since(operator: Operator) -> str:
    """Which releases have it, if not all."""
    entry = catalogue().get(operator.c_name)
    if entry is None or entry.is_in(DEFAULT):
        return ""
    return f", which CANN has since {min(entry.releases)}"


def _filled(text: str, indent: str) -> Iterator[str]:
    yield ""
    yield from textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _about(operator: Operator, parameter: Parameter) -> str:
    says = parameter.doc
    if isinstance(parameter, Tensor):
        each = "a list, each " if operator.lists else ""
        facts = f"{each}{_types(operator, parameter)} of shape {shape_in_words(parameter)}"
        if parameter.infer is not None:
            facts = _types(operator, parameter)
        wanted = "" if parameter.read or parameter.when is None else "; None if there is none"
        updated = " Updated in place." if parameter.read and parameter.written else ""
        kinds = f" {_KINDS}" if parameter is operator.primary else ""
        return f"{says}; {facts}{wanted}.{updated}{kinds}"
    assert isinstance(parameter, Option)  # noqa: S101  # there are two kinds
    return f"{says}{_limits(parameter)}."


def _types(operator: Operator, tensor: Tensor) -> str:
    words = operator.types.allowed(tensor.type, {})
    names = [ARRAYS[word].numpy for word in words]
    same = tensor is not operator.primary and tensor.type == operator.primary.type
    if same:
        return f"the dtype of {operator.primary.name},"
    return " or ".join(names)


def _limits(option: Option) -> str:
    if option.kind is Kind.MASK:
        return "; the others are None, and nothing is computed or allocated for them"
    return limits_in_words(option)


def _about_out(operator: Operator) -> str:
    names = ", ".join(tensor.name for tensor in operator.outputs)
    where = "contiguous on a device" if operator.build is Build.INDIVIDUAL else "strided if need be"
    one = f" for each of {operator.primary.name}" if operator.lists else ""
    return (
        f"Arrays to write to, and to return, of the dtypes and shapes below ({names}){one}; None "
        f"for one to be allocated. Not overlapping each other or an input; {where}."
    )


def signature_in_words(declared: Declared) -> str:
    """Write the docstring of an operator of which nothing but its declaration is known."""
    directions = declared.directions
    guessed = " (guessed: no document is known)" if directions.guessed else ""
    lines = [
        f"Call ``{declared.name}``; see ``pyaclnn.op`` for what all operators have in common.",
        "",
        f"Declared in {declared.signature.header}{guessed}.",
        "",
        "Args:",
    ]
    words = {"in": "", "out": ", written", "inout": ", read and written"}
    rows = zip(declared.names, declared.signature.types, directions.each, strict=False)
    for place, (name, c_type, direction) in enumerate(rows):
        optional = ", NULL if left out" if place in declared.optional else ""
        lines.append(f"    {name}: ``{c_type}``{words[direction]}{optional}.")
    lines += [
        "    stream: Where to queue the work; the device's default stream if None.",
        "",
        "Returns:",
        f"    {', '.join(declared.names[p] for p in declared.written) or 'Nothing'}.",
    ]
    return "\n".join(lines) + "\n"
