# SPDX-License-Identifier: Apache-2.0
"""Batch normalization, and its gradients."""

from __future__ import annotations

from itertools import product
from math import nan, prod
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    Code,
    at_launch,
    dtypes,
    each,
    empty,
    formats,
    launch,
    masked,
    rank,
    required,
    shape,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, inout, input, integer, mask, output, real
from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request

__all__ = ["BATCH_NORM", "BATCH_NORM_BACKWARD", "FAST_BATCH_NORM_BACKWARD"]

_SAME = {"f32": ("f32",), "f16": ("f16", "f32"), "bf16": ("bf16", "f32")}
# On the 950 the weight, the running pair and the saved pair have the type of the gradient or
# float32 each; the gradients of parameters have that of the weight or float32.
_PAIRED = " | ".join(
    f"T={kind} W={weight} M={running} V={running} S={saved} I={saved} G={slope} H={slope} "
    "*=f32,f16,bf16"
    for kind, others in _SAME.items()
    for running, saved, weight in product(others, repeat=3)
    for slope in _SAME[weight]
)


def _mistake(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    count = prod((*values["N"], *values["space"]))
    if values["training"] and count == 1 and values["C"] != (0,):
        return "input", "one element a channel", "more than one a channel when training"
    for name in () if values["training"] else ("running_mean", "running_var"):
        if values[name] is None:
            must = "an array when not training; training=True uses the statistics of the batch"
            return name, "left out", must
    return None


def _trains(values: Mapping[str, Any]) -> bool:
    return bool(values["training"])


_DEVIATION = (("950", "invstd"), ("*", "variance"))
_STATISTICS = ("runningMean", "runningVar", "saveMean", "saveInvstd")

BATCH_NORM = describe(
    "aclnnBatchNorm",
    Build.COMPOSITE,
    "Normalize each channel by the batch's mean and biased variance when training, by the running "
    "ones otherwise. When training, the running ones become, in place, "
    "``(1 - momentum) * running + momentum * batch``, with the unbiased variance.",
    types={"910b 910_93 950": "*=f32,f16,bf16", "310p 910": "*=f32,f16"},
    torch=(
        "torch.nn.functional.batch_norm: input running_mean running_var weight bias training "
        "momentum eps"
    ),
    parameters={
        "input": input("T N C space*", "The array to normalize: batch, channels and other axes"),
        "weight": input("W C", "The scale of each channel; ones if None", optional=True),
        "bias": input("B C", "The shift of each channel; zeros if None", optional=True),
        "runningMean": inout(
            "M C", "The running mean; None only when training", optional=True, when=_trains
        ),
        "runningVar": inout(
            "V C",
            "The running variance; None only when training",
            optional=True,
            when=_trains,
            positive=True,
        ),
        "training": flag(
            False,
            "True to use the batch's statistics, and update the running ones",
            sample=lambda _: True,
        ),
        "momentum": real(
            0.1, "The share of the batch in the running statistics", least=0, most=1, unchecked=True
        ),
        "eps": real(1e-5, "Added to the variance", above=0, unchecked=True),
        "output": output("T N C space*", "The normalized tensor", unchecked="type"),
        "saveMean": output("f32/f16/bf16 C", "The mean, when training", when=_trains, fill=0.0),
        "saveInvstd": output(
            "f32/f16/bf16 C",
            "When training: ``1 / sqrt(variance + eps)`` on Ascend 950, the variance itself on "
            "others",
            when=_trains,
            fill=nan,
            by_chip=_DEVIATION,
        ),
    },
    python="input running_mean running_var weight bias training momentum eps",
    checks=(
        required(),
        empty(),
        dtypes(),
        formats({5: "NCDHW"}),
        rank("input", "output", most=8),
        shape("input", "output", "weight", "bias", *_STATISTICS),
    ),
    constraint=_mistake,
    channels_last=("950",),
    source="CANN: ops-nn norm/batch_norm",
    shows="[1. 1. 1. 1. 1. 1.]",
)

_ANY = " | ".join(f"T={kind} *=f32,f16,bf16" for kind in _SAME)
_ARGUMENTS = {
    "gradOut": input("T N C space*", "The gradient of ``output``"),
    "input": input("T N C space*", "The input of ``batch_norm``"),
    "weight": input("W C", "The scale of each channel; ones if None", optional=True),
    "runningMean": input(
        "M C", "The running mean, which counts when not training; zeros if None", optional=True
    ),
    "runningVar": input(
        "V C", "The running variance, likewise; ones if None", optional=True, positive=True
    ),
    "saveMean": input(
        "S C",
        "As returned by ``batch_norm``, which counts when training; zeros if None",
        optional=True,
    ),
    "saveInvstd": input(
        "I C",
        "As returned by ``batch_norm``: the variance, but on Ascend 950 the inverse deviation; "
        "ones if None. NumPy arrays that have the other one are refused, and device arrays that "
        "are no results of ``batch_norm``",
        optional=True,
        positive=True,
        by_chip=_DEVIATION,
    ),
    "training": flag(True, "True if ``batch_norm`` used the batch's statistics"),
    "eps": real(1e-5, "The number that was added to the variance", above=0, unchecked=True),
    "outputMask": mask("gradInput gradWeight gradBias", "Which gradients to compute"),
}
_RESULTS = {
    "gradInput": output("T N C space*", "The gradient of ``input``", unchecked="type masked"),
    "gradWeight": output("G C", "The gradient of ``weight``", unchecked="masked"),
    "gradBias": output("H C", "The gradient of the shift", unchecked="masked"),
}
_SAYS = (
    "Compute the gradients of ``batch_norm``. Pass ``saved=result``, what ``batch_norm`` returned: "
    "in spite of its name, ``save_invstd`` is the variance on all chips but Ascend 950, as in "
    "CANN. A device array that is no result of ``batch_norm`` is refused there; "
    '``saved={"save_mean": mean, "variance": variance}`` states the meaning. '
    "With ``xhat = (input - mean) * invstd`` and sums "
    "over all axes but the channels, n elements each: ``grad_bias = sum(grad_out)``, "
    "``grad_weight = sum(grad_out * xhat)``, and when training ``grad_input = (grad_out - "
    "grad_bias / n - xhat * grad_weight / n) * invstd * weight`` with the saved statistics, as "
    "they are; otherwise ``grad_out * invstd * weight`` with the running ones."
)
_SAVED = "batch_norm save_mean save_invstd"
_CHANNELS, _ELEMENTS = 4, 1 << 16
_CLOSE, _FAR = 0.03, 0.1


def _other_statistic(values: Mapping[str, Any], family: str) -> tuple[str, str, str] | None:
    """Recognise the inverse deviation where the variance must be, or the reverse.

    The statistics of some channels of the input decide, of those where the two differ most: all are
    close to the wrong one, and some are far from the right one.
    """
    given, array = values["save_invstd"], values["input"]
    if given is None or not values["training"] or not family:
        return None
    far = False
    # Where 1 / std and the variance are equal, both are close to 1.
    distances = [max(abs(value), 1 / max(abs(value), 1e-30)) for value in map(float, given.flat)]
    for channel in sorted(range(given.size), key=lambda i: -distances[i])[:_CHANNELS]:
        numbers = array[:, channel].reshape(-1)
        numbers = numbers[:: max(1, numbers.size // _ELEMENTS)].astype("float64")
        variance, is_given = float(numbers.var()), float(given[channel])
        right, wrong = variance, (variance + values["eps"]) ** -0.5
        if family == "950":
            right, wrong = wrong, right
        if not abs(is_given - wrong) <= _CLOSE * wrong:
            return None
        far = far or abs(is_given - right) > _FAR * right
    if not far:
        return None
    names = ["the variance of 'input'", "1 / sqrt(variance + eps) of 'input'"]
    was, must = names if family == "950" else reversed(names)
    return "save_invstd", was, f"{must}, as batch_norm() returns it on this chip"


_ZEROS = ("N space", ("grad_weight", "grad_bias"))


def _wrong_length(request: Request, name: str) -> str | None:
    """Compare a length with the channels.

    Without training the 950 needs no saved statistics, which may be empty then.
    """
    given, expected = request.tensors[name].dims, request.known["C"]
    saved = name.startswith("save") and not request.values["training"]
    if given == expected or (saved and request.chip.family == "950" and given == (0,)):
        return None
    has, must = shape_text(given), shape_text(expected)
    return f"{request.c_name(name)} has shape {has}; it must be {must}"


def _wrong_on_950(request: Request, name: str) -> str | None:
    """Compare a length where the 950 does; other chips leave it to the graph of kernels."""
    return _wrong_length(request, name) if request.chip.family == "950" else None


def _wrong_but_on_950(request: Request, name: str) -> str | None:
    """Compare the length of a saved statistic where the graph of kernels does."""
    return None if request.chip.family == "950" else _wrong_length(request, name)


_CHECKED = (
    required(),
    empty("gradOut", "input"),
    masked(length=Code.NULL),
    dtypes(),
    formats({5: "NCDHW"}),
    rank("gradOut", "input", most=8),
    shape("gradOut", "gradInput", "weight", "runningMean", "runningVar"),
)
_CHECKS = (
    *_CHECKED,
    each(_wrong_on_950, "saveMean", "saveInvstd", "gradWeight", "gradBias"),
    launch(each(_wrong_length, "saveMean", "saveInvstd", "gradWeight", "gradBias")),
)

BATCH_NORM_BACKWARD = describe(
    "aclnnBatchNormBackward",
    Build.COMPOSITE,
    _SAYS,
    types={
        "910b 910_93": _ANY,
        "950": _PAIRED,
        "910": "T=f32 *=f32,f16 | T=f16 *=f32,f16",
    },
    parameters={
        **_ARGUMENTS,
        **_RESULTS,
    },
    checks=_CHECKS,
    zeros=_ZEROS,
    saved=_SAVED,
    mistake=_other_statistic,
    channels_last=("950",),
    result_type="BatchNormGradients",
    source="CANN: ops-nn norm/batch_norm_grad_v3",
    shows="[ -0.5 -24.    0.    0.    0.    0. ]",
)

FAST_BATCH_NORM_BACKWARD = describe(
    "aclnnFastBatchNormBackward",
    Build.COMPOSITE,
    f"{_SAYS} In the same order in every run.",
    types={"910b 910_93 950": _ANY},
    parameters={
        **_ARGUMENTS,
        "version": integer(0, "Which of two kernels, 0 or 1", least=0, most=1, unchecked=True),
        **_RESULTS,
    },
    checks=(
        *_CHECKED,
        rank("saveMean", "saveInvstd", least=0, most=8),
        launch(
            each(_wrong_but_on_950, "saveMean", "saveInvstd"),
            each(_wrong_length, "gradWeight", "gradBias"),
        ),
        # The 950 looks at the lengths of saved statistics in phase 2.
        at_launch(each(_wrong_length, "saveMean", "saveInvstd")),
    ),
    zeros=_ZEROS,
    saved=_SAVED,
    mistake=_other_statistic,
    channels_last=("950",),
    result_type="BatchNormGradients",
    source="CANN: ops-nn norm/fast_batch_norm_backward",
    shows="[ -0.5 -24.    0.    0.    0.    0. ]",
)
