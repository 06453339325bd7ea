# SPDX-License-Identifier: Apache-2.0
"""Batch normalization."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, Any

from pyaclnn.operators.operator import Build, describe
from pyaclnn.operators.parameters import flag, given, real, result, updated

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BATCH_NORM"]


def _needs_several(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    count = prod((*values["N"], *values["space"]))
    if values["training"] and count == 1 and values["C"] != (0,):
        return "input", "one element a channel", "more than one a channel when training"
    return None


def _trains(values: Mapping[str, Any]) -> bool:
    return bool(values["training"])


BATCH_NORM = describe(
    "aclnnBatchNorm",
    Build.COMPOSITE,
    "Normalize each channel by the batch's mean and biased variance when training, by the running "
    "ones otherwise. When training, the running ones become, in place, "
    "``(1 - momentum) * running + momentum * batch``, with the unbiased variance.",
    types={"910b 910_93 950": "*=f32,f16,bf16", "310p 910": "*=f32,f16"},
    input=given("T N C space*", "What is normalized: batch, channels and other axes"),
    weight=given("W C", "The scale of each channel; ones if None", optional=True),
    bias=given("B C", "The shift of each channel; zeros if None", optional=True),
    runningMean=updated("M C", "The running mean; zeros if None", optional=True, when=_trains),
    runningVar=updated(
        "V C", "The running variance; ones if None", optional=True, when=_trains, positive=True
    ),
    training=flag(
        False,
        "Whether to use the batch's statistics, and update the running ones",
        sample=lambda _: True,
    ),
    momentum=real(
        0.1, "The share of the batch in the running statistics", least=0, most=1, loose=True
    ),
    eps=real(1e-5, "Added to the variance", above=0, loose=True),
    output=result("T N C space*", "The normalized tensor", loose="type"),
    saveMean=result("f32/f16/bf16 C", "The mean, when training", when=_trains, fill=0.0),
    saveInvstd=result(
        "f32/f16/bf16 C",
        "When training: ``1 / sqrt(variance + eps)`` on Ascend 950, the variance itself on others",
        when=_trains,
        fill=nan,
    ),
    about={
        "python": "input running_mean running_var weight bias training momentum eps",
        "order": "nedfs",
        "refuse": _needs_several,
        "formats": {5: "NCDHW"},
        "channels_last": "950",
        "source": "CANN: ops-nn norm/batch_norm",
    },
)
