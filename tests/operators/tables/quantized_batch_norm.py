# SPDX-License-Identifier: Apache-2.0
"""aclnnQuantizedBatchNorm (CANN: ops-nn norm/quantized_batch_norm)."""

from itertools import product

import numpy as np

from tests.operators.notation import *

CHIPS = (*A2_A3, P950)
PER_CHANNEL = ("mean", "var", "weight", "bias")
TENSORS = ("input", *PER_CHANNEL, "output")
SCALARS = ("inputScale", "inputZeroPoint", "outputScale", "outputZeroPoint")
BASE: dict[str, Argument] = {
    "input": t(2, 3, 4, 2, dtype=I8),
    "mean": t(3),
    "var": array([1, 2, 0.5]),
    "inputScale": Scalar(0.5),
    "inputZeroPoint": Scalar(2, I32),
    "outputScale": Scalar(0.25),
    "outputZeroPoint": Scalar(3, I32),
    "weight": t(3),
    "bias": t(3),
    "epsilon": 1e-5,
    "output": t(2, 3, 4, 2, dtype=I8),
}

LIMITS = {I8: (-128, 127), U8: (0, 255), I32: (-(2**31), 2**31 - 1)}


def formula(given: Numbers, _chip: str) -> Truth:
    def wide(name: str, absent: float) -> Floats:
        return np.reshape(absent if given[name] is None else given[name], (-1, 1, 1))

    x = (given["input"] - given["inputZeroPoint"]) * given["inputScale"]
    y = (x - wide("mean", 0)) / np.sqrt(wide("var", 1) + given["epsilon"])
    y = y * wide("weight", 1) + wide("bias", 0)
    whole = np.rint(y / given["outputScale"] + given["outputZeroPoint"])
    return {"output": np.clip(whole, *LIMITS[given["output.dtype"]])}


def one_channel(dtype: str, **more: Argument) -> dict[str, Argument]:
    return {
        "input": array([[[[10, -5], [0, 20]]]], dtype),
        "mean": array([1]),
        "var": array([4]),
        "weight": array([2]),
        "bias": array([0.5]),
        "output": t(1, 1, 2, 2, dtype=dtype),
        **more,
    }


TABLE = Table(
    name="aclnnQuantizedBatchNorm",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("output",),
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("input", "output", "mean", "var", *SCALARS)),
        unordered(
            INVALID,
            typed(*TENSORS),
            typed(*TENSORS, dtype=F16),
            shaped("input", (2, 3, 8), (2, 3, 4, 2, 1)),
            shaped("output", (2, 3, 2, 4)),
            *(m for name in PER_CHANNEL for m in shaped(name, (4,), (3, 1))),
            *(Broken(f"{n} is double", {n: Scalar(1, "DOUBLE")}, n) for n in SCALARS),
            *(Broken(f"{n} is an integer", {n: Scalar(1, I32)}, n) for n in SCALARS[::2]),
            *(Broken(f"{n} is float", {n: Scalar(1)}, n) for n in SCALARS[1::2]),
        ),
    ),
    types=Types(
        TENSORS,
        dict.fromkeys(
            CHIPS, tuple((x, *(F32,) * 4, y) for x, y in product((I8, U8, I32), repeat=2))
        ),
    ),
    formula=formula,
    optional=("weight", "bias"),
    layouts=(Layouts(("input", "output"), frozenset(FORMATS) - PRIVATE),),
    cases=(
        runs("sound", {}),
        *(
            refused(
                INVALID,
                f"no {what}",
                {
                    **dict.fromkeys(("input", "output"), t(*dims, dtype=I8)),
                    **dict.fromkeys(PER_CHANNEL, t(dims[1])),
                },
            )
            for what, dims in (
                ("samples", (0, 3, 4, 2)),
                ("channels", (2, 0, 4, 2)),
                ("space", (2, 3, 0, 2)),
            )
        ),
        *(
            Case(
                f"one channel of {dtype}",
                one_channel(dtype),
                gives={"output": [[[[17, -13], [-3, 37]]]]},
            )
            for dtype in (I8, I32)
        ),
        *(
            Case(
                f"no further than {dtype} goes",
                one_channel(I32, output=t(1, 1, 2, 2, dtype=dtype), outputScale=Scalar(0.02)),
                gives={"output": [[[numbers[:2], numbers[2:]]]]},
            )
            for dtype, numbers in (
                (I8, [127, -128, -72, 127]),
                (U8, [178, 0, 0, 255]),
                (I32, [178, -197, -72, 428]),
            )
        ),
    ),
)
