# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .aten_elementwise import (
    ANY,
    GRADIENT,
    vector,
)
from .aten_matrices import SQUARE, V2, V3

ROW = np.arange(10.0, dtype=np.float32)
TABLE = np.arange(12.0, dtype=np.float32).reshape(3, 4)
WHERE = np.array([2, 0], np.int64)
MASK = np.array([[True, False, True], [False, True, False]])

_THETA = np.array([[[1.0, 0.0, 0.5], [0.0, 2.0, -0.25]]], np.float32)
_GRID = np.array([[[x, y, 1.0] for x in (-1, 0, 1)] for y in (-1, 1)])
_IMAGE = np.arange(1.0, 25, dtype=np.float32).reshape(1, 2, 3, 4)
_CUBE = np.arange(1.0, 25, dtype=np.float32).reshape(1, 1, 2, 3, 4)
_LINE = np.arange(8.0, dtype=np.float32).reshape(1, 2, 4)


def written(x: Any, places: Any, values: Any, *, add: bool = False) -> Any:
    """An array in which something else stands in some places."""
    made = x.copy()
    if add:
        np.add.at(made, places, values)
    else:
        made[places] = values
    return made


MODES: list[tuple[str, Any]] = [("Reflection", "reflect"), ("Replication", "edge")]


def gathered(pads: Any, mode: Any, gradient: Any, shape: tuple[int, ...]) -> Any:
    """Where each element of a padded array came from gets its gradient."""
    origins = np.pad(np.arange(math.prod(shape)).reshape(shape), pads, mode)
    made = np.zeros(math.prod(shape), np.float32)
    np.add.at(made, origins.ravel(), gradient.ravel())
    return made.reshape(shape)


_PADDED = {
    1: (_LINE, ((0, 0), (0, 0), (1, 2)), (1, 2)),
    2: (_IMAGE, ((0, 0), (0, 0), (2, 0), (1, 2)), (1, 2, 2, 0)),
    3: (_CUBE, ((0, 0), (0, 0), (1, 1), (2, 0), (1, 2)), (1, 2, 2, 0, 1, 1)),
}
_PATCHES = np.lib.stride_tricks.sliding_window_view(_IMAGE, (2, 2), (2, 3))
_COLUMNS = _PATCHES.transpose(0, 1, 4, 5, 2, 3).reshape(1, 8, 6)
_COUNTS = np.outer([1, 2, 1], [1, 2, 2, 1])
_FLAT = np.array([[5, 0], [5, 3]])
_ROWS = np.array([[0, 1, 2], [1, 1, 0]], np.int64)

