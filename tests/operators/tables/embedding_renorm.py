# SPDX-License-Identifier: Apache-2.0
"""aclnnEmbeddingRenorm (CANN: ops-nn norm/embedding_renorm)."""

from dataclasses import replace
from itertools import product

import numpy as np

from tests.operators.notation import *

BOTH = ("selfRef", "indices")
BASE: dict[str, Argument] = {
    "selfRef": t(4, 6),
    "indices": array([[3, 0], [3, 1]], I64),
    "maxNorm": 1.5,
    "normType": 2.0,
}


def formula(given: Numbers, _chip: str) -> Truth:
    table = given["selfRef"].copy()
    for row in {int(index) for index in given["indices"].ravel()}:
        length = np.linalg.norm(table[row], given["normType"])
        if length > given["maxNorm"]:
            table[row] *= given["maxNorm"] / length
    return {"selfRef": table}


FULL, NARROW = (F32, F16, BF16), (F32, F16)
THREE = [[3, 4], [0, 1], [6, 8]]
TABLE = Table(
    name="aclnnEmbeddingRenorm",
    kind=COMPOSITE,
    base=BASE,
    results=("selfRef",),
    updated=("selfRef",),
    chips=(*A2_A3, P950, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*BOTH)),
        unordered(INVALID, typed(*BOTH), typed("selfRef", dtype=I32)),
        unordered(INVALID, shaped("selfRef", (4,), (2, 2, 6)), shaped("indices", NINE)),
    ),
    types=Types(
        BOTH,
        {
            **dict.fromkeys((*A2_A3, P950), tuple(product(FULL, (I32, I64)))),
            P910: tuple(product(NARROW, (I32, I64))),
        },
    ),
    formula=formula,
    layouts=(Layouts(("selfRef",), frozenset(FORMATS) - PRIVATE),),
    cases=(
        runs("sound", {}),
        runs("a single index", {"indices": array(2, I64)}),
        runs("every order", {"normType": 1.0}),
        Case("the limits are not looked at", {"maxNorm": -1.0, "normType": -2.0}, computed=False),
        idle("an empty table", {"selfRef": t(4, 0)}),
        idle("no indices", {"indices": t(0, dtype=I64)}),
        *(
            Case(
                f"rows {picked}",
                {"selfRef": array(THREE), "indices": array(picked, I32), "maxNorm": 2.0},
                gives={"selfRef": found},
                rtol=2e-6,
            )
            for picked, found in (
                ([2, 0], [[1.2, 1.6], [0, 1], [1.2, 1.6]]),
                ([2, 2], [[3, 4], [0, 1], [1.2, 1.6]]),
            )
        ),
        Case(
            "no number as limit",
            {"selfRef": array(THREE), "indices": array([0], I32), "maxNorm": np.nan},
            gives={"selfRef": THREE},
            computed=False,
        ),
    ),
)

# The kernel table of 8.1 has the operator for more chips than its documents.
OLD, TABLE = in_8_1(TABLE, P310, P310B, like=P910), replace(TABLE, releases=("9",))
