# SPDX-License-Identifier: Apache-2.0
"""Checks of the two kernels of aclnnAddRmsNormQuantV2 (CANN: ops-nn norm/add_rms_norm_quant_v2).

The 950 has the newer one; others use it for one scale to a tensor alone, and
the older one, that of aclnnAddRmsNormQuant, for everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["squeezed", "too_few", "wrong_null", "wrong_scale"]

_ONE = (1,)
_FEWEST_ON_310P = 32
_LIKE_GAMMA = ("scales1", "scales2", "zero_points1", "zero_points2", "beta")


def _is_newer(request: Request) -> bool:
    """Return whether the newer kernel is chosen."""
    if request.chip.family == "950":
        return True
    given = request.tensors
    if given["scales2"] or given["zero_points2"] or not request.values["div_mode"]:
        return False
    if any(given[name] is None or given[name].dims != _ONE for name in ("scales1", "zero_points1")):
        return False
    last, gamma = given["x1"].dims[-1:], given["gamma"].dims
    shifted = given["beta"] is not None
    if gamma not in (last, _ONE + last) or (given["gamma"].size == 1 and not shifted):
        return False
    return (given["x"] is not None) == shifted and (given["rms_norm"] is None) == shifted


def squeezed(request: Request) -> list[str]:
    """Let the newer kernel take [1, H] for (H,)."""
    x1, gamma = request.tensors["x1"], request.tensors["gamma"]
    if x1 is None or gamma is None or gamma.dims != _ONE + x1.dims[-1:] or not _is_newer(request):
        return []
    alike = {name: request.tensors[name] for name in _LIKE_GAMMA}
    return ["gamma", *(n for n, given in alike.items() if given and given.dims == gamma.dims)]


def wrong_null(request: Request) -> str | None:
    """Require the outputs of the older kernel: it writes the sum, and not the norm."""
    if _is_newer(request):
        return None
    if request.tensors["x"] is None:
        return "xOut is NULL; it must point to an existing object, as there is no rmsNormOut"
    if request.tensors["rms_norm"] is not None:
        return "rmsNormOut must be NULL here: this kernel does not give it"
    return None


def wrong_scale(request: Request, name: str) -> str | None:
    """Require the shape of gamma; the newer kernel takes one number for all of a row, too."""
    dims, gamma = request.tensors[name].dims, request.tensors["gamma"].dims
    if dims == gamma or (dims == _ONE and _is_newer(request)):
        return None
    has, must = shape_text(dims), shape_text(gamma)
    return f"{request.c_name(name)} has shape {has}; it must be {must}, that of gamma"


def too_few(request: Request) -> str | None:
    """Require rows that fill a block on the 310P."""
    size = request.tensors["gamma"].size
    if request.chip.family != "310p" or size >= _FEWEST_ON_310P:
        return None
    return f"gamma has {size} elements; it must have at least {_FEWEST_ON_310P}"
