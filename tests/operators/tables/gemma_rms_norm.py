# SPDX-License-Identifier: Apache-2.0
"""aclnnGemmaRmsNorm (CANN: ops-nn norm/gemma_rms_norm): as aclnnRmsNorm but for what gamma does."""

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables import rms_norm

CHIPS, TENSORS = (*A2_A3, P950), rms_norm.TENSORS
ROWS = ((BF16, BF16, BF16, F32), (F16, F16, F16, F32), (F32,) * 4)


def formula(given: Numbers, chip: str) -> Truth:
    return rms_norm.formula({**given, "gamma": 1 + given["gamma"]}, chip)


EXAMPLE = {"x": array([[1, 2, 3, 4]]), "gamma": array([0, 1, -1, 0.5])}
RESULTS = {"yOut": [[0.365148, 1.46059, 0, 2.19089]], "rstdOut": [[0.36514837]]}
TABLE = Table(
    name="aclnnGemmaRmsNorm",
    kind=INDIVIDUAL,
    base=rms_norm.BASE,
    results=("yOut", "rstdOut"),
    chips=CHIPS,
    steps=individual(TENSORS, CHIPS, *rms_norm.TILING_STEPS),
    types=Types(TENSORS, {**dict.fromkeys(A2_A3, ROWS), P950: rms_norm.FULL}),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        Case("four", {**EXAMPLE, "yOut": t(1, 4), "rstdOut": t(1, 1)}, gives=RESULTS, rtol=3e-6),
    ),
)
