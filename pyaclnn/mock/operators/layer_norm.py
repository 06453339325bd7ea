# SPDX-License-Identifier: Apache-2.0
"""aclnnLayerNorm and aclnnLayerNormWithImplMode (CANN: ops-nn norm/layer_norm_v4, hand-written)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pyaclnn.mock.dtypes import DataType, data_type_name, numpy_dtype
from pyaclnn.mock.operators import rules, workspace
from pyaclnn.mock.operators.individual import float_attribute
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    RefusalError,
    Setting,
)
from pyaclnn.mock.status import Status
from pyaclnn.mock.values import IntArray, Tensor
from pyaclnn.reference import layer_norm

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.mock.chips import Chip
    from pyaclnn.mock.memory import DeviceMemory

__all__ = ["LAYER_NORM", "LAYER_NORM_WITH_IMPL_MODE"]

_WITH_BF16 = (DataType.FLOAT, DataType.FLOAT16, DataType.BF16)
_WITHOUT_BF16 = (DataType.FLOAT, DataType.FLOAT16)
_KEEP_FLOAT16 = 2
_IMPL_MODES = (0, 1, 2)


class _Arguments(NamedTuple):
    input: Tensor | None
    normalized_shape: IntArray | None
    weight: Tensor | None
    bias: Tensor | None
    eps: float
    out: Tensor | None
    mean: Tensor | None
    rstd: Tensor | None
    impl_mode: int = 0


class _Problem(NamedTuple):
    """The arguments once the required ones are known to be there."""

    input: Tensor
    normalized: tuple[int, ...]
    weight: Tensor | None
    bias: Tensor | None
    eps: float
    out: Tensor
    mean: Tensor | None
    rstd: Tensor | None
    impl_mode: int
    chip: Chip

    @property
    def parameters(self) -> tuple[tuple[str, Tensor | None], ...]:
        return ("weightOptional", self.weight), ("biasOptional", self.bias)

    @property
    def statistics(self) -> tuple[tuple[str, Tensor | None], ...]:
        return ("meanOutOptional", self.mean), ("rstdOutOptional", self.rstd)

    @property
    def tensors(self) -> tuple[tuple[str, Tensor | None], ...]:
        ends = ("input", self.input), ("out", self.out)
        return (*ends, *self.parameters, *self.statistics)

    @property
    def lead(self) -> tuple[int, ...]:
        return self.input.dims[: self.input.rank - len(self.normalized)]

    @property
    def rows(self) -> int:
        return prod(self.lead)

    @property
    def columns(self) -> int:
        return prod(self.input.dims[len(self.lead) :])

    @property
    def weight_type(self) -> int:
        """Data type of the weight, or of the ones that stand in for it."""
        given = self.weight or self.bias or self.input
        return given.data_type


def _problem(arguments: _Arguments, setting: Setting) -> _Problem:
    given = arguments
    return _Problem(
        input=rules.present("input", given.input),
        normalized=rules.present("normalizedShape", given.normalized_shape).values,
        weight=given.weight,
        bias=given.bias,
        eps=given.eps,
        out=rules.present("out", given.out),
        mean=given.mean,
        rstd=given.rstd,
        impl_mode=given.impl_mode,
        chip=setting.chip,
    )


def _data_types(problem: _Problem) -> None:
    allowed = _WITH_BF16 if problem.chip.bfloat16 else _WITHOUT_BF16
    rules.data_type_in("input", problem.input, allowed)
    for name, tensor in problem.parameters:
        rules.data_type_in(name, tensor, allowed)
        rules.parameter_type(name, tensor, "input", problem.input)
    weight, bias = problem.weight, problem.bias
    if weight and bias and weight.data_type != bias.data_type:
        raise rules.invalid(
            f"biasOptional has data type {data_type_name(bias.data_type)}; it must be "
            f"{data_type_name(weight.data_type)}, that of weightOptional"
        )
    rules.data_type_in("out", problem.out, allowed)
    for name, tensor in problem.statistics:
        rules.data_type_in(name, tensor, allowed)


def _ranks(problem: _Problem) -> None:
    for name, tensor in problem.tensors:
        rules.rank_at_most(name, tensor)
    rules.normalized_shape_limit(problem.normalized)
    rules.normalized_shape_fits(problem.normalized, "input", problem.input)
    for name, tensor in problem.parameters:
        rules.parameter_rank(name, tensor, problem.normalized)


def _normalized_shape(problem: _Problem) -> None:
    tail = problem.input.dims[len(problem.lead) :]
    if tail != problem.normalized:
        raise rules.invalid(
            f"normalizedShape is {rules.shape_text(problem.normalized)}; it must be "
            f"{rules.shape_text(tail)}, the last dimensions of input"
        )
    for name, tensor in problem.parameters:
        if tensor is not None:
            rules.same_shape(name, tensor, "normalizedShape", problem.normalized)
    rules.same_shape("out", problem.out, "input", problem.input.dims)


def _statistics(problem: _Problem) -> None:
    """The 950 wants one number a row with ones behind; the others do not look at the shape."""
    if not problem.chip.regbase:
        return
    expected = problem.lead + (1,) * len(problem.normalized)
    for name, tensor in problem.statistics:
        if tensor is not None and tensor.size != 0 and tensor.dims != expected:
            raise rules.invalid(
                f"{name} has shape {rules.shape_text(tensor.dims)}; on {problem.chip.soc_name} it "
                f"must be {rules.shape_text(expected)}"
            )
    mean, rstd = problem.mean, problem.rstd
    if mean is not None and rstd is not None:
        rules.same_shape("rstdOutOptional", rstd, "meanOutOptional", mean.dims)


def _impl_mode(problem: _Problem) -> None:
    mode = problem.impl_mode
    if mode not in _IMPL_MODES:
        raise rules.invalid(
            f"implMode is {mode}; it must be 0 (high precision), 1 (high performance) or "
            "2 (keep float16)"
        )
    if mode == _KEEP_FLOAT16:
        for name, tensor in (("input", problem.input), *problem.parameters):
            if tensor is not None and tensor.data_type != DataType.FLOAT16:
                raise rules.invalid(
                    f"{name} has data type {data_type_name(tensor.data_type)}; with implMode 2 it "
                    "must be FLOAT16"
                )


# The order of the hand-written checks.
_ROWS: tuple[Callable[[_Problem], None], ...] = (
    _data_types,
    _ranks,
    _normalized_shape,
    _statistics,
    _impl_mode,
)


def _check(arguments: _Arguments, setting: Setting) -> Plan:
    rules.out_pointers(setting.flags)
    problem = _problem(arguments, setting)
    for row in _ROWS:
        row(problem)
    if problem.rows <= 0:
        return Plan()
    if problem.columns <= 0:
        filled = any(tensor is not None for _, tensor in problem.statistics)
        return Plan(launch=Launch.KERNELS if filled else Launch.NOTHING)
    if not problem.chip.regbase:
        _copies_of_statistics(problem)
    return Plan(_workspace(problem), Launch.KERNELS)


def _copies_of_statistics(problem: _Problem) -> None:
    """Nobody has compared these shapes so far; it is the final view copy that gives up.

    It compares shapes, not numbers of elements, but for tensors of one element
    (CANN: ops-math contiguous.cpp).
    """
    expected = problem.lead + (1,) * len(problem.normalized)
    for name, tensor in problem.statistics:
        if tensor is None or tensor.dims == expected or tensor.size == problem.rows == 1:
            continue
        raise RefusalError(
            Status.INNER_NULLPTR,
            f"EZ9999: {name} has shape {rules.shape_text(tensor.dims)}; the result has shape "
            f"{rules.shape_text(expected)} and cannot be copied into it",
        )


def _workspace(problem: _Problem) -> int:
    """Give 16 MiB for the kernel and a slot for each intermediate tensor of the graph.

    Intermediate are contiguous copies of inputs, stand-ins for an absent weight and bias, and the
    kernel's three results, which are then cast and copied to the outputs.
    """
    statistic = DataType.FLOAT if _computes_in_v4(problem) else problem.weight_type
    stand_ins = 0
    if not problem.chip.regbase:
        stand_ins = sum(tensor is None for _, tensor in problem.parameters)
    return (
        workspace.SYSTEM_WORKSPACE
        + workspace.copies((problem.input, problem.weight, problem.bias))
        + stand_ins * workspace.tensor_slot(problem.normalized, problem.weight_type)
        + workspace.tensor_slot(problem.input.dims, problem.input.data_type)
        + 2 * workspace.tensor_slot(problem.lead, statistic)
    )


# Row lengths for which the fused kernel LayerNormV4 was tuned, by family: data type and lengths.
_V4_TUNED = {
    "910b": (DataType.BF16, (1024, 4096)),
    "910_93": (DataType.BF16, (1024, 4096)),
    "310p": (DataType.FLOAT16, (20, 40)),
}
_SHORT_ROW = 64
_BLOCK_BYTES = 32


def _computes_in_v4(problem: _Problem) -> bool:
    """Whether the kernel is LayerNormV4, which gives statistics in float32, or LayerNormV3."""
    if problem.chip.regbase:
        return True
    data_type, columns = problem.input.data_type, problem.columns
    tuned_type, tuned_columns = _V4_TUNED.get(problem.chip.family, (DataType.UNDEFINED, ()))
    if data_type == tuned_type and columns in tuned_columns:
        # On Atlas A2 and A3 the weight must have the type as well.
        return not problem.chip.atlas_a2_a3 or problem.weight_type == tuned_type
    per_block = _BLOCK_BYTES // numpy_dtype(data_type).itemsize
    return problem.chip.atlas_a2_a3 and columns < _SHORT_ROW and columns % per_block != 0


def _run(arguments: _Arguments, setting: Setting, memory: DeviceMemory) -> None:
    problem = _problem(arguments, setting)
    if problem.columns <= 0:
        for (name, tensor), value in zip(problem.statistics, (0.0, np.nan), strict=True):
            if tensor is not None:
                memory.view(name, tensor)[...] = value
        return
    weight, bias = problem.weight, problem.bias
    result = layer_norm(
        memory.view("input", problem.input),
        problem.normalized,
        None if weight is None else memory.view("weightOptional", weight),
        None if bias is None else memory.view("biasOptional", bias),
        float_attribute(problem.eps),
    )
    memory.view("out", problem.out)[...] = result.out
    for (name, tensor), statistic in zip(
        problem.statistics, (result.mean, result.rstd), strict=True
    ):
        if tensor is not None and tensor.size != 0:
            if not _computes_in_v4(problem):
                # LayerNormV3 hands its statistics over in the weight's type, whatever the output's.
                statistic = statistic.astype(numpy_dtype(problem.weight_type))  # noqa: PLW2901
            memory.view(name, tensor)[...] = statistic.reshape(tensor.dims)


_PARAMETERS = (
    Parameter("input", Tensor),
    Parameter("normalizedShape", IntArray),
    Parameter("weightOptional", Tensor),
    Parameter("biasOptional", Tensor),
    Parameter("eps", float, pointer=False),
    Parameter("out", Tensor),
    Parameter("meanOutOptional", Tensor),
    Parameter("rstdOutOptional", Tensor),
)

LAYER_NORM = Operator(
    name="aclnnLayerNorm",
    executor_kind=ExecutorKind.COMPOSITE,
    parameters=_PARAMETERS,
    output_count=3,
    arguments=_Arguments,
    check=_check,
    run=_run,
)
LAYER_NORM_WITH_IMPL_MODE = Operator(
    name="aclnnLayerNormWithImplMode",
    executor_kind=ExecutorKind.COMPOSITE,
    parameters=(*_PARAMETERS, Parameter("implMode", int, pointer=False)),
    # implMode stands behind the outputs in the C signature and is counted among the last arguments.
    output_count=4,
    arguments=_Arguments,
    check=_check,
    run=_run,
)
