# SPDX-License-Identifier: Apache-2.0
"""Vectors that are shortened to a largest norm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import given, integer, real, result, scalar, updated

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EMBEDDING_RENORM", "INPLACE_RENORM", "RENORM"]

_FULL, _NARROW = "T=f32,f16,bf16", "T=f32,f16"
_SHAPE = "T first second more*"


def _no_axis(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    (axis,) = values["dim"] if isinstance(values["dim"], tuple) else (values["dim"],)
    rank = 2 + len(values["more"])
    if -rank <= axis < rank:
        return None
    return "dim", str(axis), f"an axis from {-rank} to {rank - 1}"


_OPTIONS = {
    "p": scalar(says="The order of the norm; it may be infinite", least=0, sample=lambda _: 2.0),
    "dim": integer(says="The axis whose indices count the slices", sample=lambda _: 0),
    "maxNorm": scalar(says="The largest norm", name="maxnorm", least=0, sample=lambda _: 4.0),
}
_ABOUT = {
    "order": "ndqsare",
    "refuse": _no_axis,
    "source": "CANN: ops-nn norm/renorm",
}

RENORM = describe(
    "aclnnRenorm",
    Build.COMPOSITE,
    "Shorten each slice along an axis to a largest norm: one with a p-norm above ``maxnorm`` is "
    "multiplied by ``maxnorm / (norm + 1e-7)``, the others stay. A slice is what has one index on "
    "that axis.",
    types={"910b 910_93 950": _FULL, "910": _NARROW},
    self=given(_SHAPE, "What is shortened", name="input"),
    **_OPTIONS,
    out=result(_SHAPE, "The shortened slices"),
    about=_ABOUT,
)

INPLACE_RENORM = describe(
    "aclnnInplaceRenorm",
    Build.COMPOSITE,
    "Shorten each slice along an axis to a largest norm, as ``renorm`` does, in place.",
    types={"910b 910_93 950": _FULL, "910": _NARROW},
    selfRef=updated(_SHAPE, "What is shortened", name="input"),
    **_OPTIONS,
    about=_ABOUT,
)

EMBEDDING_RENORM = describe(
    "aclnnEmbeddingRenorm",
    Build.COMPOSITE,
    "Shorten rows of a table to a largest norm, in place, as ``renorm`` does. A row that is named "
    "twice is shortened once. CANN does not look at the indices.",
    types={"910b 910_93 950": f"{_FULL} I=i32,i64", "910": f"{_NARROW} I=i32,i64"},
    selfRef=updated("T rows columns", "The table", name="input"),
    indices=given(
        "I picked*", "Which rows, each at least 0 and below their number", indexes="rows"
    ),
    maxNorm=real(says="The largest norm", least=0, loose=True, sample=lambda _: 4.0),
    normType=real(2.0, "The order of the norm", least=0, loose=True),
    about={
        "order": "ndspe",
        "idle_without": "selfRef indices",
        "source": "CANN: ops-nn norm/embedding_renorm",
    },
)
