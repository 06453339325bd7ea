# SPDX-License-Identifier: Apache-2.0
"""The commands ``pyaclnn mock rules`` and ``pyaclnn mock faults``."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, TypeAlias

from pyaclnn.base.spelling import did_you_mean
from pyaclnn.mock.contract import RULES
from pyaclnn.mock.control.injection import GRAMMAR

if TYPE_CHECKING:
    import argparse

    from pyaclnn.mock.contract import Rule

    # The type has no public name.
    _Parts: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

__all__ = ["add_to", "explanation"]

_UNKNOWN = 2
_WIDTH = 92
_TAKEN = (
    "Both go on from a program that has opened a device; what they do not declare is its own: a "
    "stream, tensors x, g, y and rstd, phase_1() of an RmsNorm of these, stage_close() to give "
    "all back."
)


def add_to(parts: _Parts) -> None:
    """Add the two commands to those of ``pyaclnn mock``.

    Args:
        parts: The result of ``add_subparsers`` of that command. Each command sets ``action``, which
            takes the parsed options and gives the exit status.
    """
    rules = parts.add_parser(
        "rules",
        help="list the rules that the simulated NPU checks",
        description="List the rules that the simulated NPU checks, or explain one.",
    )
    rules.add_argument("--explain", metavar="ID", help="the full text of a rule, with examples")
    rules.set_defaults(action=_rules)
    faults = parts.add_parser(
        "faults",
        help="explain PYACLNN_MOCK_FAULTS",
        description="Explain how faults of the simulated NPU are written.",
    )
    faults.set_defaults(action=_faults)


def explanation(rule: Rule) -> str:
    """Return the full text of a rule."""
    paragraphs = [
        f"{rule.id}: {rule.title}",
        textwrap.fill(rule.explanation, _WIDTH),
        textwrap.fill(f"Do this: {rule.fix}.", _WIDTH),
        f"Wrong:\n\n{textwrap.indent(rule.wrong, '    ')}",
        f"Right:\n\n{textwrap.indent(rule.right, '    ')}",
        textwrap.fill(_TAKEN, _WIDTH),
        f"Source: {rule.source}.",
    ]
    return "\n\n".join(paragraphs) + "\n"


def _rules(options: argparse.Namespace) -> int:
    if options.explain is None:
        width = max(len(rule.id) for rule in RULES)
        sys.stdout.writelines(f"{rule.id:{width}}  {rule.title}\n" for rule in RULES)
        return 0
    known = {rule.id: rule for rule in RULES}
    rule = known.get(options.explain.lower())
    if rule is not None:
        sys.stdout.write(explanation(rule))
        return 0
    advice = did_you_mean(options.explain, known) or "without --explain they are listed"
    sys.stderr.write(f"pyaclnn mock rules: there is no rule '{options.explain}'; {advice}\n")
    return _UNKNOWN


def _faults(_options: argparse.Namespace) -> int:
    sys.stdout.write(GRAMMAR)
    return 0
