# SPDX-License-Identifier: Apache-2.0
"""Pooling, convolution, sampling and losses, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .aten_elementwise import ANY, GRADIENT, OTHER, POSITIVE, Vector, sigmoid, softplus, vector

IMAGE = np.random.default_rng(4).permutation(48).reshape(1, 2, 4, 6).astype(np.float32)
CUBE = np.arange(64.0, dtype=np.float32).reshape(1, 1, 4, 4, 4)
WEIGHT = np.array([[[[1.0, -1.0], [0.5, 2.0]]], [[[0.25, 1.0], [-2.0, 0.0]]]], np.float32)
BIAS = np.array([1.0, -2.0], np.float32)


def blocks(x: Any, *sizes: int) -> Any:
    """The windows of an array that lie beside each other, each as a row at the end."""
    lead = x.shape[: x.ndim - len(sizes)]
    shape = [
        n
        for length, size in zip(x.shape[len(lead) :], sizes, strict=True)
        for n in (length // size, size)
    ]
    outer = [len(lead) + 2 * axis for axis in range(len(sizes))]
    parted = x.reshape(*lead, *shape)
    order = [*range(len(lead)), *outer, *(axis + 1 for axis in outer)]
    found = parted.transpose(order)
    return found.reshape(*found.shape[: len(lead) + len(sizes)], -1)


def spread(x: Any, *sizes: int) -> Any:
    """Each element of the last axes as a window of its own."""
    for axis, size in enumerate(sizes, x.ndim - len(sizes)):
        x = np.repeat(x, size, axis)
    return x


def correlated(x: Any, weight: Any) -> Any:
    """One filter a channel, at each place."""
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], (2, 3))
    return np.einsum("ncijkl,ckl->ncij", windows, weight[:, 0])


def in_windows() -> list[Vector]:
    """Windows that lie beside each other, so that NumPy can say what is in them."""
    means, tops = blocks(IMAGE, 2, 3).mean(-1), blocks(IMAGE, 2, 3).max(-1)
    rows, columns = np.unravel_index(blocks(IMAGE, 2, 3).argmax(-1), (2, 3))
    tall = np.arange(2)[:, None] * 2 + rows
    places = tall * 6 + np.arange(2)[None] * 3 + columns
    gradient = np.arange(1.0, 9).reshape(means.shape)
    peaks = np.where(spread(tops, 2, 3) == IMAGE, 1, 0)
    window = ((2, 3), (2, 3), (0, 0))
    settings = (*window, False, True, 0, 1)
    cubes = blocks(CUBE, 2, 2, 2).mean(-1)
    torn = np.where(IMAGE.min() == IMAGE, np.nan, IMAGE)
    return [
        vector("aclnnAdaptiveAvgPool2d", means, IMAGE, (2, 2)),
        vector("aclnnAdaptiveAvgPool2dBackward", spread(gradient, 2, 3) / 6, gradient, IMAGE),
        vector("aclnnAdaptiveAvgPool3d", cubes, CUBE, (2, 2, 2)),
        vector("aclnnAdaptiveAvgPool3dBackward", spread(cubes, 2, 2, 2) / 8, cubes, CUBE),
        vector("aclnnAdaptiveMaxPool2d", (tops, places), IMAGE, (2, 2)),
        vector("aclnnAvgPool2d", means, IMAGE, *settings),
        vector("aclnnAvgPool2d", blocks(torn, 2, 3).mean(-1), torn, *settings),
        vector("aclnnAvgPool2d", means * 6 / 5, IMAGE, *window, False, True, 5, 1),
        vector("aclnnAvgPool2dBackward", spread(gradient, 2, 3) / 6, gradient, IMAGE, *settings),
        vector("aclnnAvgPool3d", cubes, CUBE, *(((2, 2, 2),) * 2), (0, 0, 0), False, True, 0),
        vector("aclnnMaxPool2dWithIndices", (tops, places), IMAGE, *window, (1, 1), False),
        vector(
            "aclnnMaxPool2dWithIndicesBackward",
            spread(gradient, 2, 3) * peaks,
            *(gradient, IMAGE, places.astype(np.int32), *window, (1, 1), False),
        ),
        vector("aclnnMaxUnpool2d", spread(tops, 2, 3) * peaks, tops, places, (4, 6)),
        vector("aclnnUpsampleNearest1d", np.repeat(IMAGE[0], 2, 2), IMAGE[0], (12,)),
        vector("aclnnUpsampleNearest2d", spread(IMAGE, 3, 2), IMAGE, (12, 12)),
    ]


def convolved() -> list[Vector]:
    """Convolutions with a filter a channel."""
    plain = ((1, 1), (0, 0), (1, 1), False, (0, 0), 2)
    forward = correlated(IMAGE, WEIGHT)
    gradient = np.ones_like(forward)
    gradient[0, 1, 0] = -2.0
    padded = np.pad(gradient, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(IMAGE, forward.shape[2:], (2, 3))
    by_weight = np.einsum("ncijkl,nckl->cij", windows, gradient)[:, None]
    steps = np.array([[[1.0, 2.0]], [[0.0, -1.0]], [[3.0, 0.5]]], np.float32)  # time, batch, in
    kernel = np.array([[[1.0], [0.5]], [[-1.0], [2.0]]], np.float32)  # width, in, out
    along = [steps[t] @ kernel[0] + steps[t + 1] @ kernel[1] + 1 for t in range(2)]
    return [
        vector("aclnnConvolution", forward + BIAS[:, None, None], IMAGE, WEIGHT, BIAS, *plain, 1),
        vector("aclnnConvolution", forward, IMAGE, WEIGHT, None, *plain, 1),
        vector(
            "aclnnConvolutionBackward",
            (correlated(padded, WEIGHT[..., ::-1, ::-1]), by_weight, gradient.sum((0, 2, 3))),
            *(gradient, IMAGE, WEIGHT, (2,), *plain, (True, True, True), 1),
        ),
        vector("aclnnConvTbc", np.array(along), steps, kernel, np.ones(1, np.float32), 0, 1),
    ]


def sampled() -> list[Vector]:
    """Sampling at the very elements, which are given back; halfway, there is their mean."""
    y, x = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 6), indexing="ij")
    grid = np.stack([x, y], -1)[None]
    between = (grid[:, :, :-1] + grid[:, :, 1:]) / 2
    halves = (IMAGE[..., :-1] + IMAGE[..., 1:]) / 2
    z, y, x = np.meshgrid(*([np.linspace(-1, 1, 4)] * 3), indexing="ij")
    return [
        vector("aclnnGridSampler2D", IMAGE, IMAGE, grid, 1, 0, True),
        vector("aclnnGridSampler2D", halves, IMAGE, between, 0, 1, True),
        vector("aclnnGridSampler3D", CUBE, CUBE, np.stack([x, y, z], -1)[None], 0, 0, True),
    ]


def losses() -> list[Vector]:
    """Losses by each reduction; 0 is none, 1 the mean, 2 the sum."""
    share, wanted = sigmoid(ANY), sigmoid(OTHER)
    entropy = -(wanted * np.log(share) + (1 - wanted) * np.log(1 - share))
    slope = (share - wanted) / (share * (1 - share))
    signs = np.sign(OTHER)
    soft = softplus(-signs * ANY)
    scores = np.log(POSITIVE / POSITIVE.sum(0))[None, :, None]  # batch, class, rows, columns
    classes = np.array([[[0, 1, 1]]])
    weight = np.array([2.0, 0.5], np.float32)
    picked = np.take_along_axis(scores, classes[:, None], 1)[:, 0]
    total = weight[classes].sum()
    each = -picked * weight[classes]
    into = np.zeros_like(scores)
    np.put_along_axis(into, classes[:, None], -weight[classes][:, None], 1)
    return [
        vector("aclnnBinaryCrossEntropy", entropy * POSITIVE, share, wanted, POSITIVE, 0),
        vector("aclnnBinaryCrossEntropy", entropy.mean(), share, wanted, None, 1),
        vector(
            "aclnnBinaryCrossEntropyBackward",
            GRADIENT * slope * POSITIVE,
            *(GRADIENT, share, wanted, POSITIVE, 0),
        ),
        vector(
            "aclnnBinaryCrossEntropyWithLogits",
            entropy.sum(),
            *(ANY, wanted, np.ones_like(ANY), None, 2),
        ),
        vector(
            "aclnnBinaryCrossEntropyWithLogits",
            POSITIVE * (3 * wanted * softplus(-ANY) + (1 - wanted) * softplus(ANY)),
            *(ANY, wanted, POSITIVE, np.full(3, 3.0), 0),
        ),
        vector("aclnnKlDiv", wanted * (np.log(wanted) - ANY), ANY, wanted, 0, False),
        vector("aclnnKlDiv", (np.exp(OTHER) * (OTHER - ANY)).sum(), ANY, OTHER, 2, True),
        vector("aclnnMseLossOut", ((ANY - OTHER) ** 2).mean(), ANY, OTHER, 1),
        vector("aclnnMseLossOut", (ANY - OTHER) ** 2, ANY, OTHER, 0),
        vector(
            "aclnnMultilabelMarginLoss",
            (np.float32((0.5 + 0.25) / 3), np.array([1.0, 0.0, 0.0])),
            *(np.array([1.0, 0.5, 0.25]), np.array([0, -1, 2]), 1),
        ),
        vector("aclnnNLLLoss2d", (each.sum() / total, total), scores, classes, weight, 1, -100),
        vector("aclnnNLLLoss2d", (each.sum(), total), scores, classes, weight, 2, -100),
        vector(
            "aclnnNLLLoss2dBackward",
            3 * into / total,
            *(np.array(3.0), scores, classes, weight, 1, -100, np.array(total)),
        ),
        vector("aclnnSoftMarginLoss", soft, ANY, signs, 0),
        vector("aclnnSoftMarginLoss", soft.mean(), ANY, signs, 1),
        vector(
            "aclnnSoftMarginLossBackward",
            -GRADIENT * signs * sigmoid(-signs * ANY),
            *(GRADIENT, ANY, signs, 0),
        ),
    ]


def on_windows() -> list[Vector]:
    """All of them."""
    return [*in_windows(), *convolved(), *sampled(), *losses()]
