# SPDX-License-Identifier: Apache-2.0
"""aclnnLayerNormBackward (CANN: ops-nn norm/layer_norm_grad_v3)."""

import numpy as np

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables.layer_norm_backward.cases import CASES
from tests.operators.tables.layer_norm_backward.types import OUTS, PARAMETERS, ROWS, TENSORS, fails

BASE: dict[str, Argument] = {
    "gradOut": t(2, 3, 4),
    "input": t(2, 3, 4),
    "normalizedShape": Ints((3, 4)),
    "mean": t(2, 1, 1),
    "rstd": t(2, 1, 1),
    "weightOptional": t(3, 4),
    "biasOptional": t(3, 4),
    "outputMask": Bools((True, True, True)),
    "gradInputOut": t(2, 3, 4),
    "gradWeightOut": t(3, 4),
    "gradBiasOut": t(3, 4),
}


def formula(given: Numbers, _chip: str) -> Truth:
    shape, axes = given["input"].shape, given["normalizedShape"]
    n = int(np.prod(axes))
    dy, x = given["gradOut"].reshape(-1, n), given["input"].reshape(-1, n)
    mean, rstd = given["mean"].reshape(-1, 1), given["rstd"].reshape(-1, 1)
    hat = (x - mean) * rstd
    weight = given["weightOptional"]
    g = dy if weight is None else dy * weight.reshape(n)
    dx = (g - g.mean(1, keepdims=True) - hat * (g * hat).mean(1, keepdims=True)) * rstd
    found = (dx.reshape(shape), (dy * hat).sum(0), dy.sum(0))
    return {
        name: value if name == OUTS[0] else value.reshape(given[name].shape)
        for name, value, wanted in zip(OUTS, found, given["outputMask"], strict=True)
        if wanted
    }


TABLE = Table(
    name="aclnnLayerNormBackward",
    kind=COMPOSITE,
    base=BASE,
    results=OUTS,
    steps=(
        step(NULL, nulls("workspaceSize", "executor")),
        step(NULL, nulls("gradOut", "input", "normalizedShape", "mean", "rstd", "outputMask")),
        step(INVALID, *(broken(f"mask of {n}", outputMask=Bools((True,) * n)) for n in (2, 4))),
        step(NULL, nulls(*OUTS)),
        step(INVALID, typed("gradOut", "input", "mean", "rstd")),
        step(INVALID, typed("gradOut", dtype=F16)),
        step(INVALID, typed("weightOptional"), typed("weightOptional", dtype=F16)),
        step(INVALID, typed("biasOptional", *OUTS)),
        step(
            INVALID,
            *(m for name in ("gradOut", "input", "mean", "rstd") for m in shaped(name, NINE)),
            broken("nine axes", normalizedShape=Ints(NINE)),
            *(m for name in OUTS for m in shaped(name, NINE)),
        ),
        step(
            INVALID,
            broken("no axes", normalizedShape=Ints(())),
            broken("more axes than input has", "input", normalizedShape=Ints((1, 2, 3, 4))),
        ),
        step(INVALID, broken("last axis", normalizedShape=Ints((3, 5)))),
        step(INVALID, shaped("weightOptional", NINE, (4,), (3, 5))),
        step(INVALID, shaped("biasOptional", NINE, (4,), (4, 4))),
        step(
            INVALID,
            shaped("gradOut", (2, 3, 5)),
            shaped("mean", (2, 1)),
            broken("statistics of three rows", mean=t(3, 1), rstd=t(3, 1)),
        ),
        step(
            INVALID,
            shaped("gradInputOut", (2, 12)),
            shaped("gradWeightOut", (3, 5)),
            shaped("gradBiasOut", (11,)),
        ),
    ),
    types=Types(TENSORS, dict.fromkeys(EVERY_CHIP, ROWS), fails=fails),
    formula=formula,
    optional=PARAMETERS,
    layouts=tuple(Layouts((name,), frozenset(FORMATS)) for name in TENSORS),
    cases=CASES,
    gradients=(
        Gradient(
            "aclnnLayerNorm",
            upstream={"gradOut": "out"},
            saved={"mean": "meanOutOptional", "rstd": "rstdOutOptional"},
            shared={name: name for name in ("input", "normalizedShape", *PARAMETERS)},
            gives={
                "gradInputOut": ("input",),
                "gradWeightOut": ("weightOptional",),
                "gradBiasOut": ("biasOptional",),
            },
        ),
    ),
)
