# SPDX-License-Identifier: Apache-2.0
"""aclnnAddRmsNormDynamicQuantV2 (CANN: ops-nn norm/add_rms_norm_dynamic_quant)."""

import numpy as np

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables.rms_norm_quant import in_int32

CHIPS = (*A2_A3, P950)
SMOOTH = ("smoothScale1Optional", "smoothScale2Optional")
INPUTS = ("x1", "x2", "gamma", *SMOOTH, "betaOptional")
INTEGERS, STEPS_OUT = ("y1Out", "y2Out"), ("scale1Out", "scale2Out")
TENSORS = (*INPUTS, *INTEGERS, "xOut", *STEPS_OUT)
BASE: dict[str, Argument] = {
    **dict.fromkeys(("x1", "x2"), t(2, 3, 16, dtype=F16)),
    **dict.fromkeys(INPUTS[2:], t(16, dtype=F16)),
    "epsilon": 1e-6,
    "outputMask": None,
    **dict.fromkeys(INTEGERS, t(2, 3, 16, dtype=I8)),
    "xOut": t(2, 3, 16, dtype=F16),
    **dict.fromkeys(STEPS_OUT, t(2, 3)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, beta = given["x1"] + given["x2"], given["betaOptional"]
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + given["epsilon"]) * given["gamma"]
    y = y + (0 if beta is None else beta)
    found = {"xOut": x}
    both = all(given[name] is not None for name in SMOOTH)
    for place, wanted in enumerate(given["outputMask"] or (True, both)):
        if wanted:
            v = y * (1 if given[SMOOTH[place]] is None else given[SMOOTH[place]])
            dtype = given[f"{INTEGERS[place]}.dtype"]
            scale = np.abs(v).max(-1) / MOST.get(dtype, 7)
            whole = v / scale[..., None]
            found[STEPS_OUT[place]] = scale
            found[INTEGERS[place]] = (
                in_int32(np.rint(whole)) if dtype == I32 else quantized(whole, dtype)
            )
    return found


def row(x: str, y: str = I8) -> tuple[str, ...]:
    return (x,) * 6 + (y, y, x, F32, F32)


ALONE: Changes = {"y2Out": t(1, dtype=I8), "scale2Out": t(1)}
UNSCALED = {"y2Out": UNTOUCHED, "scale2Out": UNTOUCHED}


def masked(*wanted: bool, **more: Argument | Changed) -> Changes:
    return {"outputMask": Bools(wanted), **more}


def four(dtype: str, times: int = 1) -> Changes:
    """A row of four, or the same several times over."""
    return {
        "x1": array([[1, 2, 3, 4] * times], dtype),
        "x2": array([[1, 0, -1, 2] * times], dtype),
        "gamma": array([1, 2, 0.5, 1] * times, dtype),
        **dict.fromkeys((*SMOOTH, "betaOptional")),
        "y1Out": t(1, 4 * times, dtype=I8),
        "xOut": t(1, 4 * times, dtype=dtype),
        "scale1Out": t(1),
        **ALONE,
    }


# y of a row of four, twice, in steps of its largest magnitude / 7: 2 5 1 7.
PACKED = 0x71527152
TABLE = Table(
    name="aclnnAddRmsNormDynamicQuantV2",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=(*INTEGERS, "xOut", *STEPS_OUT),
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(
            INVALID,
            broken("a mask of one", outputMask=Bools((True,))),
            broken("nothing wanted", "", outputMask=Bools((False, False))),
            broken("what is smoothed is masked off", "", outputMask=Bools((False, True))),
            broken("the second is masked off", "", outputMask=Bools((True, False))),
            broken("the second scale alone", "smoothScale2Optional", smoothScale1Optional=None),
        ),
        unordered(NULL, nulls("x1", "x2", "gamma", "xOut", *INTEGERS, *STEPS_OUT)),
        step(INVALID, broken("two types", "", y2Out=Changed(dtype=I32))),
        unordered(
            TILING,
            shaped("x2", (6, 16), (2, 3, 15)),
            shaped("gamma", (15,), (1, 16)),
            *(m for name in (*SMOOTH, "betaOptional") for m in shaped(name, (15,))),
            *(m for name in (*INTEGERS, "xOut") for m in shaped(name, (6, 16))),
        ),
    ),
    # Phase 1 looks at no type; what no kernel has fails in phase 2.
    types=Types(
        TENSORS,
        dict.fromkeys(CHIPS, (*(row(x, y) for x in (F16, BF16) for y in (I8, *FLOAT8)), row(F32))),
        listed=dict.fromkeys(CHIPS, frozenset(TYPES)),
        fails=lambda chip, types: types["x1"] == F32 or (chip != P950 and types["y1Out"] in FLOAT8),
    ),
    formula=formula,
    optional=("betaOptional",),
    cases=(
        runs("sound", {}),
        runs("one is smoothed", {SMOOTH[1]: None, **ALONE}),
        Case("both wanted, none smoothed", masked(True, True, **dict.fromkeys(SMOOTH))),
        runs(
            "the second alone",
            masked(False, True, smoothScale1Optional=None, y1Out=None, scale1Out=None),
        ),
        runs(
            "the first alone",
            masked(True, False, **dict.fromkeys(SMOOTH), y2Out=t(1, dtype=I8), scale2Out=None),
        ),
        Case("float32 has no kernel", dict.fromkeys(INPUTS, Changed(dtype=F32)), launch=FAILS),
        idle(
            "no rows",
            {
                **dict.fromkeys(("x1", "x2", "xOut"), t(0, 16, dtype=F16)),
                **dict.fromkeys(INTEGERS, t(0, 16, dtype=I8)),
                **dict.fromkeys(STEPS_OUT, t(0)),
            },
        ),
        *(
            Case(
                f"four in {dtype}",
                four(dtype),
                gives={
                    "y1Out": [[42, 85, 21, 127]],
                    "xOut": [[2, 2, 2, 6]],
                    "scale1Out": [0.013638195],
                    **UNSCALED,
                },
            )
            for dtype in (F16, BF16)
        ),
        Case(
            "eight, packed",
            {**four(F16, 2), "y1Out": t(1, 1, dtype=I32)},
            gives={"y1Out": [[PACKED]], "scale1Out": [0.24743582], **UNSCALED},
        ),
        refused(INVALID, "packed into too little", {**four(F16, 2), "y1Out": t(1, 2, dtype=I32)}),
    ),
)
