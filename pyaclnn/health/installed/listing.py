# SPDX-License-Identifier: Apache-2.0
"""Operators of an installation: lists, the description of one, and the commands ops and abi."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import BackendNotFoundError
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.calling.declared import python_name, snake_name
from pyaclnn.cann.signatures import PHASE_1, signature
from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.directions import directions_of
from pyaclnn.facts.operators.parameters import Tensor
from pyaclnn.facts.operators.results import result_rules
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.health.installed.comparison import SEVERITIES, compare, find_installation
from pyaclnn.health.installed.kernels import chip_folder, chips, kernel_of, kernels, refusal
from pyaclnn.ops.typed_stub import typed_stub
from pyaclnn.reference import implementation

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyaclnn.cann.signatures import Signature
    from pyaclnn.facts.operators import Operator
    from pyaclnn.health.installed.comparison import Comparison, Installation
    from pyaclnn.health.installed.kernels import Kernel

__all__ = ["category_of", "declared_operators", "in_one_line"]

_UNKNOWN: Final = 2
_CATEGORIES: Final = {
    "communication": "AllReduce|AllGather|AllToAll|ReduceScatter|Distribute|Barrier",
    "attention": "Attention|Mla|Rope|RotaryPosition",
    "experts": "Moe|Grouped",
    "quantised": "Quant",
    "lists": "^Foreach",
    "in place": "^Inplace",
    "normalization": "Norm",
    "gradients": "Backward|Grad",
    "convolution, pooling, resizing": "Conv|Pool|Upsample|Resize|Pad|Grid|Im2col|Roi",
    "matrices": "[Mm]at[Mm]ul|^Mm$|^Mv$|^Add.*mm$|Addmv|Einsum|Dot|^Ger$",
    "others": "",
}
"""Category -> pattern of the names of its operators; the first that fits counts."""


def declared_operators(installation: Installation | None) -> dict[str, Signature]:
    """Return the first phases of all operators, by the C name of the second.

    Args:
        installation: The installation; None for the table of all operators.
    """
    if installation is None or not installation.headers.paths:
        found = {name: signature(f"{name}{PHASE_1}") for name in [*catalogue(), *by_c_name()]}
    else:
        everything = installation.headers.everything()
        found = {n.removesuffix(PHASE_1): s for n, s in everything.items() if n.endswith(PHASE_1)}
    return {name: known for name, known in sorted(found.items()) if known is not None}


def category_of(operator: str) -> str:
    """Return the category of an operator, by its name."""
    plain = re.sub("^acl(nn)?", "", operator)
    return next(name for name, pattern in _CATEGORIES.items() if re.search(pattern, plain))


def in_one_line(operator: str, declared: Signature) -> str:
    """Write an operator as Python sees it: ``add(self, other, alpha) -> out``."""
    names = declared.parameters[:-2]
    directions = directions_of(operator, names, declared.types[:-2])
    given = [python_name(n) for p, n in enumerate(names) if p not in directions.results]
    written = [python_name(names[place]) for place in sorted(directions.written)]
    return f"{snake_name(operator)}({', '.join(given)}) -> {', '.join(written) or 'None'}"


def list_operators(installation: Installation | None, words: Sequence[str]) -> Iterator[str]:
    """List operators by category, and for those that are described the types on each chip.

    Args:
        installation: The installation; None for the table of all operators.
        words: Parts that a name must contain, all of them, in C's spelling or in Python's; empty
            for any name.
    """
    groups: dict[str, list[str]] = {name: [] for name in _CATEGORIES}
    found = declared_operators(installation)
    wanted = [word.lower().replace("_", "") for word in words]
    for name, declared in found.items():
        if all(word in name.lower() for word in wanted):
            groups[category_of(name)].append(f"  {name:<40} {in_one_line(name, declared)}")
            groups[category_of(name)] += [f"    {line}" for line in _described(name)]
    for category, lines in groups.items():
        if lines:
            yield f"{category}:"
            yield from lines


def _described(name: str) -> Iterator[str]:
    operator = by_c_name().get(name)
    if operator is None:
        return
    yield f"pyaclnn.{operator.name}"
    by_rows: dict[tuple[str, ...], list[str]] = {}
    for family, rows in operator.types.families.items():
        by_rows.setdefault(tuple(_types_in(operator, row) for row in rows), []).append(family)
    for texts, families in by_rows.items():
        yield from (f"{'/'.join(families)}: {text}" for text in texts)


def _types_in(operator: Operator, row: Mapping[str, tuple[str, ...]]) -> str:
    """Return the types of each tensor in a row of a description."""
    words = []
    for parameter in operator.parameters.values():
        if isinstance(parameter, Tensor):
            kinds = [
                ARRAYS[kind].numpy
                for word in parameter.type.split("/")
                for kind in ((word,) if word in ARRAYS else row.get(word) or row.get("*", ()))
            ]
            words.append(f"{parameter.name} {'|'.join(dict.fromkeys(kinds))}")
    return ", ".join(words)


def show_operator(
    operator: str, installation: Installation | None, chip: str | None
) -> Iterator[str]:
    """Describe an operator.

    Args:
        operator: The C name of its second phase; there is one.
        installation: The installation; None for the table of all operators.
        chip: The chip whose kernels are looked at; None for all.
    """
    declared = declared_operators(installation)[operator]
    names, types = declared.parameters[:-2], declared.types[:-2]
    directions = directions_of(operator, names, types)
    yield f"{operator}: pyaclnn.aclnn.{in_one_line(operator, declared)}"
    source = "table of all operators" if installation is None else str(installation.root)
    yield f"declared in {declared.header} ({source})"
    for name, c_type, direction in zip(names, types, directions.each, strict=True):
        yield f"  {direction:<6} {c_type:<24} {python_name(name)}"
    if directions.guessed:
        yield "which of these are written is a guess: no document of it is known"
    rule = result_rules().get(operator)
    if rule is not None and directions.results:
        yield f"results may be left out: {rule[0]} of {', '.join(rule[1])}"
    yield from _described(operator)
    yield f"on the simulated NPU: {on_the_simulated_npu(operator)}"
    if installation is not None:
        yield from _kernels(operator, installation, chip)
    elif chip is not None:
        where = "an installation of CANN, and there is none here; name one with --root"
        yield f"the dtypes of {chip} are in {where}"


def on_the_simulated_npu(operator: str) -> str:
    """Describe what computes an operator on the simulated NPU, by its C name."""
    if implementation(operator) is None:
        return "no kernel; pyaclnn.mock.operator gives it one"
    return "a kernel of its own"


def _kernels(operator: str, installation: Installation, chip: str | None) -> Iterator[str]:
    opp = installation.root / "opp"
    known = chips(opp)
    if not known:
        yield "this installation has no lists of kernels"
        return
    folders = known
    if chip is not None:
        folder = chip_folder(installation.root, chip)
        if folder is None:
            yield f"no list of kernels is for {chip}; there are some for {', '.join(known)}"
            return
        folders = [folder]
    for folder in folders:
        found = kernel_of(operator, kernels(opp, folder))
        if found is None:
            yield f"{folder}: no kernel is called like it"
        else:
            yield from _kernel(operator, found, folder, whole=chip is not None)


def _kernel(operator: str, kernel: Kernel, folder: str, *, whole: bool) -> Iterator[str]:
    built = "no binaries are installed"
    if kernel.built is not None:
        built = f"binaries installed: {sum(kernel.built)} of {len(kernel.built)}"
    answer = refusal(operator, kernel)
    status = f": phase 1 answers {answer}" if answer else ""
    yield f"{folder}: kernel for it: {kernel.name} ({kernel.source.name}), {built}{status}"
    if not whole:
        return
    ports = [*kernel.inputs, *kernel.outputs]
    names = [p.name + {"optional": "?", "dynamic": "[]"}.get(p.presence, "") for p in ports]
    table = [names, *map(list, kernel.rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=False)]
    for number, row in enumerate(table):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        answer = refusal(operator, kernel, number - 1) if number and kernel.built else None
        yield f"  {cells}{f'  no binary: {answer}' if answer else ''}".rstrip()
    for name, about in kernel.attributes.items():
        yield f"  attribute {name}: {about}"


def _find(options: argparse.Namespace) -> Installation | None:
    found = find_installation(options.root)
    if found is None and options.root is not None:
        message = f"{options.root} has neither libraries nor headers of CANN."
        raise BackendNotFoundError(message, attempts=[(str(options.root), "no installation")])
    return found


def _refuse(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return _UNKNOWN


def _print(lines: Iterable[str]) -> int:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def ops_list(options: argparse.Namespace) -> int:
    """List operators by category; return the exit status of the command."""
    installation = _find(options)
    lines = [*list_operators(installation, options.word)]
    if not lines:
        words = " and ".join(map(repr, options.word))
        message = f"pyaclnn ops: no operator has {words} in its name"
        known = {
            part
            for name in declared_operators(installation)
            for part in snake_name(name).split("_")
        }
        hints = [did_you_mean(word, known, lead="; ") for word in options.word]
        return _refuse(f"{message}{''.join(hints[:1]) or '; without a word all are listed'}")
    return _print(lines)


def ops_show(options: argparse.Namespace) -> int:
    """Describe an operator; return the exit status of the command."""
    installation = _find(options)
    known = declared_operators(installation)
    names = {snake_name(name): name for name in known} | {name: name for name in known}
    name = names.get(options.operator)
    if name is None:
        hint = did_you_mean(options.operator, names, lead="; ", quote="")
        return _refuse(f"pyaclnn ops: there is no operator {options.operator}{hint}")
    return _print(show_operator(name, installation, options.soc))


def ops_stub(options: argparse.Namespace) -> int:
    """Write a stub file of all operators to standard output; return the exit status."""
    sys.stdout.write(typed_stub(declared_operators(_find(options))))
    return 0


def abi(options: argparse.Namespace) -> int:
    """Compare an installation with what pyaclnn calls; return the exit status of the command."""
    options.root = options.against
    installation = _find(options)
    if installation is None:
        return _refuse("pyaclnn abi: there is no CANN here; name one with --against")
    found = compare(installation)
    if not found.declared and not found.exported:
        message = "has no function that is known, in headers or libraries"
        return _refuse(f"pyaclnn abi: {found.root} {message}")
    _print([json.dumps(found.as_record(), indent=2)] if options.json else _differences(found))
    return int(found.harmful)


def _differences(found: Comparison) -> Iterator[str]:
    yield f"{found.root}: {found.declared} declarations and {found.exported} symbols are compared"
    for difference in found.differences:
        source = f" ({difference.source})" if difference.source else ""
        yield f"{difference.severity:<8} {difference.name}: {difference.text}{source}"
    counts = [(s, sum(d.severity == s for d in found.differences)) for s in SEVERITIES]
    yield ", ".join(f"{severity} {count}" for severity, count in counts)
