# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization of a sum, quantized by given scales or those of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    Code,
    at_launch,
    constraint,
    dtypes,
    each,
    empty,
    in_graph,
    in_tiling,
    launch,
    rank,
    required,
    rule,
    same_dtype,
    shape,
    shapes,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.norm.add_rms_norm import SUMMED
from pyaclnn.facts.operators.parameters import flag, input, integer, mask, output, real
from pyaclnn.facts.operators.quirks import (
    add_rms_norm_dynamic_quant as dynamic,
    add_rms_norm_quant_v2 as quirks,
)
from pyaclnn.facts.operators.request import Hooks, shape_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request
    from pyaclnn.facts.operators.words import Dims

__all__ = [
    "ADD_RMS_NORM_DYNAMIC_QUANT",
    "ADD_RMS_NORM_DYNAMIC_QUANT_V2",
    "ADD_RMS_NORM_QUANT",
    "ADD_RMS_NORM_QUANT_V2",
]

_QUANTIZED = "T=f16 S=f32 Z=i32 | T=bf16 S=bf16 Z=bf16 | T=bf16 S=f32 Z=i32"
_ON_950 = f"{_QUANTIZED} | T=f32,f16,bf16 S=f32 Z=f32 | T=f16 S=f16 Z=f16"
_FLOAT8 = "e5m2,e4m3"


def _to(rows: str, kinds: str) -> str:
    """Return rows of types with results of some types."""
    return " | ".join(f"{row} Y={kinds}" for row in rows.split(" | "))


_TYPES = {
    "910b 910_93": _to(_QUANTIZED, "i8"),
    "950": _to(_ON_950, f"i8,{_FLOAT8}"),
    "310p": _to("T=f16 S=f32 Z=i32", "i8"),
}
_ACCEPTED = {"950": _to(_ON_950, f"i8,HIFLOAT8,{_FLOAT8}")}
_FLOATS, _HALVES = ("f32", "f16", "bf16"), ("f16", "bf16")
_SCALES = ("scales1", "scales2Optional", "zeroPoints1Optional", "zeroPoints2Optional")
_ROWS_AND_SCALES = ("x1", "x2", "gamma", "smoothScale1Optional", "smoothScale2Optional")
_DYNAMIC_OUTPUTS = ("y1Out", "y2Out", "xOut", "scale1Out", "scale2Out")

_INTEGERS = {
    "y1Out": output("Y rows* norm*", "The result, quantized"),
    "y2Out": output(
        "Y rows* norm*",
        "The result, quantized by ``scales2``",
        when=lambda values: values["scales2"] is not None,
        placeholder=True,
    ),
}
_SUMMED_ROWS = {
    "x1": input("T rows* D", SUMMED["x1"].doc),
    "x2": input("T rows* D", SUMMED["x2"].doc),
    "gamma": input("T D", "The scale of the norm"),
    "smoothScale1Optional": input("T D", "The factor of ``y1``; ones if None", optional=True),
}


