# SPDX-License-Identifier: Apache-2.0
"""aclnnRmsNormGrad (CANN: ops-nn norm/rms_norm_grad)."""

import numpy as np

from tests.operators.notation import *

SYSTEM = 16 << 20
TENSORS = ("dy", "x", "rstd", "gamma", "dxOut", "dgammaOut")
CHIPS = (*A2_A3, P950, P310, P910)

BASE: dict[str, Argument] = {
    "dy": t(2, 3, 4, 16),
    "x": t(2, 3, 4, 16),
    "rstd": t(2, 3),
    "gamma": t(4, 16),
    "dxOut": t(2, 3, 4, 16),
    "dgammaOut": t(4, 16),
}


def formula(given: Numbers, _chip: str) -> Truth:
    shape, n = given["x"].shape, given["gamma"].size
    dy, x = given["dy"].reshape(-1, n), given["x"].reshape(-1, n)
    rstd = given["rstd"].reshape(-1, 1)
    hat, g = x * rstd, dy * given["gamma"].reshape(n)
    dx = (g - hat * (g * hat).mean(1, keepdims=True)) * rstd
    return {
        "dxOut": dx.reshape(shape),
        "dgammaOut": (dy * hat).sum(0).reshape(given["gamma"].shape),
    }


FULL = (
    (F16, F16, F32, F32, F16, F32),
    (BF16, BF16, F32, F32, BF16, F32),
    (F16, F16, F32, F16, F16, F32),
    (F32, F32, F32, F32, F32, F32),
    (BF16, BF16, F32, BF16, BF16, F32),
)
NARROW = ((F16, F16, F32, F16, F16, F32), (F32, F32, F32, F32, F32, F32))


def plain(rows: int, columns: int) -> Changes:
    wide, narrow = t(rows, columns), t(columns)
    return dict(zip(TENSORS, (wide, wide, t(rows), narrow, wide, narrow), strict=True))


def with_rstd(dims: tuple[int, ...], rstd: tuple[int, ...]) -> Case:
    wide, narrow = t(*dims), t(64)
    changes = dict(zip(TENSORS, (wide, wide, t(*rstd), narrow, wide, narrow), strict=True))
    return runs(f"rstd {list(rstd)} for {list(dims)}", changes)


HUGE = t(2**16, 2**16, 8)
TABLE = Table(
    name="aclnnRmsNormGrad",
    kind=INDIVIDUAL,
    base=BASE,
    results=("dxOut", "dgammaOut"),
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        step(TILING, shaped("x", (), NINE)),
        step(TILING, shaped("gamma", (), NINE)),
        step(TILING, shaped("gamma", (1, 2, 3, 4, 16))),
        step(TILING, shaped("dy", (6, 4, 16))),
        step(TILING, shaped("dxOut", (6, 4, 16))),
        step(TILING, shaped("dgammaOut", (64,))),
        step(TILING, shaped("dy", (5, 3, 4, 16), (2, 3, 4, 17))),
        step(TILING, shaped("dxOut", (5, 3, 4, 16), (2, 3, 4, 17))),
        step(
            TILING,
            broken(
                "rows of no columns",
                "dy",
                **{name: Changed((2, 3, 4, 0)) for name in ("dy", "x", "dxOut")},
            ),
        ),
        step(TILING, shaped("rstd", (3, 3), (3, 2), (2,))),
        step(TILING, shaped("gamma", (3, 16), (4, 4)), shaped("dgammaOut", (3, 16), (4, 4))),
        step(TILING, shaped("rstd", (2, 3, 2))),
    ),
    types=Types(
        TENSORS, {**dict.fromkeys((*A2_A3, P950), FULL), **dict.fromkeys((P310, P910), NARROW)}
    ),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        with_rstd((2, 1, 64), (2,)),
        with_rstd((1, 1, 64), ()),
        with_rstd((2, 3, 64), (2, 3)),
        with_rstd((2, 3, 64), (2, 3, 1)),
        with_rstd((2, 3, 64), (2, 3, 1, 1, 1)),
        with_rstd((64,), ()),
        with_rstd((64,), (1,)),
        runs(
            "gamma spans eight dimensions",
            {**{name: t(*(1,) * 7, 64) for name in TENSORS}, "rstd": t()},
        ),
        refused(TILING, "no rows", plain(0, 64), (*A2_A3, P310, P910)),
        Case("no rows on the 950", plain(0, 8), (P950,), gives={"dgammaOut": [np.nan] * 8}),
        idle("no columns", plain(3, 0)),
        idle("neither rows nor columns", plain(0, 0)),
        runs("blocks of 64 on the 910", plain(3, 128), (P910,)),
        refused(TILING, "half a block on the 910", plain(3, 32), (P910,)),
        runs("short rows elsewhere", plain(3, 4), (*A2_A3, P950, P310)),
        idle(
            "empty results are not tiled",
            {"dxOut": t(0), "dgammaOut": t(5, 0), "dy": t(7), "gamma": t()},
        ),
        refused(
            TILING,
            "rows are counted in 32 bits",
            dict(zip(TENSORS, (HUGE, HUGE, t(2**16, 2**16), t(8), HUGE, t(8)), strict=True)),
            A2_A3,
        ),
        # Six rows on six cores, or a row and 8 elements more for each if deterministic.
        Case("eight floats a core", {}, A2_A3, workspace=SYSTEM + 8 * 6 * 4),
        # 384 floats and 32 bytes, in units of 512.
        Case(
            "a contiguous copy",
            {"x": Changed(strides=(1, 2, 6, 24))},
            A2_A3,
            workspace=SYSTEM + 8 * 6 * 4 + 2048,
        ),
        Case("a row a core", {}, A2_A3, workspace=SYSTEM + (64 + 8) * 6 * 4, deterministic=True),
        Case(
            "a padded row on each of 40 cores",
            plain(100, 5),
            ("A2",),
            workspace=SYSTEM + (8 + 8) * 40 * 4,
            deterministic=True,
        ),
        Case(
            "the official example",
            {
                "dy": array(np.arange(1.0, 33.0).reshape(2, 1, 16)),
                "x": array(np.arange(1.0, 33.0).reshape(2, 1, 16)),
                "rstd": array([1.0, 2.0]),
                "gamma": array(np.arange(1.0, 17.0)),
                "dxOut": t(2, 1, 16),
                "dgammaOut": t(16),
            },
            (*A2_A3, P950, P310),
            gives={
                "dxOut": [
                    [[-1155, -2308, -3459, -4608, *[None] * 11, -18240]],
                    [[-860030, -910584, -961134, -1011680, *[None] * 11, -1617920]],
                ],
                "dgammaOut": [
                    *(579, 652, 731, 816, 907, 1004, 1107, 1216),
                    *(1331, 1452, 1579, 1712, 1851, 1996, 2147, 2304),
                ],
            },
        ),
    ),
    gradients=(
        Gradient(
            "aclnnRmsNorm",
            upstream={"dy": "yOut"},
            saved={"rstd": "rstdOut"},
            shared={"x": "x", "gamma": "gamma"},
            gives={"dxOut": ("x",), "dgammaOut": ("gamma",)},
        ),
        Gradient(
            "aclnnAddRmsNorm",
            upstream={"dy": "yOut"},
            saved={"rstd": "rstdOut", "x": "xOut"},
            shared={"gamma": "gamma"},
            gives={"dxOut": ("x1", "x2"), "dgammaOut": ("gamma",)},
        ),
    ),
)
