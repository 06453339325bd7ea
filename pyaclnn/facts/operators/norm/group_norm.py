# SPDX-License-Identifier: Apache-2.0
"""Group normalization, alone and with an activation behind it."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    Code,
    agree,
    constraint,
    dtypes,
    each,
    empty,
    formats,
    masked,
    options,
    rank,
    required,
    rule,
    shape,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, input, integer, mask, output, real
from pyaclnn.facts.operators.request import Hooks, shape_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request
    from pyaclnn.facts.operators.words import Dims

__all__ = [
    "GROUP_NORM",
    "GROUP_NORM_BACKWARD",
    "GROUP_NORM_SILU",
    "GROUP_NORM_SILU_QUANT",
    "GROUP_NORM_SILU_V2",
    "some_groups",
    "undivided",
]

_LONG = 4096


def some_groups(values: Mapping[str, Any]) -> int:
    """Two groups, or one of an odd number of channels; more where a group would be very long.

    Args:
        values: The lengths that are known.
    """
    (channels,) = values["C"]
    divisors = (n for n in range(1, channels + 1) if channels % n == 0)
    return next((n for n in divisors if channels // n <= _LONG and (n > 1 or channels % 2)), 1)


def undivided(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Report that the channels are not divided by the number of groups, or None.

    Args:
        values: Lengths and options by their Python names.
    """
    name = "num_groups" if "num_groups" in values else "group"
    if values["C"][0] % values[name] == 0:
        return None
    must = f"a divisor of {values['C'][0]}, the number of channels"
    return name, str(values[name]), must


_SIZES = {
    "N": integer(derived=lambda known: known["N"][0]),
    "C": integer(derived=lambda known: known["C"][0]),
    "HxW": integer(derived=lambda known: prod(known["space"])),
    "group": integer(
        doc="Into how many groups the channels are divided",
        name="num_groups",
        least=1,
        sample=some_groups,
    ),
}

GROUP_NORM = describe(
    "aclnnGroupNorm",
    Build.COMPOSITE,
    "Normalize the channels of each group together, ``(input - mean) * rstd``, then scale and "
    "shift each channel. Over no elements, ``mean`` is 0 and ``rstd`` NaN.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p 910": "T=f32,f16"},
    torch="torch.nn.functional.group_norm: input num_groups weight bias eps",
    parameters={
        "self": input(
            "T N C space*", "The array to normalize: batch, channels and other axes", name="input"
        ),
        "gamma": input(
            "T C", "The scale of each channel; ones if None", name="weight", optional=True
        ),
        "beta": input(
            "T C", "The shift of each channel; zeros if None", name="bias", optional=True
        ),
        **_SIZES,
        "eps": real(1e-5, "Added to the variance", above=0),
        "out": output("T N C space*", "The normalized tensor"),
        "meanOut": output("T N num_groups", "The mean of each group", fill=0.0),
        "rstdOut": output("T N num_groups", "``1 / sqrt(variance + eps)`` of each group", fill=nan),
    },
    checks=(
        required(),
        dtypes(),
        options(),
        constraint(),
        rank("self", "out", most=8),
        shape("out", "meanOut", "rstdOut"),
        agree("N", "C", "HxW"),
        shape("gamma", "beta"),
        formats(barred=("NHWC", "HWCN", "NDHWC")),
        empty(),
    ),
    constraint=undivided,
    source="CANN: ops-nn norm/group_norm",
    shows="[-1.22  0.    1.22 -1.22  0.    1.22]",
)

_LIMITED = ("910b", "910_93")
_MOST_CHANNELS = 240_000
_MOST_IN_A_GROUP = 8_000


def _too_many_channels(request: Request) -> str | None:
    """Refuse more channels than the kernel of Atlas A2 and A3 holds."""
    if request.chip.family not in _LIMITED:
        return None
    channels, group = request.values["C"], request.values["num_groups"]
    if channels <= _MOST_CHANNELS and channels // group <= _MOST_IN_A_GROUP:
        return None
    return (
        f"C is {channels} in {group} groups; on {request.chip.soc_name} it must be at most "
        f"{_MOST_CHANNELS}, and at most {_MOST_IN_A_GROUP} a group"
    )


_COUNTS = {
    "grad_out": ("N", "C", "HxW"),
    "input": ("N", "C", "HxW"),
    "mean": ("N", "num_groups"),
    "rstd": ("N", "num_groups"),
    "weight": ("C",),
}


def _wrong_count(request: Request) -> str | None:
    """Compare numbers of elements with the options, in whatever shape the elements are."""
    for name, factors in _COUNTS.items():
        given, must = request.tensors[name], prod(request.values[factor] for factor in factors)
        if given is not None and given.size != must:
            return (
                f"{request.c_name(name)} has shape {shape_text(given.dims)} and {given.size} "
                f"elements; it must have {must}, as {', '.join(map(request.c_name, factors))} say"
            )
    return None


