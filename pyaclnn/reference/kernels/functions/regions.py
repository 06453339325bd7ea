# SPDX-License-Identifier: Apache-2.0
"""Regions of images: bilinear means of boxes, and overlaps of boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Array = Any
Rule = tuple[float, int, bool]
"""The factor of borders, the number of samples of a bin, and whether borders are shifted."""


def _means(first: float, last: float, length: int, bins: int, samples: int) -> Array:
    """The shares of an axis's elements in the means of bins: linear, of samples in each bin."""
    count = samples if samples > 0 else max(int(np.ceil((last - first) / bins)), 1)
    steps = (np.arange(bins * count) + 0.5) / count
    places = first + steps * (last - first) / bins
    inside = (places >= -1) & (places <= length)
    low = np.clip(places, 0, length - 1).astype(int)
    part = np.clip(places, 0, length - 1) - low
    made = np.zeros((bins * count, length))
    rows = np.arange(bins * count)
    np.add.at(made, (rows, low), (1 - part) * inside)
    np.add.at(made, (rows, np.minimum(low + 1, length - 1)), part * inside)
    return made.reshape(bins, count, length).mean(1)


def _matrices(
    boxes: Array, image: Sequence[int], size: Sequence[int], rule: Rule
) -> Iterator[tuple[Array, Array]]:
    """The shares of rows and of columns in the bins of each box."""
    scale, sampling, shift = rule
    for x1, y1, x2, y2 in boxes * scale - (0.5 if shift else 0):
        ends = (y2, x2) if shift else (max(y2, y1 + 1), max(x2, x1 + 1))
        sides = zip((y1, x1), ends, image, size, strict=True)
        rows, columns = (_means(*side, sampling) for side in sides)
        yield rows, columns


def roi_align(x: Array, images: Array, boxes: Array, size: Sequence[int], rule: Rule) -> Array:
    """The means of bilinear samples in the bins of boxes.

    Args:
        x: Images, (N, C, H, W).
        images: The image of each box.
        boxes: Left, upper, right and lower borders, (R, 4).
        size: The number of bins of a box.
        rule: The factor of the borders; the number of samples of a bin along each axis, 0 one an
            element; whether borders lie half an element before, and boxes may be smaller than one.

    Returns:
        (R, C, *size).
    """
    made = np.zeros((len(boxes), x.shape[1], *size))
    matrices = _matrices(boxes, x.shape[2:], size, rule)
    for box, (rows, columns) in enumerate(matrices):
        made[box] = rows @ x[int(images[box])] @ columns.T
    return made


def roi_align_back(
    gradient: Array, images: Array, boxes: Array, shape: Sequence[int], rule: Rule
) -> Array:
    """The gradient of `roi_align` by its images, which have a shape."""
    made = np.zeros(tuple(shape))
    matrices = _matrices(boxes, shape[2:], gradient.shape[2:], rule)
    for box, (rows, columns) in enumerate(matrices):
        made[int(images[box])] += rows.T @ gradient[box] @ columns
    return made


def overlaps(boxes: Array, others: Array, mode: str, epsilon: float, aligned: bool) -> Array:
    """The common area of boxes, over that of both (iou) or of the second one (iof).

    Args:
        boxes: Left, upper, right and lower borders, (N, 4).
        others: Other boxes, (M, 4).
        mode: iou or iof.
        epsilon: Added to the divisor.
        aligned: True if each box has a partner, (N, 1); else all are compared, (M, N).

    Raises:
        ValueError: There is no such mode.
    """
    if mode not in {"iou", "iof"}:
        raise ValueError(f"mode is {mode!r}; it must be 'iou' or 'iof'")
    one, other = (boxes, others) if aligned else (boxes[None], others[:, None])
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    common = np.maximum(sides, 0).prod(-1)
    first, second = ((x[..., 2:] - x[..., :2]).prod(-1) for x in (one, other))
    whole = first + second - common if mode == "iou" else second
    found = common / (whole + epsilon)
    return found[:, None] if aligned else found
