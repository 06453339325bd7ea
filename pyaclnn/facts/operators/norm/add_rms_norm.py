# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization after an addition: also in place, or with a float32 result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.checks import (
    Code,
    dtypes,
    each,
    empty,
    in_graph,
    launch,
    options,
    rank,
    required,
    rule,
    shape,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import inout, input, output, real
from pyaclnn.facts.operators.request import Hooks, shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["ADD_RMS_NORM", "ADD_RMS_NORM_CAST", "INPLACE_ADD_RMS_NORM", "SUMMED"]

SUMMED = {
    "x1": input("T rows* norm*", "The array to normalize, with ``x2``"),
    "x2": input("T rows* norm*", "The array to add to ``x1``"),
    "gamma": input("T norm*", "The scale, whose axes are those that are normalized"),
}
"""Parameters that the operators of this kind share, by C names."""

_SCRATCH = Hooks(scratch=lambda _: 256)
_NARROW = {"310p": ("f16",)}
_USUAL = ("f16", "bf16")


def _gives_rstd(request: Request) -> bool:
    """Return whether the first kernel is chosen.

    Without rstdOut there is another one, without xOut as well a third; their gamma is [1, H].
    """
    return request.tensors["rstd"] is not None


def _squeezed(request: Request) -> list[str]:
    """Let the other kernels take [1, H] for (H,)."""
    x1, gamma = request.tensors["x1"], request.tensors["gamma"]
    if x1 is None or gamma is None or _gives_rstd(request):
        return []
    return ["gamma"] if gamma.dims == (1, *x1.dims[-1:]) else []


def _wrong_null(request: Request) -> str | None:
    """Refuse rstdOut without xOut, for which there is no kernel."""
    if _gives_rstd(request) and request.tensors["x"] is None:
        return "xOut is NULL; it must point to an existing object, as rstdOut is there"
    return None


def _wrong_without_rstd(request: Request) -> str | None:
    """Refuse what the other kernels do not take."""
    kind, gamma = request.types["x1"], request.tensors["gamma"].dims
    kinds = _NARROW.get(request.chip.family, _USUAL)
    if _gives_rstd(request):
        return None
    if kind not in kinds:
        return f"x1 has data type {kind}; without rstdOut it must be {' or '.join(kinds)}"
    if len(gamma) > 2:  # noqa: PLR2004
        return f"gamma has {len(gamma)} dimensions; without rstdOut it must have at most 2"
    return None


def _wrong_gamma(request: Request) -> str | None:
    """Compare gamma as the tiling of the other kernels does."""
    if _gives_rstd(request) or "gamma" in request.squeezed:
        return None
    last = request.tensors["x1"].dims[-1:]
    gamma = shape_text(request.tensors["gamma"].dims)
    return f"gamma has shape {gamma}; without rstdOut it must be {shape_text((1, *last))}"


def _wrong_rows(request: Request, name: str) -> str | None:
    """Compare the leading axes of a statistic; nobody looks at those behind them."""
    dims, lead = request.tensors[name].dims, request.known["rows"]
    if dims[: len(lead)] == lead:
        return None
    has, must = shape_text(dims), shape_text((*lead, *(1 for _ in request.known["norm"])))
    return f"{request.c_name(name)} has shape {has}; it must have {must}"


_EPSILON = real(1e-6, "Added to the mean square", least=0)

