# SPDX-License-Identifier: Apache-2.0
"""What aclnnRmsNorm does beyond any rule (CANN: ops-nn norm/rms_norm)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["FITS"]


def _rstd(request: Request) -> str | None:
    """Each of its dimensions is that of x, or 1; how many there are, nobody looks at."""
    x = request.tensors["x"].dims
    for axis, dim in enumerate(request.tensors["rstd"].dims):
        allowed = {1, x[axis]} if axis < len(x) else {1}
        if dim not in allowed or dim == 0:
            return (
                f"rstdOut has {dim} elements in dimension {axis}; it must have "
                f"{' or '.join(map(str, sorted(allowed)))}"
            )
    return None


FITS = {"rstd": _rstd}
