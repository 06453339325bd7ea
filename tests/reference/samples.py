# SPDX-License-Identifier: Apache-2.0
"""Arguments for every operator, by the names of its parameters."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn import reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FAST", "OPERATORS", "arguments"]

OPERATORS = [
    name
    for name in reference.__all__
    if name not in {"definition", "implementation"} and inspect.isfunction(getattr(reference, name))
]
FAST = [name for name in OPERATORS if getattr(reference, name) is not reference.definition(name)]

ROWS, COLUMNS = (6, 5), 8
CHANNELS, POSITIONS, GROUPS = 4, (3, 5), 2


class Draw:
    """Numbers that 16 bits hold, as arrays of one data type."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.generator = np.random.default_rng(11)
        self.dtype = dtype

    def any(self, *shape: int) -> NDArray[Any]:
        return (self.generator.integers(-40, 41, shape) / 16).astype(self.dtype)

    def positive(self, *shape: int) -> NDArray[Any]:
        return (self.generator.integers(8, 33, shape) / 16).astype(self.dtype)


def everywhere(draw: Draw) -> dict[str, Any]:
    return {
        "scalar": 3,
        **dict.fromkeys(("ord", "p", "norm_type"), 1.5),
        **dict.fromkeys(("eps", "epsilon"), 2.0**-6),
        **dict.fromkeys(("num_groups", "group"), GROUPS),
        **dict.fromkeys(("dim", "alpha"), 1),
        **dict.fromkeys(("maxnorm", "max_norm"), 4.0),
        "momentum": 0.25,
        "indices": np.array([[1, 0], [1, 4]]),
        "normalized_shape": (COLUMNS,),
        **{name: draw.positive(1) for name in ("scale", "scales_x", "offset_x", "offset")},
        "zero_points": draw.any(1),
    }


def of_rows(draw: Draw) -> dict[str, Any]:
    tensors = ("input", "x", "x1", "x2", "gx", "dy", "grad_out", "dsum")
    parameters = ("weight", "gamma", "bias", "beta", "zero_points1", "zero_points2")
    scales = ("scales1", "scales2", "smooth_scale1", "smooth_scale2", "smooth_scales")
    return (
        {name: draw.any(*ROWS, COLUMNS) for name in tensors}
        | {name: draw.any(COLUMNS) for name in parameters}
        | {name: draw.positive(COLUMNS) for name in scales}
        | {name: draw.positive(*ROWS, 1) for name in ("mean", "rstd")}
    )


def of_channels(draw: Draw) -> dict[str, Any]:
    sums = ("sum_dy", "sum_dy_xmu", "save_mean", "running_mean")
    parameters = ("weight", "gamma", "bias", "beta", *sums)
    scales = ("invstd", "save_invstd", "running_var", "quant_scale", "mean")
    return (
        {name: draw.any(ROWS[0], CHANNELS, *POSITIONS) for name in ("input", "x", "dy", "grad_out")}
        | {name: draw.any(CHANNELS) for name in parameters}
        | {name: draw.positive(CHANNELS) for name in scales}
        | {"counter": draw.positive(3)}
    )


def of_groups(draw: Draw) -> dict[str, Any]:
    return {name: draw.positive(ROWS[0], GROUPS) for name in ("mean", "rstd")}


def of_devices(draw: Draw) -> dict[str, Any]:
    counts = (8 * draw.positive(3)).astype(draw.dtype)
    return {
        **{name: draw.positive(3, CHANNELS) for name in ("mean", "invstd", "total_sum")},
        "total_square_sum": (64 * draw.positive(3, CHANNELS)).astype(draw.dtype),
        **dict.fromkeys(("counts", "sample_count"), counts),
    }


OF_AREA = {
    "ada_layer_norm": lambda draw: (
        of_rows(draw) | {name: draw.any(ROWS[0], COLUMNS) for name in ("scale", "shift")}
    ),
    "batch_norm": of_channels,
    "batch_norm_elemt": of_channels,
    "batch_norm_reduce": of_channels,
    "batch_norm_stats": lambda draw: of_channels(draw) | {"variance": draw.positive(CHANNELS)},
    "group_norm": lambda draw: of_channels(draw) | of_groups(draw),
    "group_norm_swish": lambda draw: of_channels(draw) | of_groups(draw),
    "instance_norm": of_channels,
    "quantized_batch_norm": lambda draw: {
        **of_channels(draw),
        "input": (8 * draw.any(ROWS[0], CHANNELS, *POSITIONS)).astype(np.int8),
        "var": draw.positive(CHANNELS),
        "input_scale": 0.5,
        "input_zero_point": 3,
        "output_scale": 0.25,
        "output_zero_point": -2,
    },
}
OF_OPERATOR = {
    "batch_norm_gather_stats_with_counts": of_devices,
    "embedding_renorm": lambda draw: {"input": draw.any(ROWS[0], COLUMNS)},
    "foreach_norm": lambda draw: {"x": [draw.any(3, 5), draw.any(7)]},
    "sync_batch_norm_gather_stats": lambda draw: {
        name: value for name, value in of_devices(draw).items() if name != "mean"
    },
}


def arguments(operator: str, dtype: np.dtype[Any]) -> dict[str, Any]:
    """Draw all arguments of an operator, but for the options that have defaults and no tensors."""
    definition = reference.definition(operator)
    area = definition.__module__.rpartition(".")[2]
    drawn: dict[str, Any] = {}
    for source in (everywhere, OF_AREA.get(area, of_rows), OF_OPERATOR.get(operator)):
        drawn |= source(Draw(dtype)) if source is not None else {}
    parameters = inspect.signature(definition).parameters.values()
    options = {"family", "dtype", "output_mask"}
    return {
        parameter.name: drawn[parameter.name]
        for parameter in parameters
        if parameter.name in drawn
        or (parameter.default in (parameter.empty, None) and parameter.name not in options)
    }
