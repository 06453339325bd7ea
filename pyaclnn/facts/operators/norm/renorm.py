# SPDX-License-Identifier: Apache-2.0
"""Vectors that are shortened to a largest norm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    constraint,
    dtypes,
    empty,
    options,
    public_formats,
    required,
    same_format,
    shapes,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import inout, input, integer, output, real, scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EMBEDDING_RENORM", "INPLACE_RENORM", "RENORM"]

_FULL, _NARROW = "T=f32,f16,bf16", "T=f32,f16"
_TYPES = {"910b 910_93 950": _FULL, "910": _NARROW}
_PICKED = {"910b 910_93 950": f"{_FULL} I=i32,i64", "910": f"{_NARROW} I=i32,i64"}
_SHAPE = "T first second more*"


def _no_axis(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    (axis,) = values["dim"] if isinstance(values["dim"], tuple) else (values["dim"],)
    rank = 2 + len(values["more"])
    if -rank <= axis < rank:
        return None
    return "dim", str(axis), f"an axis from {-rank} to {rank - 1}"


_OPTIONS = {
    "p": scalar(doc="The order of the norm; it may be infinite", least=0, sample=lambda _: 2.0),
    "dim": integer(doc="The axis whose indices count the slices", sample=lambda _: 0),
    "maxNorm": scalar(doc="The largest norm", name="maxnorm", least=0, sample=lambda _: 4.0),
}
_CHECKS = (required(), dtypes(), same_format(), shapes(), options(), constraint(), empty())
_SOURCE = "CANN: ops-nn norm/renorm"

RENORM = describe(
    "aclnnRenorm",
    Build.COMPOSITE,
    "Shorten each slice along an axis to a largest norm: one with a p-norm above ``maxnorm`` is "
    "multiplied by ``maxnorm / (norm + 1e-7)``, the others stay. A slice is what has one index on "
    "that axis.",
    types={**_TYPES, "310p 310b": _NARROW},
    later={"9.1": {"types": _TYPES}},
    torch="torch.renorm: input p dim maxnorm",
    parameters={
        "self": input(_SHAPE, "The array to shorten", name="input"),
        **_OPTIONS,
        "out": output(_SHAPE, "The shortened slices"),
    },
    checks=_CHECKS,
    constraint=_no_axis,
    source=_SOURCE,
    shows="[1.13 1.32 1.51 1.7  1.88 2.07]",
)

INPLACE_RENORM = describe(
    "aclnnInplaceRenorm",
    Build.COMPOSITE,
    "Shorten each slice along an axis to a largest norm, as ``renorm`` does, in place.",
    types={**_TYPES, "310p 310b": _NARROW},
    later={"9.1": {"types": _TYPES}},
    parameters={
        "selfRef": inout(_SHAPE, "The array to shorten", name="input"),
        **_OPTIONS,
    },
    checks=_CHECKS,
    constraint=_no_axis,
    source=_SOURCE,
    shows="[1.13 1.32 1.51 1.7  1.88 2.07]",
)

EMBEDDING_RENORM = describe(
    "aclnnEmbeddingRenorm",
    Build.COMPOSITE,
    "Shorten rows of a table to a largest norm, in place, as ``renorm`` does. A row that is named "
    "twice is shortened once. CANN does not look at the indices.",
    types={**_PICKED, "310p 310b": f"{_NARROW} I=i32,i64"},
    later={"9.1": {"types": _PICKED}},
    torch="torch.embedding_renorm_: weight=input indices max_norm norm_type",
    parameters={
        "selfRef": inout("T rows columns", "The table", name="input"),
        "indices": input(
            "I picked*", "Which rows, each at least 0 and below their number", indexes="rows"
        ),
        "maxNorm": real(doc="The largest norm", least=0, unchecked=True, sample=lambda _: 4.0),
        "normType": real(2.0, "The order of the norm", least=0, unchecked=True),
    },
    checks=(required(), dtypes(), shapes(), public_formats(), empty("selfRef", "indices")),
    source="CANN: ops-nn norm/embedding_renorm",
    shows="[1.13 1.32 1.51 1.7  1.88 2.07]",
)
