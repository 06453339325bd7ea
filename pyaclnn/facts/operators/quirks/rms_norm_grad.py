# SPDX-License-Identifier: Apache-2.0
"""Checks of aclnnRmsNormGrad, and its workspace (CANN: ops-nn norm/rms_norm_grad)."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import Hooks, shape_text
from pyaclnn.facts.operators.workspace import FLOAT_BYTES, block_align

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["HOOKS", "wrong_counts", "wrong_rstd"]

# The kernel of the first-generation 910 works on whole blocks of 64 elements of gamma.
_GAMMA_MULTIPLE = {"910": 64}
_UINT32 = 0xFFFF_FFFF


def _takes_empty(request: Request) -> bool:
    """Return whether tensors have columns, and no rows only on the 950, which takes that."""
    dims = request.tensors["dy"].dims
    return request.chip.family == "950" and bool(dims) and dims[-1] != 0


def _fills(request: Request) -> dict[str, float]:
    """Return NaN for a call without rows, which only the 950 takes."""
    return {} if request.tensors["x"].size else {"dgamma": nan}


def wrong_rstd(request: Request, _name: str) -> str | None:
    """Compare the leading dimensions; those of x that rstd lacks must be 1."""
    rstd, x = request.tensors["rstd"].dims, request.tensors["x"].dims
    for axis, expected in enumerate(request.known["rows"]):
        if axis >= len(rstd) and expected != 1:
            return (
                f"rstd has {len(rstd)} dimensions and x has {expected} elements in dimension "
                f"{axis}; where rstd has no dimension x must have 1"
            )
        if axis < len(rstd) and rstd[axis] != expected:
            return f"rstd has {rstd[axis]} elements in dimension {axis}; x has {x[axis]}"
    return None


def wrong_counts(request: Request) -> str | None:
    """Compare numbers of elements, which CANN counts in 32 bits."""
    chip, rstd = request.chip, request.tensors["rstd"]
    rows = prod(request.known["rows"]) & _UINT32
    columns = prod(request.known["norm"]) & _UINT32
    if rstd.size & _UINT32 != rows:
        return f"rstd has {rstd.size} elements; it must have one for each of {rows} rows"
    multiple = _GAMMA_MULTIPLE.get(chip.family, 1)
    if columns % multiple != 0:
        return (
            f"gamma has {columns} elements; on {chip.soc_name} it must have a multiple of "
            f"{multiple}"
        )
    if rows == 0 and not _takes_empty(request):
        shape = shape_text(request.tensors["x"].dims)
        return f"x has no rows, shape {shape}; on {chip.soc_name} it must have some"
    return None


def _scratch(request: Request) -> int:
    """Return the bytes of eight float32 numbers a block; of a padded row more if deterministic.

    A block is a core that has rows to work on (rms_norm_grad_tiling).
    """
    blocks = min(max(prod(request.known["rows"]), 1), request.chip.kernel_cores)
    row = block_align(prod(request.known["norm"])) if request.deterministic else 0
    return (8 + row) * blocks * FLOAT_BYTES


HOOKS = Hooks(takes_empty=_takes_empty, fills=_fills, scratch=_scratch)
