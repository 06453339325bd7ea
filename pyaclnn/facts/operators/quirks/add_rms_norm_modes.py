# SPDX-License-Identifier: Apache-2.0
"""What the hand-written aclnnAddRmsNorm does beyond any rule (CANN: ops-nn norm/add_rms_norm).

Without rstdOut it has another kernel, without xOut as well a third one. Their gamma is [1, H].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.quirks.add_rms_norm import scratch
from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["breaks", "drops", "nulls", "refuse", "scratch"]

_NARROW = {"310p": ("f16",)}
_USUAL = ("f16", "bf16")
_MOST_AXES = 2


def _gives_rstd(request: Request) -> bool:
    return request.tensors["rstd"] is not None


def drops(request: Request) -> list[str]:
    """The other kernels take [1, H] for (H,)."""
    x1, gamma = request.tensors["x1"], request.tensors["gamma"]
    if x1 is None or gamma is None or _gives_rstd(request):
        return []
    return ["gamma"] if gamma.dims == (1, *x1.dims[-1:]) else []


def nulls(request: Request) -> str | None:
    """There is no kernel that gives rstd and not the sum."""
    if _gives_rstd(request) and request.tensors["x"] is None:
        return "xOut is NULL; it must point to an existing object, as rstdOut is there"
    return None


def refuse(request: Request) -> str | None:
    """What the other kernels do not take, and a tensor without axes."""
    kind, gamma = request.types["x1"], request.tensors["gamma"].dims
    if not _gives_rstd(request):
        kinds = _NARROW.get(request.chip.family, _USUAL)
        if kind not in kinds:
            return f"x1 has data type {kind}; without rstdOut it must be {' or '.join(kinds)}"
        if len(gamma) > _MOST_AXES:
            return f"gamma has {len(gamma)} dimensions; without rstdOut it must have at most 2"
    for name in ("x1", "x2", "gamma"):
        if not request.tensors[name].dims:
            return f"{name} has no dimensions; it must have 1 to 8"
    return None


def breaks(request: Request) -> str | None:
    """The tiling of the other kernels compares gamma."""
    if _gives_rstd(request) or "gamma" in request.dropped:
        return None
    last = request.tensors["x1"].dims[-1:]
    gamma = shape_text(request.tensors["gamma"].dims)
    return f"gamma has shape {gamma}; without rstdOut it must be {shape_text((1, *last))}"
