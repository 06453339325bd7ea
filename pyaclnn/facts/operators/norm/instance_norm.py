# SPDX-License-Identifier: Apache-2.0
"""Normalization of each channel of each sample."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import given, real, result, string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.words import Dims, Lengths

__all__ = ["INSTANCE_NORM"]

_BLOCK = 32
_BYTES = {"f32": 4, "f16": 2}


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
    for word, what in (("C", "channels"), ("space", "positions of a channel")):
        count = prod(values[word])
        if 0 < count * size < _BLOCK:
            must = f"an array of at least {_BLOCK // size}, which take {_BLOCK} bytes"
            return "x", f"an array of {count} {what}", must
    return None


INSTANCE_NORM = describe(
    "aclnnInstanceNorm",
    Build.COMPOSITE,
    "Normalize each channel of each sample by itself: ``(x - mean) / sqrt(variance + eps) * gamma "
    "+ beta``, with the biased variance.",
    types={"310p": "T=f32,f16"},
    x=given("T N first second third", "What is normalized, of the axes that ``data_format`` says"),
    gamma=given("T C", "The scale of each channel"),
    beta=given("T C", "The shift of each channel", loose="shape"),
    dataFormat=string("NCHW", "What the axes of ``x`` are", choices=("NCHW", "NHWC")),
    eps=real(1e-5, "Added to the variance", above=0, loose=True),
    y=result("T N first second third", "The normalized tensor", loose="shape"),
    mean=result("T", "The mean of each channel of each sample", infer=_statistic, loose="shape"),
    variance=result("T", "The biased variance of each, likewise", infer=_statistic, loose="shape"),
    about={
        "order": "nadsce",
        "lengths": _lengths,
        "refuse": _too_few,
        "idle_without": "x gamma beta y mean variance",
        "compared": "x^ gamma^ beta^ x# gamma# beta# gamma",
        "source": "CANN: ops-nn norm/instance_norm",
    },
)