ADD_RMS_NORM = describe(
    "aclnnAddRmsNorm",
    Build.INDIVIDUAL,
    "Add two tensors and normalize the sum as ``rms_norm`` does: ``x = x1 + x2``, "
    "``y = x * rstd * gamma``.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p": "T=f32,f16"},
    parameters={
        **SUMMED,
        "epsilon": _EPSILON,
        "yOut": output("T rows* norm*", "The normalized sum"),
        "rstdOut": output(
            "f32 rows* 1*norm",
            "``1 / sqrt(mean(x ** 2) + epsilon)``; the 310P never writes it",
            unwritten="310p",
            exact_as="T",
        ),
        "xOut": output("T rows* norm*", "The sum"),
    },
    checks=(
        rank("x1", "gamma", most=8),
        rank("gamma", "yOut", "x2", "xOut", "rstdOut"),
        shape("x2", "yOut", "xOut", "rstdOut", "gamma"),
    ),
    nonempty="norm",
    hooks=_SCRATCH,
    source="CANN: ops-nn norm/add_rms_norm",
    later={
        "9.1": {
            # Written by hand since, with kernels that give no rstd, or not even the sum.
            "build": Build.COMPOSITE,
            "checks": (
                required(),
                rule(_wrong_null, Code.NULL),
                dtypes(),
                rule(_wrong_without_rstd),
                rank("x1", "x2", "gamma", least=1, most=8),
                rank("yOut", "rstdOut", "xOut", most=8),
                shape("x2", "yOut", "xOut"),
                empty("x1", "gamma"),
                in_graph(shape("gamma", "rstdOut"), options()),
                launch(rule(_wrong_gamma)),
            ),
            "hooks": _SCRATCH._replace(squeezed=_squeezed),
            "parameters": {"rstdOut": {"optional": True}, "xOut": {"optional": True}},
        }
    },
    shows="[0.73 0.83 0.93 1.04 1.14 1.24]",
)

INPLACE_ADD_RMS_NORM = describe(
    "aclnnInplaceAddRmsNorm",
    Build.INDIVIDUAL,
    "Add two tensors and normalize the sum as ``rms_norm`` does, in place: ``x2`` becomes the sum "
    "``x1 + x2``, and ``x1`` that normalized, ``x2 * rstd * gamma``.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p": "T=f32,f16"},
    parameters={
        "x1Ref": inout("T rows* norm*", "A summand; becomes the normalized sum"),
        "x2Ref": inout("T rows* norm*", "The other; becomes the sum"),
        "gamma": SUMMED["gamma"],
        "epsilon": _EPSILON,
        "rstdOut": output(
            "f32 rows* 1*norm",
            "``1 / sqrt(mean(x2 ** 2) + epsilon)`` of the sum; the 310P never writes it",
            unwritten="310p",
            exact_as="T",
        ),
    },
    checks=(
        rank("x1Ref", "gamma", most=8),
        rank("gamma", "x2Ref", "rstdOut"),
        shape("x2Ref", "rstdOut", "gamma"),
    ),
    nonempty="norm",
    hooks=_SCRATCH,
    source="CANN: ops-nn norm/inplace_add_rms_norm",
    shows="[0.73 0.83 0.93 1.04 1.14 1.24]",
)

ADD_RMS_NORM_CAST = describe(
    "aclnnAddRmsNormCast",
    Build.INDIVIDUAL,
    "Add two tensors and normalize the sum as ``rms_norm`` does, and give it in float32 as well: "
    "``x = x1 + x2``, ``y2 = x * rstd * gamma``. On Ascend 950 ``y1`` is that before it was "
    "rounded, elsewhere after.",
    types={"910b 910_93 950": "T=f16,bf16"},
    parameters={
        **SUMMED,
        "epsilon": _EPSILON,
        "y1Out": output("f32 rows* norm*", "The normalized sum in float32", exact_as="T"),
        "y2Out": output("T rows* norm*", "The normalized sum"),
        "rstdOut": output(
            "f32 rows* 1*norm",
            "``1 / sqrt(mean(x ** 2) + epsilon)``",
            unchecked="shape",
            exact_as="T",
        ),
        "xOut": output("T rows* norm*", "The sum"),
    },
    checks=(
        rank("x1", "gamma", most=8),
        rank("y1Out", "y2Out", "x2", "xOut", "gamma"),
        each(_wrong_rows, "rstdOut"),
        shape("gamma", "x1", "x2", "y1Out", "y2Out", "xOut"),
    ),
    nonempty="norm",
    hooks=_SCRATCH,
    source="CANN: ops-nn norm/add_rms_norm_cast",
    shows="[0.73 0.83 0.93 1.04 1.14 1.24]",
)
