# SPDX-License-Identifier: Apache-2.0
"""aclnnAdaLayerNormQuant (CANN: ops-nn norm/ada_layer_norm_quant)."""

import numpy as np

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables import ada_layer_norm as forward

CHIPS = (*A2_A3, P950)
INPUTS = ("x", "scale", "shift", *forward.PARAMETERS, "smoothScalesOptional")
TENSORS = (*INPUTS, "out", "quantScale")
BASE: dict[str, Argument] = {
    "x": t(2, 3, 4, 8, dtype=F16),
    "scale": t(2, 3, 8, dtype=F16),
    "shift": t(2, 3, 1, 8, dtype=F16),
    **dict.fromkeys((*forward.PARAMETERS, "smoothScalesOptional"), t(8, dtype=F16)),
    "epsilon": 1e-5,
    "quantMode": "dynamic",
    "out": t(2, 3, 4, 8, dtype=I8),
    "quantScale": t(2, 3, 4),
    "quantOffsetOptional": None,
}


def formula(given: Numbers, chip: str) -> Truth:
    v = forward.formula(given, chip)["out"]
    if given["smoothScalesOptional"] is not None:
        v = v * given["smoothScalesOptional"]
    scale = np.abs(v).max(-1) / MOST[given["out.dtype"]]
    return {"out": quantized(v / scale[..., None], given["out.dtype"]), "quantScale": scale}


def row(x: str, out: str = I8) -> tuple[str, ...]:
    return (x, x, x, x, x, x, out, F32)


ROWS = (row(F16), row(BF16))
ON_950 = tuple(row(x, out) for x in (F16, BF16) for out in (I8, *FLOAT8))
UNKNOWN = (row(F16, HIF8), row(BF16, HIF8))
"""Rows of the 950 that the simulated NPU does not compute."""


def plain(dtype: str, *x: int) -> dict[str, Argument]:
    return {
        "x": t(*x, dtype=dtype),
        **dict.fromkeys(("scale", "shift"), t(*x[:-2], x[-1], dtype=dtype)),
        **dict.fromkeys(INPUTS[3:], t(x[-1], dtype=dtype)),
        "out": t(*x, dtype=I8),
        "quantScale": t(*x[:-1]),
    }


TABLE = Table(
    name="aclnnAdaLayerNormQuant",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("out", "quantScale"),
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("x", "scale", "shift", "out", "quantScale")),
        unordered(INVALID, typed(*TENSORS), typed(*TENSORS[1:], dtype=BF16)),
        unordered(
            INVALID,
            shaped("x", (8,)),
            shaped("scale", (2, 8), (2, 3, 7)),
            shaped("shift", (6, 8), (2, 3, 2, 8)),
            shaped("weightOptional", (4,), (1, 8)),
            shaped("biasOptional", (7,)),
            shaped("smoothScalesOptional", (1,), (8, 1)),
            shaped("out", (2, 12, 8)),
            shaped("quantScale", (2, 3, 4, 1), (24,)),
            broken("an offset", quantOffsetOptional=t(2, 3, 4)),
            broken("another mode", quantMode="static"),
            broken("more than the mode", quantMode="dynamics"),
        ),
    ),
    types=Types(TENSORS, {**dict.fromkeys(A2_A3, ROWS), P950: ON_950}, unknown=UNKNOWN),
    formula=formula,
    optional=INPUTS[3:],
    cases=(
        runs("sound", {}),
        runs("no word for the mode", {"quantMode": None}),
        refused(999001, "HIFLOAT8", {"out": Changed(dtype=HIF8)}, (P950,)),
        refused(INVALID, "HIFLOAT8 but on the 950", {"out": Changed(dtype=HIF8)}, A2_A3),
        idle("no samples", plain(F16, 0, 4, 8)),
        *(
            Case(
                f"two rows in {dtype}",
                {
                    **plain(dtype, 1, 2, 4),
                    "x": array([[[1, 2, 3, 4], [2, 0, 2, 0]]], dtype),
                    "scale": array([[1, 0, 0.5, -0.5]], dtype),
                    "shift": array([[0, 1, 0, 1]], dtype),
                    "weightOptional": array([1, 2, 1, 1], dtype),
                    "biasOptional": array([0, 0, 0.5, 0], dtype),
                    "smoothScalesOptional": None,
                },
                gives={
                    "out": [[[-127, 5, 67, 79], [113, -56, 127, 28]]],
                    "quantScale": [[0.021128118, 0.017716475]],
                },
            )
            for dtype in (F16, BF16)
        ),
    ),
)
