# SPDX-License-Identifier: Apache-2.0
"""aclnnRenorm and aclnnInplaceRenorm (CANN: ops-nn norm/renorm)."""

from dataclasses import replace

import numpy as np

from tests.operators.notation import *

BOTH = ("self", "out")
BASE: dict[str, Argument] = {
    "self": t(3, 4, 2),
    "p": Scalar(2.0),
    "dim": 0,
    "maxNorm": Scalar(2.5),
    "out": t(3, 4, 2),
}


def shortened(x: Floats, given: Numbers) -> Floats:
    """Every slice divided by what its norm is above the largest."""
    slices = np.moveaxis(x, given["dim"], 0)
    rows = np.abs(slices.reshape(len(slices), -1))
    power, most = given["p"], given["maxNorm"]
    if power == np.inf:
        norms = rows.max(1)
    else:
        norms = (rows**power).sum(1) ** (1 / power) if power else (rows > 0).sum(1)
    factors = np.where(norms > most, most / (norms + 1e-7), 1.0)
    return np.moveaxis((slices.T * factors).T, 0, given["dim"])


def rows(*names: str) -> Types:
    return Types(
        names,
        {
            **dict.fromkeys((*A2_A3, P950), same_types(names, F32, F16, BF16)),
            P910: same_types(names, F32, F16),
        },
    )


WRONG = (
    broken("p below 0", p=Scalar(-1.0)),
    broken("axis 3", dim=3),
    broken("axis -4", dim=-4),
    broken("maxNorm below 0", maxNorm=Scalar(-0.5)),
)
ROWS = [[1, 1, 1], [2, 2, 2], [3, 3, 3]]


def rows_of_three(power: float, lengths: list[float], most: float = 5.0) -> Case:
    return Case(
        f"rows of three, norm {power}, at most {most}",
        {
            **dict.fromkeys(BOTH, array(ROWS)),
            "out": t(3, 3),
            "p": Scalar(power),
            "maxNorm": Scalar(most),
        },
        gives={"out": [[length] * 3 for length in lengths]},
        rtol=2e-6,
    )


TABLE = Table(
    name="aclnnRenorm",
    kind=COMPOSITE,
    base=BASE,
    results=("out",),
    chips=(*A2_A3, P950, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("self", "p", "maxNorm", "out")),
        unordered(INVALID, typed(*BOTH), broken("types differ", "", out=Changed(dtype=F16))),
        step(INVALID, broken("formats differ", "", out=Changed(format="NCHW"))),
        unordered(INVALID, shaped("self", (3,), NINE), shaped("out", (24,), (3, 8), (3, 4, 3))),
        unordered(INVALID, WRONG),
    ),
    types=rows(*BOTH),
    formula=lambda given, _chip: {"out": shortened(given["self"], given)},
    layouts=(Layouts(BOTH, frozenset(FORMATS)),),
    cases=(
        runs("sound", {}),
        *(runs(f"slices along axis {axis}", {"dim": axis}) for axis in (1, -1, -3)),
        *(runs(f"norm {p}", {"p": Scalar(p)}) for p in (0.0, 1.0, 3.0, np.inf)),
        runs("nothing is left", {"maxNorm": Scalar(0.0)}),
        runs("no number as limit", {"maxNorm": Scalar(np.nan)}, computed=False),
        idle("empty", dict.fromkeys(BOTH, t(3, 0, 2))),
        refused(
            INVALID, "empty and p below 0", {**dict.fromkeys(BOTH, t(3, 0)), **WRONG[0].changes}
        ),
        # Elsewhere than on the 950 the factor, 1 / 2.8, is rounded to float16 before it multiplies.
        *(
            Case(
                f"the factor is rounded: {rounded}",
                {
                    "self": array([[2.8, 1.4]], F16),
                    "out": t(1, 2, dtype=F16),
                    "p": Scalar(np.inf),
                    "maxNorm": Scalar(1.0),
                },
                chips,
                gives={"out": [found]},
                exact=True,
            )
            for rounded, chips, found in (
                (True, (*A2_A3, P910), [0.99951171875, 0.499755859375]),
                (False, (P950,), [1, 0.5]),
            )
        ),
        rows_of_three(1, [1, 5 / 3, 5 / 3]),
        rows_of_three(2, [1, 2, 2.88675]),
        rows_of_three(np.inf, [1, 2, 2.5], most=2.5),
    ),
)

ONE = {"selfRef": t(3, 4, 2), **{name: BASE[name] for name in ("p", "dim", "maxNorm")}}
INPLACE = replace(
    TABLE,
    name="aclnnInplaceRenorm",
    base=ONE,
    results=("selfRef",),
    updated=("selfRef",),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("selfRef", "p", "maxNorm")),
        unordered(INVALID, typed("selfRef")),
        unordered(INVALID, shaped("selfRef", (3,), NINE)),
        unordered(INVALID, WRONG),
    ),
    types=rows("selfRef"),
    formula=lambda given, _chip: {"selfRef": shortened(given["selfRef"], given)},
    layouts=(Layouts(("selfRef",), frozenset(FORMATS)),),
    cases=(
        runs("sound", {}),
        idle("empty", {"selfRef": t(3, 0, 2)}),
        Case(
            "rows of three",
            {"selfRef": array(ROWS), "maxNorm": Scalar(5.0)},
            gives={"selfRef": [[1] * 3, [2] * 3, [2.88675] * 3]},
            rtol=2e-6,
        ),
    ),
)

# The kernel table of 8.1 has the operator for more chips than its documents.
OLD, TABLE = in_8_1(TABLE, P310, P310B, like=P910), replace(TABLE, releases=("9",))
OLD_INPLACE, INPLACE = in_8_1(INPLACE, P310, P310B, like=P910), replace(INPLACE, releases=("9",))
