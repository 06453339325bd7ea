# SPDX-License-Identifier: Apache-2.0
"""Definition of a rule."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Rule"]


@dataclass(frozen=True)
class Rule:
    """A rule of CANN's contract: something that a program must not do.

    The two snippets are complete: the tests compile and run every one of them, on a stage that has
    two streams (``stream``, ``other``), the tensors of an RmsNorm (``x``, ``g``, ``y``, ``rstd``,
    their memory ``x_at`` …), a block of device memory (``device``) and one of pinned host memory
    (``host``), each of `BYTES` bytes; ``phase_1()`` runs phase 1 of aclnnRmsNorm and allocates the
    workspace.

    Attributes:
        id: The name by which reports and tests know it.
        title: The mistake, in one line.
        explanation: Why that is wrong, and what CANN does then.
        fix: The correct way.
        source: Where CANN says so.
        wrong: C statements that break this rule and no other.
        right: The same, corrected.
        alone: The snippets end the process's use of the device and need a process of their own.
        since: The release of CANN that has what the snippets use.
    """

    id: str
    title: str
    explanation: str
    fix: str
    source: str
    wrong: str
    right: str
    alone: bool = False
    since: str = "8.1"