def _wrong_gradient(request: Request, name: str) -> str | None:
    """Require of a gradient the very shape of its tensor."""
    dims, weight = request.tensors[name].dims, request.tensors["weight"]
    must = (request.values["C"],) if weight is None else weight.dims
    if name == "grad_input":
        must = request.tensors["input"].dims
    if dims == must:
        return None
    return f"{request.c_name(name)} has shape {shape_text(dims)}; it must be {shape_text(must)}"


def _sums_on_950(request: Request) -> dict[str, float]:
    """Fill the sums over no elements with 0 on the 950; other chips write nothing."""
    if request.tensors["input"].size or request.chip.family != "950":
        return {}
    sums = ("grad_weight", "grad_bias")
    return {name: 0.0 for name in sums if request.tensors[name] is not None}


def _split(request: Request) -> dict[str, Dims]:
    """Read tensors in the shapes that the options state."""
    return {
        name: tuple(request.values[factor] for factor in factors)
        for name, factors in _COUNTS.items()
    }


GROUP_NORM_BACKWARD = describe(
    "aclnnGroupNormBackward",
    Build.COMPOSITE,
    "Compute the gradients of ``group_norm``. With ``xhat = (input - mean) * rstd``, "
    "``g = grad_out * weight`` and means over each group: "
    "``grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd``; ``grad_weight`` and "
    "``grad_bias`` are the sums of ``grad_out * xhat`` and ``grad_out`` over all axes but the "
    "channels, 0 over none. ``mean`` and ``rstd`` are used as they are given.",
    types={
        "910b 910_93": "T=f32 G=f32 | T=f16 G=f16 | T=bf16 G=bf16",
        "950": "T=f32 G=f32 | T=f16 G=f16,f32 | T=bf16 G=bf16,f32",
        "910": "T=f32 G=f32 | T=f16 G=f16",
    },
    torch=(
        "torch.ops.aten.native_group_norm_backward: grad_out input mean rstd weight "
        "N=input.shape[0] C=input.shape[1] HxW=input.shape[2:] group=num_groups output_mask"
    ),
    parameters={
        "gradOut": input("T N C space*", "The gradient of ``out``", unchecked="count"),
        "input": input("T N C space*", "The input of ``group_norm``", unchecked="count"),
        "mean": input(
            "G N num_groups",
            "As returned by ``group_norm``",
            unchecked="count",
            made_by=("group_norm", "mean"),
        ),
        "rstd": input(
            "G N num_groups", "The same", unchecked="count", made_by=("group_norm", "rstd")
        ),
        "gamma": input(
            "G C",
            "The scale of each channel; ones if None",
            name="weight",
            optional=True,
            unchecked="count",
        ),
        **_SIZES,
        "outputMask": mask("gradInput gradGammaOut gradBetaOut", "Which gradients to compute"),
        "gradInput": output("T N C space*", "The gradient of ``input``", unchecked="masked"),
        "gradGammaOut": output(
            "G C", "The gradient of ``weight``", name="grad_weight", unchecked="masked"
        ),
        "gradBetaOut": output(
            "G C", "The gradient of the shift", name="grad_bias", unchecked="masked"
        ),
    },
    checks=(
        required(),
        masked(null=Code.INVALID),
        dtypes(),
        options(),
        constraint(),
        rule(_too_many_channels),
        rank("gradOut", least=0, most=8),
        rule(_wrong_count),
        each(_wrong_gradient, "gradInput", "gradGammaOut", "gradBetaOut"),
        empty(),
    ),
    constraint=undivided,
    zeros=("N space", ("grad_weight", "grad_bias")),
    hooks=Hooks(read_as=_split, fills=_sums_on_950),
    result_type="GroupNormGradients",
    source="CANN: ops-nn norm/group_norm_grad",
    shows="[-0.41  0.82 -0.41  0.    0.    0.  ]",
)

