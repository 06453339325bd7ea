# SPDX-License-Identifier: Apache-2.0
"""aclnnAdaLayerNormBackward (CANN: ops-nn norm/ada_layer_norm_grad)."""

from tests.operators.notation import *

PARAMETERS = ("weightOptional", "biasOptional")
GIVEN = ("gradOut", "input", "rstd", "mean", "scale", "shift")
RESULTS = ("gradInputOut", "gradScaleOut", "gradShiftOut", "gradWeightOut", "gradBiasOut")
TENSORS = (*GIVEN, *PARAMETERS, *RESULTS)
X, STATISTIC = (2, 3, 4, 8), (2, 3, 4, 1)
BASE: dict[str, Argument] = {
    "gradOut": t(*X),
    "input": t(*X),
    "normalizedShape": Ints((8,)),
    "rstd": t(*STATISTIC),
    "mean": t(*STATISTIC),
    "scale": t(2, 3, 8),
    "shift": t(2, 3, 1, 8),
    **dict.fromkeys(PARAMETERS, t(8)),
    "gradInputOut": t(*X),
    "gradScaleOut": t(2, 3, 8),
    "gradShiftOut": t(2, 3, 1, 8),
    **dict.fromkeys(RESULTS[3:], t(8)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, dy = given["input"], given["gradOut"]
    xhat = (x - given["mean"]) * given["rstd"]
    by_sample = (*x.shape[:-2], 1, x.shape[-1])
    weight, bias = given["weightOptional"], given["biasOptional"]
    weight, bias = 1 if weight is None else weight, 0 if bias is None else bias
    d = dy * (1 + given["scale"].reshape(by_sample))
    g = d * weight
    slope = g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True)
    others = tuple(range(x.ndim - 1))
    found = {
        "gradInputOut": slope * given["rstd"],
        "gradScaleOut": (dy * (xhat * weight + bias)).sum(-2).reshape(given["scale"].shape),
        "gradShiftOut": dy.sum(-2).reshape(given["shift"].shape),
        "gradWeightOut": (d * xhat).sum(others),
        "gradBiasOut": d.sum(others),
    }
    return {name: value for name, value in found.items() if given[name] is not None}


def row(x: str, parameter: str) -> tuple[str, ...]:
    return (x,) * 6 + (parameter,) * 2 + (x,) * 3 + (parameter,) * 2


EXAMPLE: Changes = {
    "gradOut": array([[[1, -1, 0.5, 0], [0, 1, 1, 2]]]),
    "input": array([[[1, 2, 3, 4], [2, 0, 2, 0]]]),
    "normalizedShape": Ints((4,)),
    "rstd": array([[[0.89442366], [0.99999499]]]),
    "mean": array([[[2.5], [1]]]),
    "scale": array([[1, 0, 0.5, -0.5]]),
    "shift": array([[0, 1, 0, 1]]),
    "weightOptional": array([1, 2, 1, 1]),
    "biasOptional": array([0, 0, 0.5, 0]),
    "gradInputOut": t(1, 2, 4),
    **dict.fromkeys(RESULTS[1:3], t(1, 4)),
    **dict.fromkeys(RESULTS[3:], t(4)),
}
NO_RESULTS: dict[str, None] = dict.fromkeys(RESULTS)
ROWS = tuple(row(x, p) for x in (F32, F16, BF16) for p in dict.fromkeys((x, F32)))
STEPS = (
    unordered(NULL, nulls("workspaceSize", "executor")),
    unordered(NULL, nulls(*GIVEN, "normalizedShape")),
    unordered(INVALID, typed(*TENSORS), typed(*GIVEN[2:], *RESULTS[:3], dtype=F16)),
    unordered(
        INVALID,
        shaped("input", (8,), NINE),
        shaped("gradOut", (6, 4, 8)),
        shaped("rstd", (2, 3, 4), (24, 1)),
        shaped("mean", (2, 3, 4), (2, 3, 4, 8)),
        shaped("scale", (2, 8), (2, 3, 7)),
        shaped("shift", (2, 3, 4, 8)),
        shaped("weightOptional", (1, 8)),
        shaped("biasOptional", (8, 1)),
        shaped("gradInputOut", (24, 8)),
        shaped("gradScaleOut", (6, 8)),
        shaped("gradShiftOut", (2, 3, 8)),
        shaped("gradWeightOut", (4,)),
        shaped("gradBiasOut", (16,)),
        broken("another length", normalizedShape=Ints((4,))),
        broken("two axes", "", normalizedShape=Ints((4, 8))),
    ),
)
TABLE = Table(
    name="aclnnAdaLayerNormBackward",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=RESULTS,
    chips=A2_A3,
    steps=STEPS,
    types=Types(TENSORS, dict.fromkeys(A2_A3, ROWS)),
    formula=formula,
    optional=(*PARAMETERS, *RESULTS[3:]),
    gradients=(
        Gradient(
            "aclnnAdaLayerNormV2",
            upstream={"gradOut": "out"},
            saved={"mean": "meanOutOptional", "rstd": "rstdOutOptional"},
            shared={"input": "x", **{name: name for name in ("scale", "shift", *PARAMETERS)}},
            gives={
                "gradInputOut": ("x",),
                "gradScaleOut": ("scale",),
                "gradShiftOut": ("shift",),
                "gradWeightOut": ("weightOptional",),
                "gradBiasOut": ("biasOptional",),
            },
        ),
    ),
    cases=(
        runs("sound", {}),
        idle("nothing to write", NO_RESULTS, computed=False),
        Case("a weight of another length", {"weightOptional": t(7)}, launch=FAILS),
        *(
            refused(
                INVALID,
                f"no {what}",
                {
                    **dict.fromkeys(("gradOut", "input", "gradInputOut"), t(*dims)),
                    **dict.fromkeys(("rstd", "mean"), t(*dims[:-1], 1)),
                    **dict.fromkeys(("scale", "shift", *RESULTS[1:3]), t(dims[0], dims[-1])),
                    "normalizedShape": Ints(dims[-1:]),
                    **dict.fromkeys((*PARAMETERS, *RESULTS[3:]), t(dims[-1])),
                },
            )
            for what, dims in (("samples", (0, 4, 8)), ("rows", (2, 0, 8)), ("columns", (2, 4, 0)))
        ),
        Case(
            "two rows",
            EXAMPLE,
            gives={
                "gradInputOut": [
                    [
                        [1.18511, -2.10189, 0.648456, 0.268324],
                        [-0.75, 0.500001, 0.749992, -0.499994],
                    ]
                ],
                "gradScaleOut": [[-1.34164, -1.10557, 1.9736, -1.99999]],
                "gradShiftOut": [[1, 0, 1.5, 2]],
                "gradWeightOut": [-2.68327, -0.552783, 1.8354, -0.999995],
                "gradBiasOut": [2, 0, 2.25, 1],
            },
            rtol=5e-6,
        ),
    ),
)
