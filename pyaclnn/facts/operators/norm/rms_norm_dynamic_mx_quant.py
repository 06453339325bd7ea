# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization that gives narrow floats with a shared scale a block."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import dtypes, launch, options, rank, required, rule, shape
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.norm.add_rms_norm import SUMMED
from pyaclnn.facts.operators.parameters import dtype, flag, input, integer, output, real, string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request
    from pyaclnn.facts.operators.words import Dims

__all__ = ["ADD_RMS_NORM_DYNAMIC_MX_QUANT", "RMS_NORM_DYNAMIC_MX_QUANT"]

_BLOCK = 32
_MOST_AXES = 7
_MODES = ("rint", "floor", "round")
_ROWS = "T=f16 G=f16,f32 Y={0} | T=bf16 G=bf16,f32 Y={0}"
_TYPES = {"950": _ROWS.format("e4m3,e5m2")}
_ACCEPTED = {"950": _ROWS.format("e4m3,e5m2,e2m1,FLOAT4_E1M2")}
_SAYS = (
    "shift, and quantize blocks of 32 elements of the last axis with a power of two for each: "
    "``v = x * rstd * gamma + beta``, ``y = v / scale`` to the nearest. ``scale_alg`` 0 takes "
    "``scale = 2 ** (floor(log2(max(abs(v)))) - e)`` with the exponent e of the largest number of "
    "``dtype``, 1 the least power of two with which nothing is beyond that number."
)


def _scales(values: Mapping[str, Any]) -> Dims:
    """A scale for each block, in pairs."""
    blocks = -(-values["D"][0] // _BLOCK)
    return (*values["rows"], -(-blocks // 2), 2)


def _no_rows(request: Request) -> bool:
    """Return whether there is no row: nothing is launched, whatever else is wrong."""
    return 0 in request.tensors[_first(request)].dims[:-1]


def _first(request: Request) -> str:
    return "x1" if "x1" in request.tensors else "x"


def _wrong(request: Request) -> str | None:
    """Require a type that is the chosen one, and what the narrowest floats need."""
    kind, chosen = request.types["y"], request.values["dtype"]
    if kind != chosen:
        return f"yOut has data type {kind}; it must be {chosen}, which dstType says"
    mode, whole = request.values["round_mode"], prod(request.known["D"])
    if mode not in _MODES:
        return f"roundMode is {mode!r}; it must be {' or '.join(_MODES)}"
    if kind in ("e4m3", "e5m2"):
        return None if mode == _MODES[0] else f"roundMode is {mode!r}; of float8 it must be 'rint'"
    if request.values["scale_alg"]:
        return "scaleAlg must be 0 of types of 4 bits"
    return f"the last axis has {whole} elements; they must be even" if whole % 2 else None


_OPTIONS = {
    "gamma": input("G D", "The scale of the norm"),
    "beta": input("G D", "The shift of the norm; zeros if None", optional=True),
    "epsilon": real(1e-6, "Added to the mean square", least=0, unchecked=True),
    "scaleAlg": integer(0, "How the scale of a block follows from it, 0 or 1", least=0, most=1),
    "roundMode": string("rint", "How results are rounded; rint, floor or round", choices=_MODES),
    "dstType": dtype("Y", "The dtype of ``y``: float8_e4m3fn, or float8_e5m2")._replace(
        name="dtype"
    ),
    "outputRstd": flag(False, "True to return ``rstd``", sample=lambda _: True),
}
_Y = {"yOut": output("Y rows* D", "The result, quantized")}
_STATISTICS = {
    "mxscaleOut": output("e8m0", "The scales of the blocks, in pairs", infer=_scales),
    "rstdOut": output(
        "f32 rows* 1",
        "``1 / sqrt(mean(x ** 2) + epsilon)``",
        when=lambda values: values["output_rstd"],
    ),
}
_OUTPUTS = ("yOut", "mxscaleOut", "rstdOut")

RMS_NORM_DYNAMIC_MX_QUANT = describe(
    "aclnnRmsNormDynamicMxQuant",
    Build.COMPOSITE,
    f"Normalize over the last axis as ``rms_norm`` does, {_SAYS}",
    types=_TYPES,
    accepted_types=_ACCEPTED,
    parameters={
        "x": input("T rows* D", "The array to normalize"),
        **_OPTIONS,
        **_Y,
        **_STATISTICS,
    },
    checks=(
        required(),
        launch(
            rank("x", least=1, most=_MOST_AXES),
            shape("gamma", "beta", *_OUTPUTS),
            dtypes(),
            options(),
            rule(_wrong),
            idle=_no_rows,
        ),
    ),
    nonempty="D",
    source="CANN: ops-nn norm/rms_norm_dynamic_mx_quant",
)

ADD_RMS_NORM_DYNAMIC_MX_QUANT = describe(
    "aclnnAddRmsNormDynamicMxQuant",
    Build.COMPOSITE,
    "Add two tensors, normalize the sum as ``rms_norm`` does over the last axis, " + _SAYS,
    types=_TYPES,
    accepted_types=_ACCEPTED,
    parameters={
        "x1": input("T rows* D", SUMMED["x1"].doc),
        "x2": input("T rows* D", SUMMED["x2"].doc),
        **_OPTIONS,
        **_Y,
        "xOut": output("T rows* D", "The sum"),
        **_STATISTICS,
    },
    checks=(
        required(),
        launch(
            rank("x1", "x2", least=1, most=_MOST_AXES),
            shape("x2", "gamma", "beta", "xOut", *_OUTPUTS),
            dtypes(),
            options(),
            rule(_wrong),
            idle=_no_rows,
        ),
    ),
    nonempty="D",
    source="CANN: ops-nn norm/add_rms_norm_dynamic_mx_quant",
)
