# SPDX-License-Identifier: Apache-2.0
"""The commands ``pyaclnn mock rules`` and ``pyaclnn mock faults``."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

from pyaclnn.base.spelling import did_you_mean
from pyaclnn.mock.contract import RULES
from pyaclnn.mock.control.injection import GRAMMAR

if TYPE_CHECKING:
    import argparse

    from pyaclnn.mock.contract import Rule

__all__ = ["explanation", "print_faults", "print_rules"]

_UNKNOWN = 2
_WIDTH = 92
_TAKEN = (
    "Both go on from a program that has opened a device; what they do not declare is its own: a "
    "stream, tensors x, g, y and rstd, phase_1() of an RmsNorm of these, stage_close() to give "
    "all back."
)


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


def print_rules(options: argparse.Namespace) -> int:
    """Print the rules, or explain one; the exit status."""
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


def print_faults(_options: argparse.Namespace) -> int:
    """Print how faults are written; the exit status."""
    sys.stdout.write(GRAMMAR)
    return 0
