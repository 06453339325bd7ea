# SPDX-License-Identifier: Apache-2.0
"""aclnnFastBatchNormBackward (CANN: ops-nn norm/fast_batch_norm_backward)."""

from dataclasses import replace

from tests.operators.notation import *
from tests.operators.tables.batch_norm_backward import TABLE as SLOW

MASKS = 3


def asks_little(mistake: Broken) -> bool:
    """Return whether it is no length of a mask, whose checks are not known."""
    mask = mistake.changes.get("outputMask")
    return not isinstance(mask, Bools) or len(mask.values) == MASKS


MASK = list(SLOW.base).index("outputMask") + 1
TABLE = replace(
    SLOW,
    name="aclnnFastBatchNormBackward",
    releases=("9",),
    base=dict([*list(SLOW.base.items())[:MASK], ("version", 0), *list(SLOW.base.items())[MASK:]]),
    chips=A2_A3,
    steps=tuple(
        replace(step, mistakes=tuple(filter(asks_little, step.mistakes)))
        for step in SLOW.steps
        if set(step.chips) & {*A2_A3}
    ),
    types=replace(
        SLOW.types,
        rows={chip: SLOW.types.rows[chip] for chip in A2_A3},
        listed={chip: found for chip, found in SLOW.types.listed.items() if chip in A2_A3},
    ),
    layouts=tuple(found for found in SLOW.layouts if set(found.chips) & {*A2_A3}),
    cases=(
        *(case for case in SLOW.cases if set(case.chips) & {*A2_A3}),
        Case("the other version", {"version": 1}),
        Case("no such version", {"version": 2}),
    ),
)
