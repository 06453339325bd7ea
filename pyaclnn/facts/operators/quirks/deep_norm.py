# SPDX-License-Identifier: Apache-2.0
"""What aclnnDeepNorm does beyond any rule (CANN: ops-nn norm/deep_norm)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["FITS"]


def _statistic(name: str, request: Request) -> str | None:
    """Compare the leading dimensions; only the 950 looks at the ones behind them."""
    dims, known = request.tensors[name].dims, request.known
    lead = (*known["row"], *known["rows"])
    expected = (*lead, *(1 for _ in known["norm"]))
    many = len(dims) if request.chip.family == "950" else len(lead)
    if dims[:many] == expected[:many] and 0 not in dims:
        return None
    has, must = shape_text(dims), shape_text(expected)
    return f"{request.c_name(name)} has shape {has}; it must have {must}"


FITS = {name: partial(_statistic, name) for name in ("mean", "rstd")}
