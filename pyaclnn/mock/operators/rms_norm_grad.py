# SPDX-License-Identifier: Apache-2.0
"""aclnnRmsNormGrad (CANN: ops-nn norm/rms_norm_grad, generated from the operator definition)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pyaclnn.mock.dtypes import DataType
from pyaclnn.mock.operators import individual, rules, workspace
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    Setting,
)
from pyaclnn.mock.values import Flag, Tensor
from pyaclnn.reference import rms_norm_grad

if TYPE_CHECKING:
    from pyaclnn.mock.chips import Chip
    from pyaclnn.mock.memory import DeviceMemory

__all__ = ["RMS_NORM_GRAD"]

_F32, _F16, _BF16 = DataType.FLOAT, DataType.FLOAT16, DataType.BF16

# dy, x, rstd, gamma, dx, dgamma
_FULL: individual.Combinations = (
    (_F16, _F16, _F32, _F32, _F16, _F32),
    (_BF16, _BF16, _F32, _F32, _BF16, _F32),
    (_F16, _F16, _F32, _F16, _F16, _F32),
    (_F32, _F32, _F32, _F32, _F32, _F32),
    (_BF16, _BF16, _F32, _BF16, _BF16, _F32),
)
_NARROW: individual.Combinations = (
    (_F16, _F16, _F32, _F16, _F16, _F32),
    (_F32, _F32, _F32, _F32, _F32, _F32),
)
_COMBINATIONS = {"910b": _FULL, "910_93": _FULL, "950": _FULL, "310p": _NARROW, "910": _NARROW}

# The kernel of the first-generation 910 works on whole blocks of 64 elements of gamma.
_GAMMA_MULTIPLE = {"910": 64}
_UINT32 = 0xFFFF_FFFF


class _Arguments(NamedTuple):
    dy: Tensor | None
    x: Tensor | None
    rstd: Tensor | None
    gamma: Tensor | None
    dx: Tensor | None
    dgamma: Tensor | None


class _Tensors(NamedTuple):
    dy: Tensor
    x: Tensor
    rstd: Tensor
    gamma: Tensor
    dx: Tensor
    dgamma: Tensor


_NAMES = ("dy", "x", "rstd", "gamma", "dxOut", "dgammaOut")


def _tensors(arguments: _Arguments) -> _Tensors:
    return _Tensors(*map(rules.present, _NAMES, arguments))


def _check(arguments: _Arguments, setting: Setting) -> Plan:
    tensors = _tensors(arguments)
    individual.out_pointers(setting.flags)
    individual.find_kernel("RmsNormGrad", _NAMES, tensors, _COMBINATIONS, setting.chip)
    if tensors.dx.size == 0 and tensors.dgamma.size == 0:
        return Plan()
    _tiling(tensors, setting.chip)
    return Plan(_workspace(tensors, setting), Launch.KERNELS)


def _tiling(tensors: _Tensors, chip: Chip) -> None:
    tiling = individual.Tiling("RmsNormGrad")
    _ranks(tiling, tensors)
    dy, x, rstd, gamma, dx, dgamma = tensors
    for axis, (ours, theirs, result) in enumerate(zip(dy.dims, x.dims, dx.dims, strict=True)):
        tiling.require(
            ours == theirs, f"dy has {ours} elements in dimension {axis}; x has {theirs}"
        )
        tiling.require(
            result == ours, f"dxOut has {result} elements in dimension {axis}; dy has {ours}"
        )
    tiling.require(dy.dims[-1] != 0, "the last dimension of dy is 0; it must have elements")
    lead = x.rank - gamma.rank
    _rstd_dimensions(tiling, rstd, x, lead)
    for axis, (ours, theirs) in enumerate(zip(gamma.dims, dgamma.dims, strict=True)):
        expected = dy.dims[lead + axis]
        for name, dim in (("gamma", ours), ("dgammaOut", theirs)):
            tiling.require(
                dim == expected,
                f"{name} has {dim} elements in dimension {axis}; it must have the {expected} of dy "
                f"in dimension {lead + axis}",
            )
    # The tiling function counts in 32 bits.
    rows = prod(x.dims[:lead]) & _UINT32
    columns = prod(gamma.dims) & _UINT32
    tiling.require(
        rstd.size & _UINT32 == rows,
        f"rstd has {rstd.size} elements; it must have one for each of {rows} rows",
    )
    multiple = _GAMMA_MULTIPLE.get(chip.family, 1)
    tiling.require(
        columns % multiple == 0,
        f"gamma has {columns} elements; on {chip.soc_name} it must have a multiple of {multiple}",
    )
    tiling.require(
        rows != 0 or chip.regbase,
        f"x has no rows, shape {rules.shape_text(x.dims)}; on {chip.soc_name} it must have some",
    )


def _ranks(tiling: individual.Tiling, tensors: _Tensors) -> None:
    dy, x, _, gamma, dx, dgamma = tensors
    tiling.rank_in_range("x", x)
    tiling.rank_in_range("gamma", gamma)
    tiling.require(
        gamma.rank <= x.rank,
        f"gamma has {gamma.rank} dimensions; it must have at most the {x.rank} of x",
    )
    for name, tensor, other_name, other in (
        ("dy", dy, "x", x),
        ("dxOut", dx, "dy", dy),
        ("dgammaOut", dgamma, "gamma", gamma),
    ):
        tiling.require(
            tensor.rank == other.rank,
            f"{name} has {tensor.rank} dimensions; it must have the {other.rank} of {other_name}",
        )


def _rstd_dimensions(tiling: individual.Tiling, rstd: Tensor, x: Tensor, lead: int) -> None:
    """Compare the leading dimensions; those of x that rstd lacks must be 1."""
    for axis, expected in enumerate(x.dims[:lead]):
        if axis < rstd.rank:
            tiling.require(
                rstd.dims[axis] == expected,
                f"rstd has {rstd.dims[axis]} elements in dimension {axis}; x has {expected}",
            )
        else:
            tiling.require(
                expected == 1,
                f"rstd has {rstd.rank} dimensions and x has {expected} elements in dimension "
                f"{axis}; where rstd has no dimension x must have 1",
            )


def _workspace(tensors: _Tensors, setting: Setting) -> int:
    """Give 16 MiB, a float32 scratch for each block, and copies of non-contiguous inputs.

    The scratch is 8 elements a block, or a padded row and 8 elements if the result must be
    deterministic (CANN: ops-nn rms_norm_grad_tiling); a block is a core that has rows to work on.
    """
    columns = tensors.gamma.size
    rows = prod(tensors.x.dims[: tensors.x.rank - tensors.gamma.rank])
    blocks = min(max(rows, 1), setting.chip.kernel_cores)
    scratch = 8 + (workspace.block_align(columns) if setting.flags & Flag.DETERMINISTIC else 0)
    return (
        workspace.SYSTEM_WORKSPACE
        + scratch * blocks * workspace.FLOAT_BYTES
        + workspace.copies((tensors.dy, tensors.x, tensors.rstd, tensors.gamma))
    )


def _run(arguments: _Arguments, _setting: Setting, memory: DeviceMemory) -> None:
    dy, x, rstd, gamma, dx, dgamma = _tensors(arguments)
    if x.size == 0:
        # Only the 950's tiling lets tensors without rows through, and its kernel fills with NaN.
        memory.dense("dgammaOut", dgamma)[...] = np.nan
        return
    result = rms_norm_grad(
        memory.view("dy", dy),
        memory.view("x", x),
        memory.view("rstd", rstd),
        memory.view("gamma", gamma),
    )
    memory.dense("dxOut", dx)[...] = result.dx
    memory.dense("dgammaOut", dgamma)[...] = result.dgamma


RMS_NORM_GRAD = Operator(
    name="aclnnRmsNormGrad",
    executor_kind=ExecutorKind.INDIVIDUAL,
    parameters=tuple(Parameter(name, Tensor) for name in _NAMES),
    output_count=2,
    arguments=_Arguments,
    check=_check,
    run=_run,
)
