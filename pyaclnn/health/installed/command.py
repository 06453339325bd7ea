# SPDX-License-Identifier: Apache-2.0
"""The commands ``pyaclnn ops`` and ``pyaclnn abi``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pyaclnn.base.spelling import did_you_mean

if TYPE_CHECKING:
    import argparse

    from pyaclnn.health.installed.installation import Installation

    # The type has no public name.
    _Parts: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

__all__ = ["add_abi_to", "add_ops_to"]

_UNKNOWN = 2


def add_ops_to(commands: _Parts) -> None:
    """Add ``pyaclnn ops``.

    Args:
        commands: What ``add_subparsers`` gave. Each command sets ``action``, which takes the parsed
            options and gives the exit status.
    """
    ops = commands.add_parser(
        "ops",
        help="list the operators of CANN, and show or type them",
        description="The operators of an installation of CANN, by its headers and its lists of "
        "kernels; of all releases, by a table, where there is none. Nothing is loaded.",
    )
    parts = ops.add_subparsers(title="commands", required=True, metavar="COMMAND")
    listed = parts.add_parser("list", help="list operators by category")
    listed.add_argument(
        "word", nargs="*", help="what their names, in C or Python, must have in them"
    )
    listed.set_defaults(action=_list)
    shown = parts.add_parser("show", help="tell what is known of an operator")
    shown.add_argument("operator", help="its C name, or its name in pyaclnn.aclnn")
    shown.add_argument("--soc", metavar="CHIP", help="the data types of its kernel for a chip")
    shown.set_defaults(action=_show)
    typed = parts.add_parser("stub", help="write a .pyi of all operators to standard output")
    typed.set_defaults(action=_stub)
    for part in (listed, shown, typed):
        part.add_argument(
            "--root",
            type=Path,
            metavar="FOLDER",
            help="an installation; by default the CANN that would be used",
        )


def _find(options: argparse.Namespace) -> Installation | None:
    from pyaclnn.base.errors import BackendNotFoundError
    from pyaclnn.health.installed.installation import find_installation

    found = find_installation(options.root)
    if found is None and options.root is not None:
        message = f"{options.root} has neither libraries nor headers of CANN."
        raise BackendNotFoundError(message, attempts=[(str(options.root), "no installation")])
    return found


def _list(options: argparse.Namespace) -> int:
    from pyaclnn.health.installed.listing import list_operators

    lines = [*list_operators(_find(options), options.word)]
    if not lines:
        words = " and ".join(map(repr, options.word))
        message = f"pyaclnn ops: no operator has {words} in its name"
        print(f"{message}; without a word all are listed", file=sys.stderr)
        return _UNKNOWN
    print(*lines, sep="\n")
    return 0


def _show(options: argparse.Namespace) -> int:
    from pyaclnn.calling.declared import snake_name
    from pyaclnn.health.installed.listing import declared_operators, show_operator

    installation = _find(options)
    known = declared_operators(installation)
    names = {snake_name(name): name for name in known} | {name: name for name in known}
    name = names.get(options.operator)
    if name is None:
        hint = did_you_mean(options.operator, names, lead="; ", quote="")
        print(f"pyaclnn ops: there is no operator {options.operator}{hint}", file=sys.stderr)
        return _UNKNOWN
    print(*show_operator(name, installation, options.soc), sep="\n")
    return 0


def _stub(options: argparse.Namespace) -> int:
    from pyaclnn.health.installed.listing import declared_operators
    from pyaclnn.ops.typed_stub import typed_stub

    sys.stdout.write(typed_stub(declared_operators(_find(options))))
    return 0


def add_abi_to(commands: _Parts) -> None:
    """Add ``pyaclnn abi``; see ``add_ops_to``."""
    abi = commands.add_parser(
        "abi",
        help="compare an installation's headers and libraries with what pyaclnn calls",
        description="Compare the functions that pyaclnn declares with the headers of an "
        "installation and what its libraries export, of any processor; nothing is loaded. Exits "
        "with 0 if no call would go wrong, 1 if arguments would be misread or a function is "
        "missing, 2 if there is nothing to compare with.",
    )
    abi.add_argument(
        "--against",
        type=Path,
        metavar="FOLDER",
        help="an installation, or the folder of its libraries or of its operator headers; by "
        "default the CANN that would be used",
    )
    abi.add_argument("--json", action="store_true", help="print the result as JSON")
    abi.set_defaults(action=_abi)


def _abi(options: argparse.Namespace) -> int:
    import json

    from pyaclnn.health.installed.comparison import SEVERITIES, compare

    options.root = options.against
    installation = _find(options)
    if installation is None:
        print("pyaclnn abi: there is no CANN here; name one with --against", file=sys.stderr)
        return _UNKNOWN
    found = compare(installation)
    if not found.declared and not found.exported:
        message = (
            f"pyaclnn abi: {found.root} has no function that is known, in headers or libraries"
        )
        print(message, file=sys.stderr)
        return _UNKNOWN
    if options.json:
        print(json.dumps(found.as_record(), indent=2))
        return int(found.harmful)
    print(f"{found.root}: {found.declared} declarations and {found.exported} symbols are compared")
    for difference in found.differences:
        source = f" ({difference.source})" if difference.source else ""
        print(f"{difference.severity:<8} {difference.name}: {difference.text}{source}")
    counts = [(s, sum(d.severity == s for d in found.differences)) for s in SEVERITIES]
    print(", ".join(f"{severity} {count}" for severity, count in counts))
    return int(found.harmful)