_SILU_TYPES = {
    "910b 910_93": "T=f32 G=f32 S=f32 | T=f16 G=f16,f32 S=f16 | T=bf16 G=bf16,f32 S=bf16",
    "950": "T=f32 G=f32 S=f32 | T=f16 G=f16 S=f16 | T=f16 G=f32 S=f32 | T=bf16 G=bf16 S=bf16 | "
    "T=bf16 G=f32 S=f32",
    "310p": "T=f32 G=f32 S=f32 | T=f16 G=f16,f32 S=f16",
}
_SILU = "``x / (1 + exp(-x))``"
_SILU_ARGUMENTS = {
    "self": input("T N C space*", "The array to normalize: batch, channels, others", name="input"),
    "gamma": input("G C", "The scale of each channel; ones if None", optional=True),
    "beta": input("G C", "The shift of each channel; zeros if None", optional=True),
    "group": integer(
        doc="Into how many groups the channels are divided", least=1, sample=some_groups
    ),
    "eps": real(1e-5, "Added to the variance", above=0),
}
_SILU_RESULTS = {
    "out": output("T N C space*", "The activated tensor"),
    "meanOut": output("S N group", "The mean of each group", fill=0.0),
    "rstdOut": output("S N group", "``1 / sqrt(variance + eps)`` of each group", fill=nan),
}
_SILU_SHAPES = (
    rank("self", "out", most=8),
    shape("out", "meanOut", "rstdOut", "gamma", "beta"),
)
_SILU_SOURCE = "CANN: ops-nn norm/group_norm_silu"


def _no_samples_or_channels(request: Request) -> str | None:
    """Refuse tensors without samples or channels."""
    dims = request.tensors["input"].dims
    if 0 not in dims[:2]:
        return None
    return f"self has shape {shape_text(dims)}; its first two dimensions must not be 0"


def _none_but_on_950(request: Request) -> str | None:
    """Refuse them on all chips but the 950."""
    return None if request.chip.family == "950" else _no_samples_or_channels(request)


def _empty_on_950(request: Request) -> dict[str, float]:
    """Fill both statistics with NaN where the kernel of the 950 has nothing to normalize."""
    empty = request.tensors["input"].size == 0 and request.chip.family == "950"
    return {"mean": nan, "rstd": nan} if empty else {}


_SILU_HOOKS = Hooks(fills=_empty_on_950)
_SILU_CHECKS = (
    required(),
    dtypes(),
    _SILU_SHAPES,
    rule(_none_but_on_950),
    options(),
    constraint(),
    empty(),
)

GROUP_NORM_SILU = describe(
    "aclnnGroupNormSilu",
    Build.COMPOSITE,
    f"Normalize as ``group_norm`` does, then apply {_SILU}.",
    types=_SILU_TYPES,
    torch="torch_npu.npu_group_norm_silu: input weight=gamma bias=beta group eps",
    parameters={
        **_SILU_ARGUMENTS,
        **_SILU_RESULTS,
    },
    checks=_SILU_CHECKS,
    constraint=undivided,
    hooks=_SILU_HOOKS,
    source=_SILU_SOURCE,
    shows="[-0.1   0.73  2.01 -0.1   0.73  2.01]",
)

GROUP_NORM_SILU_V2 = describe(
    "aclnnGroupNormSiluV2",
    Build.COMPOSITE,
    f"Normalize as ``group_norm`` does, then apply {_SILU} if asked to.",
    types=_SILU_TYPES,
    parameters={
        **_SILU_ARGUMENTS,
        "activateSilu": flag(True, f"True to apply {_SILU}"),
        **_SILU_RESULTS,
    },
    checks=_SILU_CHECKS,
    constraint=undivided,
    hooks=_SILU_HOOKS,
    source=_SILU_SOURCE,
    shows="[-1.22  0.    1.22 -1.22  0.    1.22]",
)

GROUP_NORM_SILU_QUANT = describe(
    "aclnnGroupNormSiluQuant",
    Build.COMPOSITE,
    "Normalize and activate as ``group_norm_silu`` does, then quantize: "
    "``round(out / quant_scale)``, halves to even, within int8.",
    types={"910b 910_93 950": "T=f16 G=f16 S=f16 | T=bf16 G=bf16 S=bf16"},
    parameters={
        "self": _SILU_ARGUMENTS["self"],
        "gamma": _SILU_ARGUMENTS["gamma"],
        "beta": _SILU_ARGUMENTS["beta"],
        "quantScale": input("f32 C | 1", "The quantization scale of ``out``", positive=True),
        "group": _SILU_ARGUMENTS["group"],
        "eps": _SILU_ARGUMENTS["eps"],
        "activateSilu": flag(derived=lambda _: True),
        "out": output("i8 N C space*", "The activated tensor, quantized"),
        "meanOut": _SILU_RESULTS["meanOut"],
        "rstdOut": _SILU_RESULTS["rstdOut"],
    },
    checks=(
        required(),
        dtypes(),
        _SILU_SHAPES,
        shape("quantScale"),
        agree("activateSilu"),
        rule(_no_samples_or_channels),
        options(),
        constraint(),
        empty(),
    ),
    constraint=undivided,
    source="CANN: ops-nn norm/group_norm_silu_quant",
    shows="[-3  0  9 -3  0  9]",
)
