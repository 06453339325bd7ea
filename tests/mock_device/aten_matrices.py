# SPDX-License-Identifier: Apache-2.0
"""Products, decompositions, reductions and sorting, in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .aten_elementwise import (
    ANY,
    INTEGERS,
    OTHER,
    vector,
)

F32, F64, I64 = np.dtype("f4"), np.dtype("f8"), np.dtype("i8")
A = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0], [1.0, 1.0, 4.0]], np.float32)
B = np.array([[1.0, 2.0], [-0.5, 0.25], [3.0, -1.0]], np.float32)
LEFT = np.stack([ANY, OTHER])  # 2, 2, 3
RIGHT = np.stack([B, 2 * B])  # 2, 3, 2
SQUARE = np.array([[1.0, 0.5], [-2.0, 3.0]], np.float32)
BATCH = np.stack([SQUARE, SQUARE + 1])
V2, V3 = np.array([2.0, -1.0], np.float32), np.array([1.0, 0.5, -2.0], np.float32)
UPPER = np.triu(A)
ORDER = np.array([[3.0, -1.0, 2.5, 0.5, -2.0], [0.25, 4.0, -3.0, 1.0, 7.0]], np.float32)
HOLES = np.array([[3.0, np.nan, 2.5], [np.nan, 4.0, -3.0]], np.float32)
_BETWEEN = np.array([A[0] - A[1], A[0] - A[2], A[1] - A[2]])
# Its solution grows with each row: an exchange of two rows loses it.
LOWER = np.tril(np.random.default_rng(3).uniform(0.1, 1, (128, 128))).astype("f4")
ONES = np.ones((128, 1), np.float32)


def _eliminated() -> Any:
    x = ONES[:, 0].astype(np.longdouble)
    for i, column in enumerate(LOWER.T):
        x[i] /= column[i]
        x[i + 1 :] -= column[i + 1 :] * x[i]
    return x[:, None].astype("f8")


MATRICES = [
    vector(
        "aclnnAddbmm", 2 * SQUARE + 0.5 * (LEFT @ RIGHT).sum(0), SQUARE, LEFT, RIGHT, 2.0, 0.5, 1
    ),
    vector(
        "aclnnInplaceAddbmm", SQUARE + 3 * (LEFT @ RIGHT).sum(0), SQUARE, LEFT, RIGHT, 1.0, 3.0, 1
    ),
    vector("aclnnInplaceAddmm", 2 * SQUARE - (ANY @ B), SQUARE, ANY, B, 2.0, -1.0, 1),
    vector("aclnnAddmv", 3 * V2 + 0.5 * (ANY @ V3), V2, ANY, V3, 0.5, 3.0, 1),
    vector("aclnnAddr", 3 * ANY + 0.5 * np.outer(V2, V3), ANY, V2, V3, 3.0, 0.5),
    vector("aclnnAddr", ANY + np.outer(V2, V3), ANY, V2, V3, None, None),
    vector("aclnnInplaceAddr", ANY - np.outer(V2, V3), ANY, V2, V3, 1.0, -1.0),
    vector("aclnnBaddbmm", 2 * BATCH - LEFT @ RIGHT, BATCH, LEFT, RIGHT, 2.0, -1.0, 1),
    vector("aclnnInplaceBaddbmm", BATCH + LEFT @ RIGHT, BATCH, LEFT, RIGHT, 1.0, 1.0, 1),
    vector("aclnnDot", V3 @ V3[::-1], V3, V3[::-1].copy()),
    vector("aclnnEinsum", np.einsum("ij,jk->ki", ANY, B), [ANY, B], "ij,jk->ki"),
    vector("aclnnGer", np.outer(V2, V3), V2, V3),
    vector("aclnnInverse", np.linalg.inv(A.astype("f8")), A),
    vector("aclnnLinalgCross", np.cross(ANY, OTHER), ANY, OTHER, 1),
    vector("aclnnLogdet", math.log(np.linalg.det(A.astype("f8"))), A),
    vector("aclnnMv", ANY @ V3, ANY, V3, 1),
    vector("aclnnPdist", np.linalg.norm(_BETWEEN, axis=1), A, 2.0),
    vector("aclnnPdistForward", abs(_BETWEEN).sum(1), A, 1.0),
    vector("aclnnSlogdet", tuple(np.linalg.slogdet(-A.astype("f8"))), -A),
    vector("aclnnTrace", np.trace(A), A),
    vector(
        "aclnnTriangularSolve", (np.linalg.solve(UPPER, B), UPPER), B, UPPER, True, False, False
    ),
    vector(
        "aclnnTriangularSolve", (np.linalg.solve(UPPER.T, B), UPPER), B, UPPER, True, True, False
    ),
    vector("aclnnTriangularSolve", (_eliminated(), LOWER), ONES, LOWER, False, False, False),
    *(
        vector(f"aclnn{prefix}{name}", function(A, place), A, place)
        for prefix in ("", "Inplace")
        for name, function in (("Tril", np.tril), ("Triu", np.triu))
        for place in (0, -1)
    ),
]


def _running(function: Any, x: Any) -> tuple[Any, Any]:
    values = function.accumulate(x, axis=1)
    places = [
        [max(j for j in range(i + 1) if x[r, j] == values[r, i]) for i in range(x.shape[1])]
        for r in range(x.shape[0])
    ]
    return values, np.array(places)


_PLACES = np.argsort(ORDER, 1)
_MIDDLE = np.take_along_axis(ORDER, _PLACES, 1)
_EDGES = np.array([-1.0, 0.0, 0.5, 2.0], np.float32)

ORDERS = [
    vector("aclnnAminmax", (ORDER.min(1), ORDER.max(1)), ORDER, (1,), False),
    vector("aclnnAminmax", (ORDER.min(), ORDER.max()), ORDER, (), False),
    vector("aclnnAminmaxAll", (ORDER.min(), ORDER.max()), ORDER),
    vector("aclnnAminmaxDim", (ORDER.min(0)[None], ORDER.max(0)[None]), ORDER, 0, True),
    vector("aclnnArgsort", _PLACES, ORDER, 1, False),
    vector("aclnnArgsort", _PLACES[:, ::-1].copy(), ORDER, -1, True),
    vector("aclnnCummax", _running(np.maximum, ORDER), ORDER, 1),
    vector("aclnnCummin", _running(np.minimum, ORDER), ORDER, -1),
    vector("aclnnCumprod", np.cumprod(ANY, 1), ANY, 1, F32),
    vector("aclnnInplaceCumprod", np.cumprod(ANY, 0), ANY, 0),
    vector("aclnnHistc", np.histogram(ORDER, 4, (-4, 4))[0].astype("f"), ORDER, 4, -4.0, 4.0),
    vector("aclnnKthvalue", (_MIDDLE[:, 1], _PLACES[:, 1]), ORDER, 2, 1, False),
    vector("aclnnLogSumExp", np.log(np.exp(ORDER).sum(1)), ORDER, (1,), False),
    vector("aclnnMedian", np.sort(ORDER.ravel())[4], ORDER),
    vector("aclnnMedianDim", (_MIDDLE[:, 2:3], _PLACES[:, 2:3]), ORDER, 1, True),
    vector("aclnnMedian", np.float32(np.nan), HOLES),
    vector("aclnnMedianDim", (np.array([np.nan, np.nan]), np.array([1, 0])), HOLES, 1, False),
    vector("aclnnNanMedian", np.float32(2.5), HOLES),
    vector("aclnnNanMedianDim", (np.array([2.5, -3]), np.array([2, 2])), HOLES, 1, False),
    vector("aclnnProd", ANY[1].prod(), ANY[1], F32),
    vector("aclnnProdDim", INTEGERS.prod(0, np.int64)[None], INTEGERS, 0, True, I64),
    vector("aclnnReduceNansum", np.nansum(HOLES, 0), HOLES, (0,), False, F32),
    vector(
        "aclnnSearchSorted", np.searchsorted(_EDGES, ANY, "right"), _EDGES, ANY, False, True, None
    ),
    vector(
        "aclnnSearchSorted",
        np.searchsorted(_EDGES, ANY).astype("i4"),
        _EDGES,
        ANY,
        True,
        False,
        None,
    ),
    vector("aclnnSearchSorteds", np.array(2), _EDGES, 0.5, False, False, None),
    vector("aclnnStdMeanCorrection", (ORDER.std(1, ddof=1), ORDER.mean(1)), ORDER, (1,), 1, False),
]
