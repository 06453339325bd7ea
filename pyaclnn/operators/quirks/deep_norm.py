# SPDX-License-Identifier: Apache-2.0
"""What aclnnDeepNorm does beyond any rule (CANN: ops-nn norm/deep_norm)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.operators.request import Request

__all__ = ["FITS"]


def _statistic(c_name: str, name: str, request: Request) -> str | None:
    """Compare the leading dimensions; only the 950 looks at the ones behind them."""
    dims, known = request.tensors[name].dims, request.known
    lead = (*known["row"], *known["rows"])
    expected = (*lead, *(1 for _ in known["norm"]))
    many = len(dims) if request.chip.family == "950" else len(lead)
    if dims[:many] == expected[:many] and 0 not in dims:
        return None
    return f"{c_name} has shape {shape_text(dims)}; it must have {shape_text(expected)}"


FITS = {
    "meanOut": lambda request: _statistic("meanOut", "mean", request),
    "rstdOut": lambda request: _statistic("rstdOut", "rstd", request),
}
