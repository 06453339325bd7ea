# SPDX-License-Identifier: Apache-2.0
"""Boxes of detectors: overlaps, differences between boxes, and suppression of overlapping ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.functions.regions import overlaps, roi_align

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any


def _common(one: Array, other: Array) -> Array:
    """Return the common area of boxes."""
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    return np.maximum(sides, 0).prod(-1)


def _refuse(mode: str) -> None:
    if mode != "iou":
        raise NotImplementedError(f"mode {mode}, of which no facts say whose area divides")


def box_iou(boxes: Array, others: Array, mode: str, epsilon: float) -> Array:
    """Return the overlaps of all pairs, (M, N); sides are longer by epsilon in the divisor."""
    _refuse(mode)
    common = _common(boxes[None], others[:, None])
    first, second = ((x[:, 2:] - x[:, :2] + epsilon).prod(-1) for x in (boxes, others))
    return common / (first + second[:, None] - common)


def distance_iou(
    boxes: Array, others: Array, centred: bool, cross: bool, mode: str, kind: str
) -> Array:
    """Return overlaps less a distance: DIoU, or GIoU, of boxes in columns.

    Args:
        boxes: Corners, or centres and sides, (4, N).
        others: Other boxes, (4, M).
        centred: True if they are centres and sides.
        cross: True if all pairs are compared, (M, N); else each box and its partner, (1, N).
        mode: iou.
        kind: ``"GIoU"`` or ``"DIoU"``.
    """
    _refuse(mode)
    one, other = (x.T for x in (boxes, others))
    if centred:
        one, other = (
            np.concatenate([x[:, :2] - x[:, 2:] / 2, x[:, :2] + x[:, 2:] / 2], 1)
            for x in (one, other)
        )
    one, other = one[None], other[:, None] if cross else other[None]
    common = _common(one, other)
    whole = sum((x[..., 2:] - x[..., :2]).prod(-1) for x in (one, other)) - common
    hull = np.maximum(one[..., 2:], other[..., 2:]) - np.minimum(one[..., :2], other[..., :2])
    if kind == "GIoU":
        return common / whole - 1 + whole / hull.prod(-1)
    apart = (one[..., :2] + one[..., 2:] - other[..., :2] - other[..., 2:]) / 2
    return common / whole - (apart**2).sum(-1) / (hull**2).sum(-1)


def _centre_and_size(boxes: Array, more: float) -> tuple[Array, Array]:
    return (boxes[:, :2] + boxes[:, 2:4]) / 2, boxes[:, 2:4] - boxes[:, :2] + more


def boxes_decoded(
    rois: Array, deltas: Array, means: Array, stds: Array, shape: Sequence[int], clip: float
) -> Array:
    """Return boxes moved by differences, within an image of ``shape``; sides include both ends."""
    (centre, size), moves = _centre_and_size(rois, 1), deltas * stds + means
    limit = abs(np.log(clip))
    centre = centre + size * moves[:, :2]
    half = size * np.exp(np.clip(moves[:, 2:], -limit, limit)) / 2 - 0.5
    ends = np.concatenate([centre - half, centre + half], 1)
    return np.clip(ends, 0, np.array([shape[1], shape[0]] * 2) - 1)


def boxes_encoded(anchors: Array, truth: Array, means: Array, stds: Array) -> Array:
    """Return the differences that move anchors to boxes: the inverse of `boxes_decoded`."""
    (centre, size), (wanted, wanted_size) = (_centre_and_size(x, 1) for x in (anchors, truth))
    moves = [(wanted - centre) / size, np.log(np.abs(wanted_size / size))]
    return (np.concatenate(moves, 1) - means) / stds


def rotated_encoded(anchors: Array, truth: Array, weight: Array) -> Array:
    """Return the differences of rotated boxes, (B, 5, N), of angles those of their tangents."""
    (low, high, turn), (low_2, high_2, turn_2) = (np.split(x, (2, 4), 1) for x in (anchors, truth))
    moved = ((low_2 + high_2) - (low + high)) / 2 / (high - low)
    grown = np.log((high_2 - low_2) / (high - low))
    turned = np.tan(np.radians(turn_2)) - np.tan(np.radians(turn))
    return np.concatenate([moved, grown, turned], 1) * np.reshape(weight, (5, 1))


def rotated_decoded(anchors: Array, deltas: Array, weight: Array) -> Array:
    """Return rotated boxes moved by differences: the inverse of `rotated_encoded`."""
    low, high, turn = np.split(anchors, (2, 4), 1)
    moved, grown, turned = np.split(deltas / np.reshape(weight, (5, 1)), (2, 4), 1)
    centre, half = (low + high) / 2 + moved * (high - low), np.exp(grown) * (high - low) / 2
    angle = np.degrees(np.arctan(np.tan(np.radians(turn)) + turned))
    return np.concatenate([centre - half, centre + half, angle], 1)


def _kept(boxes: Array, scores: Array, most: int, overlap: float, least: float) -> list[int]:
    """Return the places of boxes that no better one overlaps by more than ``overlap``."""
    ends = np.concatenate([fn(boxes[:, :2], boxes[:, 2:]) for fn in (np.minimum, np.maximum)], 1)
    kept: list[int] = []
    for place in np.argsort(-scores, kind="stable"):
        if len(kept) == most or scores[place] <= least:
            break
        found = overlaps(ends[kept], ends[place : place + 1], "iou", 0, aligned=False)
        if not (found > overlap).any():
            kept.append(int(place))
    return kept


@np.errstate(invalid="ignore")
def nms(
    boxes: Array, scores: Array, most: Array, overlap: Array, least: Array, room: int
) -> tuple[Array, Array]:
    """Return the places of boxes that are kept, best first, then zeros; and how many they are."""
    limits = (float(np.ravel(each)[0]) for each in (overlap, least))
    kept = _kept(boxes, scores, min(int(np.ravel(most)[0]), room), *limits)
    return np.pad(np.array(kept, int), (0, room - len(kept))), np.asarray(len(kept))


@np.errstate(invalid="ignore")
def class_nms(
    boxes: Array, scores: Array, least: float, overlap: float, per_class: int, total: int
) -> tuple[Array, ...]:
    """Return the best boxes of all classes for each image, padded with zeros.

    Args:
        boxes: Corners, (B, N, 1 or classes, 4).
        scores: Scores, (B, N, classes).
        least: Scores must be larger.
        overlap: Largest overlap with a better box of the class.
        per_class: Most boxes of a class.
        total: Most boxes of an image.

    Returns:
        Boxes, scores, classes, and the number of boxes of each image.
    """
    batch, _, classes = scores.shape
    found = np.zeros((batch, total, 6))
    counts = np.zeros(batch, int)
    for image in range(batch):
        rows = [
            (*boxes[image, place, c if boxes.shape[2] > 1 else 0], scores[image, place, c], c)
            for c in range(classes)
            for place in _kept(
                boxes[image, :, c if boxes.shape[2] > 1 else 0], scores[image, :, c],
                per_class, overlap, least,
            )
        ]  # fmt: skip
        best = sorted(rows, key=lambda row: -row[4])[:total]
        counts[image] = len(best)
        found[image, : len(best)] = np.reshape(best, (-1, 6))
    return found[..., :4], found[..., 4], found[..., 5], counts


def roi_means(
    x: Array, rois: Array, size: tuple[int, int], scale: float, samples: int, end: int
) -> Array:
    """Return the means of bilinear samples in regions, rows of an image's number and corners."""
    if end != 0:
        raise NotImplementedError(f"roi_end_mode {end}, whose corners are not known for sure")
    return roi_align(x, rois[:, 0], rois[:, 1:], size, (scale, samples, False))


def responsible(boxes: Array, shape: Sequence[int], strides: Sequence[int], count: int) -> Array:
    """Return a flag for each cell of a map of features, ``count`` times: the centre of a box."""
    x, y = np.floor((boxes[:, :2] + boxes[:, 2:]).T / 2 / np.reshape(strides, (2, 1))).astype(int)
    flags = np.zeros(shape, np.uint8)
    flags[y, x] = 1
    return flags.ravel().repeat(count)


def yolo_encoded(anchors: Array, truth: Array, stride: Array) -> Array:
    """Return places of boxes in the cells of anchors, and logarithms of their relative sides."""
    least = 1e-6
    (centre, size), (wanted, wanted_size) = (_centre_and_size(x, 0) for x in (anchors, truth))
    places = np.clip((wanted - centre) / stride[:, None] + 0.5, least, 1 - least)
    return np.concatenate([places, np.log(np.maximum(wanted_size / size, least))], 1)
