# SPDX-License-Identifier: Apache-2.0
"""aclnnFastBatchNormBackward (CANN: ops-nn norm/fast_batch_norm_backward)."""

from dataclasses import replace

from tests.operators.notation import *
from tests.operators.tables.batch_norm_backward import TABLE as SLOW

MASKS = 3
CHIPS = (*A2_A3, P950)
TENSORS = SLOW.types.names
LATE = ("saveMean", "saveInvstd", "gradWeight", "gradBias")


def asks_little(mistake: Broken) -> bool:
    """Return whether it is no length of a mask, whose checks are not known."""
    mask = mistake.changes.get("outputMask")
    return not isinstance(mask, Bools) or len(mask.values) == MASKS


def is_stricter(case: Case) -> bool:
    """Return whether only the other operator makes the check, on the 950."""
    wrong = (case.code and set(case.changes) & {*LATE, "outputMask"}) or case.launch == NOTHING
    return case.chips == (P950,) and bool(wrong)


MASK = list(SLOW.base).index("outputMask") + 1
TABLE = replace(
    SLOW,
    name="aclnnFastBatchNormBackward",
    releases=("9",),
    base=dict([*list(SLOW.base.items())[:MASK], ("version", 0), *list(SLOW.base.items())[MASK:]]),
    chips=CHIPS,
    steps=tuple(
        replace(step, mistakes=tuple(filter(asks_little, step.mistakes)))
        for step in SLOW.steps
        if set(step.chips) & {*CHIPS}
    ),
    types=replace(
        SLOW.types,
        rows=dict.fromkeys(CHIPS, SLOW.types.rows[A2]),
        listed=dict.fromkeys(CHIPS, SLOW.types.listed[A2]),
        unknown=(),
    ),
    layouts=tuple(found for found in SLOW.layouts if set(found.chips) & {*A2_A3}),
    cases=(
        *(case for case in SLOW.cases if set(case.chips) & {*CHIPS} and not is_stricter(case)),
        # The 950 compares these lengths neither before nor, of statistics, in the graph of kernels.
        *(
            Case(f"{name} of another length", {name: t(4)}, (P950,), code, computed=False)
            for name, code in zip(LATE, (0, 0, INNER_NULL, INNER_NULL), strict=True)
        ),
        Case("the other version", {"version": 1}),
        Case("no such version", {"version": 2}),
    ),
)
