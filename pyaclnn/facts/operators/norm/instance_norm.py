# SPDX-License-Identifier: Apache-2.0
"""Normalization of each channel of each sample."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    Code,
    at_launch,
    chips,
    dtypes,
    empty,
    launch,
    options,
    rank,
    required,
    rule,
    shape,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import input, output, real, string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request
    from pyaclnn.facts.operators.words import Dims, Lengths

__all__ = ["INSTANCE_NORM"]

_BLOCK = 32
_BYTES = {"f32": 4, "f16": 2}
_COUNTED = (("C", "channels"), ("space", "positions of a channel"))


def _lengths(values: Mapping[str, Any]) -> Lengths:
    first, second, third = (values[word] for word in ("first", "second", "third"))
    if values["data_format"].startswith("NHWC"):
        return {"C": third, "space": (*first, *second)}
    return {"C": first, "space": (*second, *third)}


def _statistic(values: Mapping[str, Any]) -> Dims:
    if values["data_format"].startswith("NHWC"):
        return *values["N"], 1, 1, *values["C"]
    return *values["N"], *values["C"], 1, 1


def _too_few(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    size = _BYTES[values["T"]]
    for word, items in _COUNTED:
        count = prod(values[word])
        if 0 < count * size < _BLOCK:
            must = f"an array of at least {_BLOCK // size}, which take {_BLOCK} bytes"
            return "x", f"an array of {count} {items}", must
    return None


def _no_tiling(request: Request) -> str | None:
    """Refuse less than a block at launch; the status of the tiling is ignored before."""
    size = _BYTES[request.tensors["x"].type]
    for word, items in _COUNTED:
        count = prod(request.known[word])
        if count * size < _BLOCK:
            return f"tiling failed: x has {count} {items}, which take less than {_BLOCK} bytes"
    return None


INSTANCE_NORM = describe(
    "aclnnInstanceNorm",
    Build.COMPOSITE,
    "Normalize each channel of each sample by itself: ``(x - mean) / sqrt(variance + eps) * gamma "
    "+ beta``, with the biased variance.",
    types={"310p": "T=f32,f16"},
    torch=(
        "torch.nn.functional.instance_norm: input=x running_mean==None running_var==None "
        "weight=gamma bias=beta use_input_stats==True momentum==... eps"
    ),
    parameters={
        "x": input(
            "T N first second third",
            "The array to normalize, of the axes that ``data_format`` says",
        ),
        "gamma": input("T C", "The scale of each channel"),
        "beta": input("T C", "The shift of each channel", unchecked="shape"),
        "dataFormat": string("NCHW", "The axes of ``x``", choices=("NCHW", "NHWC")),
        "eps": real(1e-5, "Added to the variance", above=0, unchecked=True),
        "y": output("T N first second third", "The normalized tensor", unchecked="shape"),
        "mean": output(
            "T", "The mean of each channel of each sample", infer=_statistic, unchecked="shape"
        ),
        "variance": output(
            "T", "The biased variance of each, likewise", infer=_statistic, unchecked="shape"
        ),
    },
    checks=(
        required(),
        options(),
        dtypes(),
        rank("x", "gamma", "beta", most=8),
        rank("x", "gamma", "beta"),
        shape("gamma"),
        chips(),
        empty("x", "gamma", "beta", "y", "mean", "variance"),
        launch(),
        at_launch(rule(_no_tiling, Code.GRAPH)),
    ),
    constraint=_too_few,
    lengths=_lengths,
    source="CANN: ops-nn norm/instance_norm",
    shows="[-0.53 -0.09  0.35  0.78]",
)