def _scale_of_zero_point(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if values["zero_points2"] is None or values["scales2"] is not None:
        return None
    return "zero_points2", "an array", "None, because there is no 'scales2'"


ADD_RMS_NORM_QUANT = describe(
    "aclnnAddRmsNormQuant",
    Build.INDIVIDUAL,
    "Add two tensors, normalize the sum as ``rms_norm`` does, and quantize the result: "
    "``y = round(x * rstd * gamma / scales + zero_points)``, halves to even, within int8.",
    types=_TYPES,
    accepted_types=_ACCEPTED,
    parameters={
        **SUMMED,
        "scales1": input("S norm*", "The divisor or factor of ``y1``", positive=True),
        "scales2Optional": input(
            "S norm*",
            "The same for ``y2``, which there is only with it",
            optional=True,
            positive=True,
        ),
        "zeroPoints1Optional": input(
            "Z norm*", "The offset to add to ``y1`` before rounding", optional=True
        ),
        "zeroPoints2Optional": input("Z norm*", "The same for ``y2``", optional=True),
        "axis": integer(derived=lambda _: -1),
        "epsilon": real(1e-6, "Added to the mean square", least=0),
        "divMode": flag(
            True,
            "True if scales divide; else they multiply, for which CANN's documents name Ascend 950 "
            "alone, though the kernels of others do it too",
        ),
        **_INTEGERS,
        "xOut": output("T rows* norm*", "The sum"),
    },
    constraint=_scale_of_zero_point,
    nonempty="norm",
    source="CANN: ops-nn norm/add_rms_norm_quant",
    later={
        "9.1": {
            "build": Build.COMPOSITE,
            "checks": (
                required(),
                # CANN holds each tensor against a list and compares none with another; the rest is
                # left to the kernel.
                dtypes("x1", "x2", "gamma", "scales1", "scales2Optional", "xOut", among=_FLOATS),
                dtypes("zeroPoints1Optional", "zeroPoints2Optional", among=("i32", *_FLOATS)),
                dtypes("y1Out", "y2Out", among=dynamic.NARROW),
                same_dtype("y1Out", "y2Out"),
                rank("x1", "x2", "gamma", *_SCALES, "xOut", "y1Out", "y2Out", least=1, most=8),
                empty("x1", "gamma", "y2Out"),
                in_graph(shape("y1Out", "y2Out", "xOut")),
                at_launch(dtypes(), shape("x2", "gamma", *_SCALES)),
            ),
            "constraint": None,
        }
    },
    shows="[ 7  8  9 10 11 12]",
)

ADD_RMS_NORM_QUANT_V2 = describe(
    "aclnnAddRmsNormQuantV2",
    Build.COMPOSITE,
    "Add two tensors, normalize the sum as ``rms_norm`` does, shift, and quantize the result: "
    "``y = round((x * rstd * gamma + beta) / scales + zero_points)``, halves to even, within int8.",
    types=_TYPES,
    accepted_types=_ACCEPTED,
    parameters={
        **SUMMED,
        "scales1": input("S norm* | 1", "The divisor or factor of ``y1``", positive=True),
        "scales2Optional": input(
            "S norm* | 1",
            "The same for ``y2``, which there is only with it",
            optional=True,
            positive=True,
        ),
        "zeroPoints1Optional": input(
            "Z norm* | 1",
            "The offset to add to ``y1`` before rounding; zeros if None",
            optional=True,
        ),
        "zeroPoints2Optional": input("Z norm* | 1", "The same for ``y2``", optional=True),
        "betaOptional": input("T norm*", "The shift; zeros if None", optional=True),
        "axis": integer(derived=lambda _: -1),
        "epsilon": real(1e-6, "Added to the mean square", least=0, unchecked=True),
        "divMode": flag(True, "True if scales divide; else they multiply"),
        **_INTEGERS,
        "xOut": output("T rows* norm*", "The sum", optional=True),
        "rmsNormOut": output(
            "T rows* norm*",
            "``x * rstd * gamma``, where ``out`` has an array for it: Ascend 950 has it beside "
            "``x``",
            optional=True,
            on_request=True,
        ),
    },
    checks=(
        required(),
        empty("x1", "gamma", "y2Out"),
        rule(quirks.wrong_null, Code.NULL),
        rank("x1", "x2", "gamma", "y1Out", "y2Out", "xOut", most=8),
        shape("gamma", "x2", "y1Out", "y2Out", "xOut", "rmsNormOut"),
        each(quirks.wrong_scale, *_SCALES),
        shape("betaOptional"),
        rule(quirks.too_few),
        dtypes(),
    ),
    nonempty="norm",
    hooks=Hooks(squeezed=quirks.squeezed),
    result_type="AddRmsNormQuantV2Result",
    source="CANN: ops-nn norm/add_rms_norm_quant_v2",
    shows="[17 18 19 20 21 22]",
)


def _integers(values: Mapping[str, Any]) -> Dims:
    """The second result, or the one element that stands for it."""
    return (*values["rows"], *values["D"]) if dynamic.wants_second(values) else (1,)


def _steps(values: Mapping[str, Any]) -> Dims:
    return tuple(values["rows"]) if dynamic.wants_second(values) else (1,)


def _wrong_smoothing(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    chosen = values.get("output_mask")
    smooth = [values[name] is not None for name in ("smooth_scale1", "smooth_scale2")]
    if chosen is None:
        if smooth == [False, True]:
            return "smooth_scale2", "an array", "None, because there is no 'smooth_scale1'"
        return None
    if len(chosen) != len(smooth):
        return "output_mask", f"of {len(chosen)} elements", "of two"
    if not any(chosen):
        return "output_mask", str(tuple(chosen)), "true of one result at least"
    for number, (is_there, wanted) in enumerate(zip(smooth, chosen, strict=True), 1):
        if is_there and not wanted:
            return f"smooth_scale{number}", "an array", "None, because 'output_mask' leaves it out"
    return None


def _wrong_placeholder(request: Request) -> str | None:
    """Require one element of the tensors that stand for a second output: they are copied too."""
    if dynamic.wants_second(request.values):
        return None
    for name in ("y2", "scale2"):
        dims = request.tensors[name].dims
        if request.tensors[name].size != 1:
            has = shape_text(dims)
            return f"{request.c_name(name)} has shape {has}; without both scales it must be [1]"
    return None


_DYNAMIC = {"910b 910_93": "T=f16,bf16 Y=i8", "950": f"T=f16,bf16 Y=i8,{_FLOAT8}"}
ADD_RMS_NORM_DYNAMIC_QUANT = describe(
    "aclnnAddRmsNormDynamicQuant",
    Build.INDIVIDUAL,
    "Add two tensors, normalize the sum as ``rms_norm`` does over the last axis, and quantize each "
    "row by its largest magnitude: ``v = x * rstd * gamma * smooth_scale``, "
    "``factor = 127 / max(abs(v))``, ``y = round(v * factor)``, halves to even, "
    "``scale = 1 / factor``.",
    types=_DYNAMIC,
    accepted_types={"950": f"T=f16,bf16 Y=i8,HIFLOAT8,{_FLOAT8}"},
    parameters={
        **_SUMMED_ROWS,
        "smoothScale2Optional": input(
            "T D", "The same for ``y2``, which there is only with both of them", optional=True
        ),
        "epsilon": real(1e-6, "Added to the mean square", least=0),
        "y1Out": output("Y rows* D", "The result, quantized"),
        "y2Out": output(
            "Y",
            "The result, quantized with ``smooth_scale2``",
            when=dynamic.wants_second,
            placeholder=True,
            infer=_integers,
        ),
        "xOut": output("T rows* D", "The sum"),
        "scale1Out": output("f32 rows*", "The quantization scale of ``y1``, one for each row"),
        "scale2Out": output(
            "f32",
            "The same of ``y2``",
            when=dynamic.wants_second,
            placeholder=True,
            infer=_steps,
        ),
    },
    constraint=_wrong_smoothing,
    source="CANN: ops-nn norm/add_rms_norm_dynamic_quant",
    later={
        "9.1": {
            "build": Build.COMPOSITE,
            "checks": (
                required(),
                # CANN holds each tensor against a list; joint types are left to the kernel.
                dtypes(*_ROWS_AND_SCALES, among=_HALVES),
                dtypes("y1Out", "y2Out", among=dynamic.NARROW),
                dtypes("xOut", among=_HALVES),
                dtypes("scale1Out", "scale2Out", among=("f32",)),
                same_dtype("y2Out", "y1Out"),
                in_tiling(
                    rank(*_ROWS_AND_SCALES, *_DYNAMIC_OUTPUTS, most=8), shape(*_ROWS_AND_SCALES)
                ),
                empty("x1", "gamma", "y2Out"),
                in_graph(shape(*_DYNAMIC_OUTPUTS)),
                at_launch(dtypes()),
                launch(rule(_wrong_placeholder)),
            ),
            "constraint": None,
        }
    },
    shows="[ 74  85  95 106 116 127]",
)

ADD_RMS_NORM_DYNAMIC_QUANT_V2 = describe(
    "aclnnAddRmsNormDynamicQuantV2",
    Build.COMPOSITE,
    "Add two tensors, normalize the sum as ``rms_norm`` does over the last axis, shift, and "
    "quantize each row by its largest magnitude: ``v = (x * rstd * gamma + beta) * smooth_scale``, "
    "``factor = 127 / max(abs(v))``, ``y = round(v * factor)``, halves to even, "
    "``scale = 1 / factor``. An ``out`` of int32 holds eight integers of 4 bits an element, the "
    "first one lowest, with 7 for 127.",
    types={"910b 910_93": "T=f16,bf16 Y=i8,i32", "950": f"T=f16,bf16 Y=i8,i32,{_FLOAT8}"},
    parameters={
        **_SUMMED_ROWS,
        "smoothScale2Optional": input("T D", "The same for ``y2``", optional=True),
        "betaOptional": input("T D", "The shift of the norm; zeros if None", optional=True),
        "epsilon": real(1e-6, "Added to the mean square", least=0, unchecked=True),
        "outputMask": mask(
            "y1Out y2Out",
            "Which of the two to compute; None: the first, and with both smooth scales the second",
            default=None,
            null=True,
        ),
        "y1Out": output(
            "Y rows* D", "The result, quantized", when=dynamic.wants_first, packed="i32"
        ),
        "y2Out": output(
            "Y",
            "The result, quantized with ``smooth_scale2``",
            when=dynamic.wants_second,
            placeholder=True,
            infer=_integers,
            packed="i32",
        ),
        "xOut": output("T rows* D", "The sum"),
        "scale1Out": output(
            "f32 rows*",
            "The quantization scale of ``y1``, one for each row",
            when=dynamic.wants_first,
        ),
        "scale2Out": output("f32", "The same of ``y2``", when=dynamic.wants_second, infer=_steps),
    },
    checks=(
        constraint(),
        required(),
        empty("x1", "x2", "gamma"),
        rule(dynamic.wrong_outputs),
        in_tiling(shapes()),
        launch(),
        at_launch(rule(dynamic.no_kernel, Code.GRAPH)),
    ),
    constraint=_wrong_smoothing,
    result_type="AddRmsNormDynamicQuantV2Result",
    source="CANN: ops-nn norm/add_rms_norm_dynamic_quant",
    shows="[ 98 104 109 115 121 127]",
)
