# SPDX-License-Identifier: Apache-2.0
"""Statistics of aclnnLayerNorm: their shapes and types (CANN: ops-nn norm/layer_norm_v4)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["kernel_types", "wrong_statistics"]

# Row lengths for which the fused kernel LayerNormV4 was tuned, by family: data type and lengths.
_V4_TUNED = {
    "910b": ("bf16", (1024, 4096)),
    "910_93": ("bf16", (1024, 4096)),
    "310p": ("f16", (20, 40)),
}
_ATLAS_A2_A3 = ("910b", "910_93")
_SHORT_ROW = 64
_IN_BLOCK = {"f32": 8, "f16": 16, "bf16": 16}


def wrong_statistics(request: Request) -> str | None:
    """Require one number a row with ones behind on the 950; other chips do not compare shapes."""
    if request.chip.family != "950":
        return None
    expected = (*request.known["rows"], *(1 for _ in request.known["norm"]))
    given = {name: request.tensors[name] for name in ("mean", "rstd")}
    for name, tensor in given.items():
        if tensor is not None and tensor.size != 0 and tensor.dims != expected:
            return (
                f"{name}OutOptional has shape {shape_text(tensor.dims)}; on "
                f"{request.chip.soc_name} it must be {shape_text(expected)}"
            )
    mean, rstd = given.values()
    if mean is not None and rstd is not None and mean.dims != rstd.dims:
        return (
            f"rstdOutOptional has shape {shape_text(rstd.dims)}; it must be "
            f"{shape_text(mean.dims)}, that of meanOutOptional"
        )
    return None


def kernel_types(request: Request) -> dict[str, str]:
    """Return the type of the statistics: LayerNormV3 has the weight's, LayerNormV4 float32."""
    kind = "f32" if _computes_in_v4(request) else _weight_type(request)
    return {"mean": kind, "rstd": kind}


def _weight_type(request: Request) -> str:
    """Return the type of the weight, or of the ones that stand in for it."""
    given = (request.tensors[name] for name in ("weight", "bias", "input"))
    return str(next(tensor.type for tensor in given if tensor is not None))


def _computes_in_v4(request: Request) -> bool:
    family, kind = request.chip.family, request.tensors["input"].type
    columns = prod(request.known["norm"])
    if family == "950":
        return True
    tuned_type, tuned_columns = _V4_TUNED.get(family, ("", ()))
    if kind == tuned_type and columns in tuned_columns:
        # On Atlas A2 and A3 the weight must have the type as well.
        return family not in _ATLAS_A2_A3 or _weight_type(request) == tuned_type
    return family in _ATLAS_A2_A3 and columns < _SHORT_ROW and columns % _IN_BLOCK[kind] != 0
