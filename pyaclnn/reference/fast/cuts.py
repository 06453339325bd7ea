# SPDX-License-Identifier: Apache-2.0
"""Table of the definitions that are computed in blocks, with the cuts of their arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.fast.blocks import Cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CUTS"]

_LINES = 32
"""Elements that lie in a few lines of the cache."""


def rows_of(main: str) -> Callable[[dict[str, Any]], Cut | None]:
    """Cut between the rows of a tensor, which the axes of ``gamma`` span."""

    def cut(arguments: dict[str, Any]) -> Cut | None:
        tensor = np.asarray(arguments[main])
        lead = tensor.ndim - np.ndim(arguments["gamma"])
        if lead < 1:
            return None
        shape = tensor.shape
        count = math.prod(shape[:lead])
        views = {
            name: np.reshape(value, (count, *shape[lead:]))
            for name, value in arguments.items()
            if np.shape(value) == shape
        }
        return Cut(views, 0, count, shape[:lead])

    return cut


def samples_of(main: str) -> Callable[[dict[str, Any]], Cut | None]:
    """Cut along the first axis of a tensor."""

    def cut(arguments: dict[str, Any]) -> Cut | None:
        tensor = np.asarray(arguments[main])
        return Cut({main: tensor}, 0, len(tensor), ()) if tensor.ndim else None

    return cut


def conditioned_samples(arguments: dict[str, Any]) -> Cut | None:
    """Cut along the first axis, if that is one of samples with a scale and a shift each."""
    tensor = np.asarray(arguments["x"])
    views = {name: np.asarray(arguments[name]) for name in ("x", "scale", "shift")}
    if tensor.ndim < 3 or {view.shape[:1] for view in views.values()} != {tensor.shape[:1]}:  # noqa: PLR2004
        return None
    return Cut(views, 0, len(tensor), ())


def channels(arguments: dict[str, Any]) -> Cut | None:
    """Cut between channels."""
    tensor = np.asarray(arguments["input"])
    if tensor.ndim < 2:  # noqa: PLR2004
        return None
    count = tensor.shape[1]
    parameters = {
        name: np.asarray(value) for name, value in arguments.items() if np.shape(value) == (count,)
    }
    positions = math.prod(tensor.shape[2:])
    return Cut(parameters | {"input": tensor}, 1, count, (), _LINES // max(positions, 1) or 1)


def slices(arguments: dict[str, Any]) -> Cut | None:
    """Cut between the slices that are shortened."""
    tensor, dim = np.asarray(arguments["input"]), arguments["dim"]
    if not -tensor.ndim <= dim < tensor.ndim:
        return None
    axis = dim % tensor.ndim
    return Cut({"input": tensor}, axis, tensor.shape[axis], ())


def first_axis(arguments: dict[str, Any]) -> Cut | None:
    """Cut along the first axis where the vectors lie along others."""
    tensor, dim = np.asarray(arguments["input"]), arguments.get("dim")
    axes = (dim,) if isinstance(dim, int) else tuple(dim or ())
    if not tensor.ndim or not axes or {0, -tensor.ndim} & set(axes):
        return None
    return Cut({"input": tensor}, 0, len(tensor), ())


CUTS: Mapping[str, Callable[[dict[str, Any]], Cut | None]] = {
    "ada_layer_norm": conditioned_samples,
    "ada_layer_norm_quant": conditioned_samples,
    "ada_layer_norm_v2": conditioned_samples,
    "add_layer_norm": rows_of("x1"),
    "add_layer_norm_quant": rows_of("x1"),
    "add_layer_norm_quant_v2": rows_of("x1"),
    "add_rms_norm": rows_of("x1"),
    "add_rms_norm_cast": rows_of("x1"),
    "add_rms_norm_dynamic_quant": rows_of("x1"),
    "add_rms_norm_dynamic_quant_v2": rows_of("x1"),
    "add_rms_norm_quant": rows_of("x1"),
    "add_rms_norm_quant_v2": rows_of("x1"),
    "deep_norm": rows_of("x"),
    "group_norm": samples_of("input"),
    "group_norm_silu": samples_of("input"),
    "group_norm_silu_quant": samples_of("input"),
    "group_norm_silu_v2": samples_of("input"),
    "group_norm_swish": samples_of("x"),
    "inplace_add_rms_norm": rows_of("x1"),
    "inplace_renorm": slices,
    "instance_norm": samples_of("x"),
    "layer_norm_quant": rows_of("x"),
    "linalg_vector_norm": first_axis,
    "norm": first_axis,
    "quantized_batch_norm": channels,  # float32 takes four times the memory of its integers
    "renorm": slices,
    "rms_norm_dynamic_quant": rows_of("x"),
    "rms_norm_quant": rows_of("x"),
    "rms_norm_quant_v3": rows_of("x"),
}
"""The names of definitions -> where a call can be cut; None if it cannot."""
