# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization that gives integers, and the gradient of it that does."""

from __future__ import annotations

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, given, integer, real, result, string

__all__ = [
    "RMS_NORM_DYNAMIC_QUANT",
    "RMS_NORM_GRAD_QUANT",
    "RMS_NORM_QUANT",
    "RMS_NORM_QUANT_V3",
]

_ROUNDED = (
    "halves to even, within int8. An ``out`` of int32 holds eight integers of 4 bits an element, "
    "the first one lowest"
)
# On the 950 the scale is float32 with an offset of float32 or int32, or it has the input's type.
_ON_950 = "T=f32 S=f32 Z=f32 Y=i8,i32 | " + " | ".join(
    f"T={kind} S=f32 Z=f32,i32 Y=i8,i32 | T={kind} S={kind} Z={kind},i8 Y=i8,i32"
    for kind in ("f16", "bf16")
)
_INT8_TYPE = 2

RMS_NORM_QUANT = describe(
    "aclnnRmsNormQuant",
    Build.COMPOSITE,
    "Normalize over the last axis as ``rms_norm`` does, shift, and quantize by one scale: "
    f"``y = round((x * rstd * gamma + beta) / scale + offset)``, {_ROUNDED}.",
    types={
        "910b 910_93": "T=f16 S=f16 Z=i8 Y=i8,i32 | T=bf16 S=bf16 Z=i8 Y=i8,i32",
        "950": _ON_950,
        "310p 310b": "T=f16 S=f16 Z=i8 Y=i8",
    },
    x=given("T rows* H", "What is normalized"),
    gamma=given("T H | 1 H", "The scale of the norm"),
    beta=given("T H | 1 H", "The shift of the norm"),
    scale=given("S 1", "What the result is divided by", positive=True, loose="shape"),
    offset=given("Z 1", "What is added before rounding", loose="shape"),
    epsilon=real(1e-6, "Added to the mean square", least=0, loose=True),
    y=result("Y rows* H", "The result, quantized", packed="i32"),
    about={
        "order": "nds",
        "compared": "x^ y^ scale gamma y beta offset",
        "source": "CANN: ops-nn norm/rms_norm_quant",
    },
)

RMS_NORM_QUANT_V3 = describe(
    "aclnnRmsNormQuantV3",
    Build.COMPOSITE,
    "Normalize over the last axis as ``rms_norm`` does, shift, and quantize by one scale: "
    "``v = x * rstd * gamma + beta``, ``y = round(v / scale + offset)``, or ``v * scale``, "
    f"{_ROUNDED}.",
    types={"950": _ON_950},
    x=given("T rows* H", "What is normalized", loose="late"),
    gamma=given("T H | 1 H", "The scale of the norm", loose="late"),
    scale=given("S 1", "What the result is divided or multiplied by", positive=True, loose="late"),
    offset=given("Z 1", "What is added before rounding; 0 if None", optional=True, loose="late"),
    beta=given("T H | 1 H", "The shift of the norm; zeros if None", optional=True, loose="late"),
    epsilon=real(1e-6, "Added to the mean square", least=0, loose=True),
    divMode=flag(True, "Whether the scale divides; else it multiplies"),
    outputRstd=flag(False, "Whether to return ``rstd``", sample=lambda _: True),
    y=result("Y rows* H", "The result, quantized", packed="i32", loose="late"),
    rstd=result(
        "f32 rows* 1",
        "``1 / sqrt(mean(x ** 2) + epsilon)``",
        when=lambda values: values["output_rstd"],
        loose="late",
    ),
    about={
        "order": "nrSD",
        "source": "CANN: ops-nn norm/rms_norm_quant_v2",
    },
)

RMS_NORM_DYNAMIC_QUANT = describe(
    "aclnnRmsNormDynamicQuant",
    Build.INDIVIDUAL,
    "Normalize over the last axis as ``rms_norm`` does, shift, and quantize each row by its "
    "largest magnitude: ``v = (x * rstd * gamma + beta) * smooth_scales``, "
    "``factor = 127 / max(abs(v))``, ``y = round(v * factor)``, halves to even, "
    "``scale = 1 / factor``.",
    types={"910b 910_93": "T=f16,bf16"},
    x=given("T rows* D H", "What is normalized"),
    gamma=given("T H", "The scale of the norm"),
    smoothScalesOptional=given(
        "T H", "What is multiplied by before it is quantized; ones if None", optional=True
    ),
    betaOptional=given("T H", "The shift of the norm; zeros if None", optional=True),
    epsilon=real(1e-6, "Added to the mean square", above=0),
    dstType=integer(derived=lambda _: _INT8_TYPE),
    yOut=result("i8 rows* D H", "The result, quantized"),
    scaleOut=result("f32 rows* D", "What one step of ``y`` is worth in each row"),
    about={
        "compared": (
            "x^ gamma^ yOut# scaleOut# x gamma smoothScalesOptional betaOptional yOut scaleOut "
            "dstType"
        ),
        "source": "CANN: ops-nn norm/rms_norm_dynamic_quant",
    },
)

RMS_NORM_GRAD_QUANT = describe(
    "aclnnRmsNormGradQuant",
    Build.COMPOSITE,
    "Compute the gradients of ``rms_norm`` and quantize that of ``x`` by one scale: "
    "``dx = round(dx / scales_x + offset_x)``, or ``dx * scales_x``, halves to even, within int8.",
    types={"950": "T=f32 G=f32 | T=f16 G=f32,f16 | T=bf16 G=f32,bf16"},
    dy=given("T rows* norm*", "The gradient of ``y``", loose="late"),
    x=given("T rows* norm*", "What ``rms_norm`` was given", loose="late"),
    rstd=given(
        "f32 rows~",
        "What ``rms_norm`` returned: one element for each row",
        made_by=("rms_norm", "rstd"),
        loose="late",
    ),
    gamma=given("G norm*", "The scale, whose axes are those that were normalized", loose="late"),
    scalesX=given("f32 1", "What ``dx`` is divided or multiplied by", positive=True, loose="late"),
    offsetXOptional=given(
        "f32/i32 1", "What is added before rounding; 0 if None", optional=True, loose="late"
    ),
    quantMode=string(derived=lambda _: "static"),
    divMode=flag(True, "Whether the scale divides; else it multiplies"),
    dxOut=result("i8 rows* norm*", "The gradient of ``x``, quantized", loose="late"),
    dgammaOut=result("f32 norm*", "The gradient of ``gamma``", loose="late"),
    about={
        "order": "neSD",
        "idle_without": "gamma",
        "filled": "norm",
        "result_type": "RmsNormGradQuantResult",
        "source": "CANN: ops-nn norm/rms_norm_grad_quant",
    },
)
