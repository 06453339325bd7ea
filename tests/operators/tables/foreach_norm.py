# SPDX-License-Identifier: Apache-2.0
"""aclnnForeachNorm (CANN: ops-nn foreach/foreach_norm)."""

from typing import Any

import numpy as np

from tests.operators.notation import *

CHIPS = (A2, A3, P950)
TENSORS = ("x", "out")
BASE: dict[str, Argument] = {"x": t(2, 3), "scalar": Scalar(2.0), "out": t(1)}
ROWS = same_types(TENSORS, F32, F16, BF16)


def formula(given: Numbers, chip: str) -> Truth:
    sizes, order = np.abs(given["x"]).ravel(), given["scalar"]
    if np.isinf(order):
        return {"out": sizes.max(keepdims=True)}
    if chip == P950:
        order = 1 if int(order) == 1 else 2
    return {"out": (sizes**order).sum(keepdims=True) ** (1 / order)}


OF_TORCH: tuple[tuple[float, list[Any], float], ...] = (
    (1.0, [[-1.078125, 1.15625, 0.84375], [1.75, 1.5625, -0.578125]], 6.96875),
    (1.0, [1.765625, -1.671875, -0.234375, -1.125], 4.796875),
    (2.0, [[-0.375, -1.390625, -1.546875], [0.5, 0.75, -1.859375]], 2.9558520317077637),
    (2.0, [-1.484375, 1.734375, 1.859375, 0.9375], 3.0899202823638916),
)
"""An order, a tensor and its norm; written by PyTorch 2.13 for the CPU."""

STEPS = list(individual(TENSORS, CHIPS, unordered(TILING, shaped("out", (2,), (2, 2)))))
# The number is as needed as the tensors, and of a type that the kernel knows.
STEPS[0] = step(NULL, nulls("x", "scalar", "out"))
INVALID_TYPES = STEPS[4]
STEPS[4] = unordered(
    INVALID_TYPES.code,
    *INVALID_TYPES.mistakes,
    *(broken(f"scalar {dtype}", scalar=Scalar(2.0, dtype)) for dtype in (F16, I32)),
)

TABLE = Table(
    name="aclnnForeachNorm",
    kind=INDIVIDUAL,
    base=BASE,
    results=("out",),
    chips=CHIPS,
    each=True,
    steps=tuple(STEPS),
    types=Types(TENSORS, dict.fromkeys(CHIPS, ROWS)),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        *(
            Case(
                f"{norm} is the norm of order {order} in {dtype}",
                {"x": array([[3, -4]], dtype), "scalar": number, "out": t(1, dtype=dtype)},
                gives={"out": [norm]},
            )
            for dtype in (F32, F16, BF16)
            for order, norm, number in (
                (2, 5, Scalar(2.0)),
                (1, 7, Scalar(1.0, F64)),
                (2, 5, Scalar(2, I64)),
                ("infinity", 4, Scalar(float("inf"))),
            )
        ),
        *(
            Case(
                f"as PyTorch has it, {place}",
                {"x": array(x), "scalar": Scalar(order)},
                gives={"out": [norm]},
            )
            for place, (order, x, norm) in enumerate(OF_TORCH)
        ),
        runs("without axes", {"out": t()}, computed=False),
        Case("one element", {"x": array([2]), "out": t(1)}, gives={"out": [2]}),
        Case(
            "of order 3",
            {"x": array([1, -2, 2]), "scalar": Scalar(3.0)},
            chips=A2_A3,
            gives={"out": [17 ** (1 / 3)]},
        ),
        Case(
            "of order 3, which is 2 there",
            {"x": array([1, -2, 2]), "scalar": Scalar(3.0)},
            chips=(P950,),
            gives={"out": [3]},
        ),
        Case(
            "of order 1.5, which is 1 there",
            {"x": array([1, -2, 2]), "scalar": Scalar(1.5)},
            chips=(P950,),
            gives={"out": [5]},
        ),
    ),
)