PLACES = [
    vector("aclnnAffineGrid", (_GRID @ _THETA[0].T)[None], _THETA, (1, 1, 2, 3), True),
    vector("aclnnArange", np.arange(-1, 2, 0.75), -1.0, 2.0, 0.75),
    vector("aclnnRange", np.arange(1, 8, 3), 1, 7, 3),
    vector("aclnnLinspace", np.linspace(-1, 1, 5), -1.0, 1.0, 5),
    vector("aclnnEye", np.eye(2, 3), 2, 3),
    vector(
        "aclnnChannelShuffle",
        np.arange(4.0)[[0, 2, 1, 3]].reshape(1, 4, 1, 1) * np.ones((1, 1, 2, 2)),
        (np.arange(4.0).reshape(1, 4, 1, 1) * np.ones((1, 1, 2, 2))).astype("f"),
        2,
    ),
    vector("aclnnDiag", np.diag(V3, 1), V3, 1),
    vector("aclnnDiagFlat", np.diagflat(SQUARE, -1), SQUARE, -1),
    vector("aclnnExpand", np.broadcast_to(V3, (2, 3)), V3, (2, 3)),
    vector("aclnnFlip", ANY[::-1, ::-1], ANY, (0, 1)),
    vector("aclnnRoll", np.roll(ANY, (1, -1), (0, 1)), ANY, (1, -1), (0, 1)),
    vector("aclnnRepeat", np.tile(ANY, (2, 1, 3)), ANY, (2, 1, 3)),
    vector("aclnnSlice", TABLE[:, 1:4:2], TABLE, 1, 1, 4, 2),
    vector("aclnnRepeatInterleaveInt", np.repeat(ANY, 2), ANY, 2, 12),
    vector("aclnnRepeatInterleaveIntWithDim", np.repeat(ANY, 2, 1), ANY, 2, 1, 6),
    vector("aclnnRepeatInterleave", np.repeat(V2, [3, 1]), V2, np.array([3, 1]), 4),
    vector("aclnnRepeatInterleaveWithDim", np.repeat(ANY, [3, 1], 0), ANY, np.array([3, 1]), 0, 4),
    vector(
        "aclnnRepeatInterleaveTensor", np.repeat(np.arange(3), [2, 0, 3]), np.array([2, 0, 3]), 5
    ),
    vector("aclnnTake", ANY.ravel()[_FLAT], ANY, _FLAT),
    vector(
        "aclnnIndex", TABLE[[2, 0, 2], [1, 3, 0]], TABLE, [np.array([2, 0, 2]), np.array([1, 3, 0])]
    ),
    vector(
        "aclnnIndexPutImpl",
        written(TABLE, ([2, 2], [1, 1]), V2, add=True),
        TABLE,
        [np.array([2, 2]), np.array([1, 1])],
        V2,
        True,
        False,
    ),
    vector(
        "aclnnIndexPutImpl",
        written(TABLE, ([2, 0], [1, 1]), V2),
        TABLE,
        [np.array([2, 0]), np.array([1, 1])],
        V2,
        False,
        False,
    ),
    vector(
        "aclnnIndexAdd",
        written(TABLE, [2, 0], 2 * TABLE[:2], add=True),
        TABLE,
        0,
        WHERE,
        TABLE[:2],
        2.0,
    ),
    vector("aclnnInplaceIndexCopy", written(TABLE, [2, 0], TABLE[:2]), TABLE, 0, WHERE, TABLE[:2]),
    vector(
        "aclnnInplacePut",
        written(ANY.ravel(), _FLAT[1], V2).reshape(2, 3),
        ANY,
        _FLAT[1],
        V2,
        False,
    ),
    vector("aclnnInplaceFillDiagonal", written(TABLE, np.diag_indices(3), 7), TABLE, 7.0, False),
    vector("aclnnInplaceMaskedFillScalar", np.where(MASK, 7, ANY), ANY, MASK, 7.0),
    vector("aclnnInplaceMaskedFillTensor", np.where(MASK, 7, ANY), ANY, MASK, np.array([7.0], "f")),
    vector("aclnnInplaceMaskedScatter", written(ANY, MASK, ROW[:3]), ANY, MASK, ROW),
    *(
        vector(
            f"aclnn{prefix}",
            written(TABLE, ([[0, 1, 2], [1, 1, 0]], [[0, 1, 2]] * 2), GRADIENT, add=bool(reduce)),
            TABLE,
            0,
            _ROWS,
            GRADIENT,
            reduce,
        )
        for prefix in ("Scatter", "InplaceScatter")
        for reduce in (1,)
    ),
    vector(
        "aclnnScatter",
        written(TABLE, ([[2, 0]], [[0, 1]]), V2),
        TABLE,
        0,
        np.array([[2, 0]]),
        V2[None],
        0,
    ),
    vector(
        "aclnnScatter",
        written(TABLE, ([[2, 0]], [[0, 1]]), [[16, -1]]),
        TABLE,
        0,
        np.array([[2, 0]]),
        V2[None],
        2,
    ),
    vector(
        "aclnnScatterAdd",
        written(TABLE, (_ROWS, [[0, 1, 2]] * 2), GRADIENT, add=True),
        TABLE,
        0,
        _ROWS,
        GRADIENT,
    ),
    vector(
        "aclnnScatterValue",
        written(TABLE, ([2, 0], [0, 1]), 5),
        TABLE,
        0,
        np.array([[2, 0]]),
        5.0,
        0,
    ),
    vector(
        "aclnnInplaceScatterValue",
        written(TABLE, ([2, 0], [0, 1]), 5, add=True),
        TABLE,
        0,
        np.array([[2, 0]]),
        5.0,
        1,
    ),
    vector(
        "aclnnEmbeddingDenseBackward",
        written(np.zeros((4, 3), "f"), [1, 1], ANY, add=True),
        ANY,
        np.array([1, 1]),
        4,
        2**64 - 1,
        False,
    ),
    vector("aclnnIm2col", _COLUMNS, _IMAGE, (2, 2), (1, 1), (0, 0), (1, 1)),
    vector(
        "aclnnIm2colBackward", _IMAGE * _COUNTS, _COLUMNS, (3, 4), (2, 2), (1, 1), (0, 0), (1, 1)
    ),
    vector("aclnnCircularPad2d", np.pad(_IMAGE, _PADDED[2][1], "wrap"), _IMAGE, _PADDED[2][2]),
    vector("aclnnCircularPad3d", np.pad(_CUBE, _PADDED[3][1], "wrap"), _CUBE, _PADDED[3][2]),
    *(
        vector(f"aclnn{name}Pad{n}d", np.pad(x, pads, mode), x, ends)
        for name, mode in MODES
        for n, (x, pads, ends) in _PADDED.items()
    ),
    *(
        vector(
            f"aclnn{name}Pad{n}dBackward",
            gathered(pads, mode, np.pad(x, pads, mode) + 1, x.shape),
            np.pad(x, pads, mode) + 1,
            x,
            ends,
        )
        for name, mode in MODES
        for n, (x, pads, ends) in _PADDED.items()
    ),
]
