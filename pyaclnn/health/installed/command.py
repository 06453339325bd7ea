# SPDX-License-Identifier: Apache-2.0
"""The commands ``pyaclnn ops`` and ``pyaclnn abi``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyaclnn.base.spelling import did_you_mean

if TYPE_CHECKING:
    import argparse

    from pyaclnn.health.installed.comparison import Installation


__all__ = ["abi", "list_operators", "show", "stub"]

_UNKNOWN = 2


def _find(options: argparse.Namespace) -> Installation | None:
    from pyaclnn.base.errors import BackendNotFoundError
    from pyaclnn.health.installed.comparison import find_installation

    found = find_installation(options.root)
    if found is None and options.root is not None:
        message = f"{options.root} has neither libraries nor headers of CANN."
        raise BackendNotFoundError(message, attempts=[(str(options.root), "no installation")])
    return found


def list_operators(options: argparse.Namespace) -> int:
    """List operators by category.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
    from pyaclnn.health.installed import listing

    lines = [*listing.list_operators(_find(options), options.word)]
    if not lines:
        words = " and ".join(map(repr, options.word))
        message = f"pyaclnn ops: no operator has {words} in its name"
        print(f"{message}; without a word all are listed", file=sys.stderr)
        return _UNKNOWN
    print(*lines, sep="\n")
    return 0


def show(options: argparse.Namespace) -> int:
    """Describe an operator.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
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


def stub(options: argparse.Namespace) -> int:
    """Write a stub file of all operators to standard output.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
    from pyaclnn.health.installed.listing import declared_operators
    from pyaclnn.ops.typed_stub import typed_stub

    sys.stdout.write(typed_stub(declared_operators(_find(options))))
    return 0


def abi(options: argparse.Namespace) -> int:
    """Compare an installation with what pyaclnn calls.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
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
