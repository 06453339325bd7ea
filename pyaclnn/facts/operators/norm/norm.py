# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import at_launch, empty, options, required, rule, shape, shapes
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import axes, dtype, flag, input, output, scalar
from pyaclnn.facts.operators.request import Hooks
from pyaclnn.facts.operators.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request
    from pyaclnn.facts.operators.words import Dims

__all__ = ["FOREACH_NORM", "LINALG_VECTOR_NORM", "NORM"]


def _reduced(values: Mapping[str, Any]) -> Dims:
    shape: Dims = values["shape"]
    over = {axis % max(len(shape), 1) for axis in values["dim"]} or set(range(len(shape)))
    kept = enumerate(shape)
    return tuple(
        1 if axis in over else n for axis, n in kept if values["keepdim"] or axis not in over
    )


_COMPLEX = ("c64", "c128")
_ON_950 = ("f32", "f16", "bf16")
_PAIRS_ON_950 = {("f32", "f32"), ("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("bf16", "bf16")}


def _wrong_types(request: Request) -> str | None:
    """Require the type that was chosen; the rest is up to promotion.

    Types that no kernel has are computed in float32, but on the 950, which takes rows.
    """
    given, out, wanted = request.tensors["input"], request.tensors["out"], request.values["dtype"]
    if out.type != wanted:
        return f"out has data type {out.type}; it must be {wanted}, which dtype says"
    for name, kind in (("self", given.type), ("out", out.type)):
        if kind in _COMPLEX or kind not in TYPES:
            return f"{name} has data type {kind}; it must be real"
    if request.chip.family == "950" and (given.type, out.type) not in _PAIRS_ON_950:
        return (
            f"self has data type {given.type} and out {out.type}; on {request.chip.soc_name} it "
            "must be a 16-bit float with itself or f32, or f32 with f32"
        )
    return None


def _wrong_type(request: Request) -> str | None:
    """Require types of arrays: those without kernels become float32, but not on the 950."""
    for name, c_name in (("input", "self"), ("out", "out")):
        kind = request.tensors[name].type
        if kind not in TYPES:
            return f"{c_name} has data type {kind}; it must be real"
        if request.chip.family == "950" and kind not in _ON_950:
            return f"{c_name} has data type {kind}; it must be one of {', '.join(_ON_950)}"
    return None


def _complex(request: Request) -> str | None:
    """Find a complex tensor: no kernel takes it, and phase 1 off the 950 looks at no type."""
    for name, c_name in (("input", "self"), ("out", "out")):
        kind = request.tensors[name].type
        if kind in _COMPLEX:
            return f"{c_name} has data type {kind}, which no kernel of the norm takes"
    return None


_ON_910 = "T=f32 D=f32 | T=f16 D=f16,f32"
_VECTOR_TYPES = {
    "910b 910_93 950": "T=f32 D=f32 | T=f16 D=f16,f32 | T=bf16 D=bf16,f32",
    "910 310b": _ON_910,
}
LINALG_VECTOR_NORM = describe(
    "aclnnLinalgVectorNorm",
    Build.COMPOSITE,
    "Compute the norm of order ``ord`` of vectors: ``sum(abs(input) ** ord) ** (1 / ord)``; the "
    "number of elements that are not 0 for 0, the largest or smallest magnitude for infinity.",
    types={**_VECTOR_TYPES, "310p": _ON_910},
    later={"9.1": {"types": _VECTOR_TYPES}},
    torch="torch.linalg.vector_norm: x=input ord dim keepdim dtype",
    parameters={
        "self": input("T shape*", "The vectors", name="input"),
        "ord": scalar(2.0, "The order; it may be infinite"),
        "dims": axes(
            None,
            "The axes along which the vectors lie; all of them if None",
            name="dim",
            sample=lambda _: (-1,),
        ),
        "keepDims": flag(False, "True if these axes stay, with length 1", name="keepdim"),
        "dtype": dtype("D", "The dtype of the result; that of ``input`` if None"),
        "out": output("D", "The norms", infer=_reduced, fill=0.0),
    },
    checks=(required(), rule(_wrong_types), options(), shapes(), empty()),
    source="CANN: ops-nn norm/lp_norm_v2",
    shows="[ 7.42 21.24]",
)

NORM = describe(
    "aclnnNorm",
    Build.COMPOSITE,
    "Compute the norm of order ``p`` of vectors, as ``linalg_vector_norm`` does. The result has "
    "the dtype of ``input``, or that of ``out``.",
    types={
        "910b 910_93 950": "T=f32 D=f32,f16,bf16 | T=f16 D=f16,f32,bf16 | T=bf16 D=bf16,f32,f16",
        "310p 910 310b": "T=f32 D=f32,f16 | T=f16 D=f16,f32",
    },
    torch="torch.norm: input p|fro:2.0 dim keepdim out==None dtype==None",
    parameters={
        "self": input("T shape*", "The vectors", name="input"),
        "pScalar": scalar(2.0, "The order; it may be infinite", name="p"),
        "dim": axes(
            None,
            "The axes along which the vectors lie; all of them if None",
            sample=lambda _: (-1,),
        ),
        "keepdim": flag(False, "True if these axes stay, with length 1"),
        "out": output("D", "The norms", infer=_reduced, fill=0.0),
    },
    checks=(
        required(),
        rule(_wrong_type),
        options(),
        shapes(),
        empty(),
        at_launch(rule(_complex)),
    ),
    source="CANN: ops-nn norm/norm",
    shows="[ 7.42 21.24]",
)

FOREACH_NORM = describe(
    "aclnnForeachNorm",
    Build.INDIVIDUAL,
    "Compute the norm of each tensor of a list, of all its elements at once: "
    "``sum(abs(x) ** scalar) ** (1 / scalar)``; the largest magnitude for infinity. The 950 family "
    "has the norms of infinity, of 1 and of what begins with it; every other order is 2 there.",
    types={"910b 910_93 950": "T=f32,f16,bf16"},
    torch="torch._foreach_norm: self=x ord=scalar dtype==None",
    parameters={
        "x": input("T shape*", "The tensors, all of one dtype"),
        "scalar": scalar(2.0, "The order; it may be infinite", word="f32/f64/i64"),
        "out": output("T 1", "The norms", unchecked="count"),
    },
    checks=(shape("x", "out"),),
    hooks=Hooks(takes_empty=lambda _: True),  # the norm of no elements is 0
    lists=True,
    source="CANN: ops-nn foreach/foreach_norm",
    shows="[44.99]",
)
