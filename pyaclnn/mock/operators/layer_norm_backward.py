# SPDX-License-Identifier: Apache-2.0
"""aclnnLayerNormBackward (CANN: ops-nn norm/layer_norm_grad_v3, hand-written)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.mock.dtypes import DataType, data_type_name
from pyaclnn.mock.operators import rules, workspace
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    Setting,
)
from pyaclnn.mock.values import BoolArray, IntArray, Tensor
from pyaclnn.reference import layer_norm_backward

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.mock.chips import Chip
    from pyaclnn.mock.memory import DeviceMemory

__all__ = ["LAYER_NORM_BACKWARD"]

_F32, _F16, _BF16 = DataType.FLOAT, DataType.FLOAT16, DataType.BF16
# One list for every chip: where bfloat16 is missing, the kernel is what cannot be found.
_ALLOWED = (_F32, _F16, _BF16)
_MASK_LENGTH = 3

# LayerNormXBackpropV3, the first of the two kernels of 310P and 910: input, mean and rstd, weight.
_SPLIT_KERNELS = frozenset(
    {(_F16, _F16, _F16), (_F32, _F32, _F32), (_F16, _F32, _F16), (_F16, _F32, _F32)}
)
_FUSED_FAMILIES = frozenset({"910b", "910_93", "950"})
_SPLIT_FAMILIES = frozenset({"310p", "910"})


class _Arguments(NamedTuple):
    grad_out: Tensor | None
    input: Tensor | None
    normalized_shape: IntArray | None
    mean: Tensor | None
    rstd: Tensor | None
    weight: Tensor | None
    bias: Tensor | None
    output_mask: BoolArray | None
    grad_input: Tensor | None
    grad_weight: Tensor | None
    grad_bias: Tensor | None


class _Problem(NamedTuple):
    """The arguments once the required ones are known to be there."""

    grad_out: Tensor
    input: Tensor
    normalized: tuple[int, ...]
    mean: Tensor
    rstd: Tensor
    weight: Tensor | None
    bias: Tensor | None
    mask: tuple[bool, ...]
    grad_input: Tensor | None
    grad_weight: Tensor | None
    grad_bias: Tensor | None
    chip: Chip

    @property
    def inputs(self) -> tuple[tuple[str, Tensor], ...]:
        return (
            ("gradOut", self.grad_out),
            ("input", self.input),
            ("mean", self.mean),
            ("rstd", self.rstd),
        )

    @property
    def parameters(self) -> tuple[tuple[str, Tensor | None], ...]:
        return ("weightOptional", self.weight), ("biasOptional", self.bias)

    @property
    def outputs(self) -> tuple[tuple[str, Tensor | None], ...]:
        return (
            ("gradInputOut", self.grad_input),
            ("gradWeightOut", self.grad_weight),
            ("gradBiasOut", self.grad_bias),
        )

    @property
    def wanted(self) -> tuple[tuple[str, Tensor], ...]:
        """The outputs that the mask selects."""
        return tuple(
            (name, tensor)
            for (name, tensor), wanted in zip(self.outputs, self.mask, strict=True)
            if wanted and tensor is not None
        )

    @property
    def lead(self) -> tuple[int, ...]:
        return self.input.dims[: self.input.rank - len(self.normalized)]

    @property
    def tail(self) -> tuple[int, ...]:
        return self.input.dims[len(self.lead) :]

    @property
    def rows(self) -> int:
        return prod(self.lead)

    @property
    def columns(self) -> int:
        return prod(self.tail)

    @property
    def weight_type(self) -> int:
        """Data type of the weight, or of the ones that stand in for it."""
        return (self.weight or self.input).data_type


def _problem(arguments: _Arguments, setting: Setting) -> _Problem:
    given = arguments
    return _Problem(
        grad_out=rules.present("gradOut", given.grad_out),
        input=rules.present("input", given.input),
        normalized=rules.present("normalizedShape", given.normalized_shape).values,
        mean=rules.present("mean", given.mean),
        rstd=rules.present("rstd", given.rstd),
        weight=given.weight,
        bias=given.bias,
        mask=rules.present("outputMask", given.output_mask).values,
        grad_input=given.grad_input,
        grad_weight=given.grad_weight,
        grad_bias=given.grad_bias,
        chip=setting.chip,
    )


def _mask(problem: _Problem) -> None:
    if len(problem.mask) != _MASK_LENGTH:
        raise rules.invalid(
            f"outputMask has {len(problem.mask)} elements; it must have {_MASK_LENGTH}: "
            "gradInputOut, gradWeightOut, gradBiasOut"
        )
    for (name, tensor), wanted in zip(problem.outputs, problem.mask, strict=True):
        if wanted:
            rules.present(name, tensor)


def _data_types(problem: _Problem) -> None:
    for name, tensor in problem.inputs:
        rules.data_type_in(name, tensor, _ALLOWED)
    ours, theirs = problem.grad_out.data_type, problem.input.data_type
    if ours != theirs:
        raise rules.invalid(
            f"gradOut has data type {data_type_name(ours)}; it must be {data_type_name(theirs)}, "
            "that of input"
        )
    rules.data_type_in("weightOptional", problem.weight, _ALLOWED)
    rules.parameter_type("weightOptional", problem.weight, "input", problem.input)
    # Against the documentation the bias is not compared with the weight.
    rules.data_type_in("biasOptional", problem.bias, _ALLOWED)
    for name, output in problem.outputs:
        rules.data_type_in(name, output, _ALLOWED)


def _ranks(problem: _Problem) -> None:
    for name, tensor in problem.inputs:
        rules.rank_at_most(name, tensor)
    rules.normalized_shape_limit(problem.normalized)
    for name, tensor in problem.wanted:
        rules.rank_at_most(name, tensor)
    rules.normalized_shape_fits(problem.normalized, "input", problem.input)


def _normalized_shape(problem: _Problem) -> None:
    """Compare what CANN compares, which is not everything.

    The loop of the original starts at the first normalized axis instead of 0, so that entries in
    front of it are never looked at, and none at all if the input has twice as many dimensions as
    normalizedShape or more. What passes here is caught by the outputs' sizes or by the tiling.
    """
    axis = len(problem.lead)
    for index in range(axis, len(problem.normalized)):
        ours, theirs = problem.normalized[index], problem.input.dims[index + axis]
        if ours != theirs:
            raise rules.invalid(
                f"normalizedShape is {rules.shape_text(problem.normalized)} with {ours} at "
                f"{index}; it must be {rules.shape_text(problem.tail)}, the last dimensions of "
                f"input"
            )


def _parameters(problem: _Problem) -> None:
    for name, tensor in problem.parameters:
        rules.rank_at_most(name, tensor)
        rules.parameter_rank(name, tensor, problem.normalized)
        if tensor is not None:
            rules.same_shape(name, tensor, "normalizedShape", problem.normalized)


def _input_shapes(problem: _Problem) -> None:
    rules.same_shape("gradOut", problem.grad_out, "input", problem.input.dims)
    rules.same_shape("mean", problem.mean, "rstd", problem.rstd.dims)
    if problem.mean.size != problem.rows:
        raise rules.invalid(
            f"mean has {problem.mean.size} elements, shape {rules.shape_text(problem.mean.dims)}; "
            f"it must have one for each of {problem.rows} rows of input"
        )


def _output_shapes(problem: _Problem) -> None:
    for name, tensor in problem.wanted:
        if name == "gradInputOut":
            rules.same_shape(name, tensor, "input", problem.input.dims)
        elif tensor.size != problem.columns:
            raise rules.invalid(
                f"{name} has {tensor.size} elements, shape {rules.shape_text(tensor.dims)}; it "
                f"must have {problem.columns}, the last dimensions of input multiplied"
            )


# The order of the hand-written checks.
_ROWS: tuple[Callable[[_Problem], None], ...] = (
    _mask,
    _data_types,
    _ranks,
    _normalized_shape,
    _parameters,
    _input_shapes,
    _output_shapes,
)


def _check(arguments: _Arguments, setting: Setting) -> Plan:
    rules.out_pointers(setting.flags)
    problem = _problem(arguments, setting)
    for row in _ROWS:
        row(problem)
    if not any(problem.mask):
        return Plan()
    if problem.rows <= 0 or problem.columns <= 0:
        # Without rows the gradients of weight and bias are zeros; without columns all are empty.
        zeros = problem.rows <= 0 and any(problem.mask[1:])
        return Plan(launch=Launch.KERNELS if zeros else Launch.NOTHING)
    fused = problem.chip.family in _FUSED_FAMILIES
    failure = _fused_failure(problem) if fused else _split_failure(problem)
    if failure is None:
        return Plan(_workspace(problem), Launch.KERNELS)
    # The launcher is queued although it failed, and nobody looks at its status.
    text = f"EZ9999: aclnnLayerNormBackward: {failure}"
    return Plan(_workspace(problem), Launch.FAILS, text)


def _fused_failure(problem: _Problem) -> str | None:
    """Say why the tiling of LayerNormGradV3 fails, if it does."""
    if problem.normalized == problem.tail:
        return None
    return (
        f"tiling of LayerNormGradV3 failed: the weight has shape "
        f"{rules.shape_text(problem.normalized)}, that of normalizedShape; it must be "
        f"{rules.shape_text(problem.tail)}, the last dimensions of input"
    )


def _split_failure(problem: _Problem) -> str | None:
    """Say why LayerNormXBackpropV3 cannot be launched, if it cannot."""
    chip = problem.chip
    if chip.family not in _SPLIT_FAMILIES:
        return f"there are no kernels for {chip.soc_name} ({chip.product})"
    key = (problem.input.data_type, _statistics_type(problem), problem.weight_type)
    if key not in _SPLIT_KERNELS:
        names = ", ".join(map(data_type_name, key))
        return (
            f"LayerNormXBackpropV3 has no kernel on {chip.soc_name} for the data types {names} of "
            "input, mean and weight"
        )
    if problem.normalized != problem.tail:
        return (
            f"LayerNormXBackpropV3 failed: the weight has shape "
            f"{rules.shape_text(problem.normalized)}; it must be {rules.shape_text(problem.tail)}"
        )
    return None


def _statistics_type(problem: _Problem) -> int:
    """Data type in which the kernel gets mean and rstd.

    The fused kernel takes float32 alone. The split kernels get both as they are, unless they differ
    or the weight is float32.
    """
    mean, rstd = problem.mean.data_type, problem.rstd.data_type
    split = problem.chip.family in _SPLIT_FAMILIES
    if split and mean == rstd and problem.weight_type != _F32:
        return mean
    return _F32


def _workspace(problem: _Problem) -> int:
    """Give the kernel's workspace and a slot for each intermediate tensor of the graph.

    LayerNormGradV3 asks for 16 MiB and two padded float32 rows a block (CANN: ops-nn
    layer_norm_grad_v3 tiling, template "common"); a block is a core that has rows to work on.
    Intermediate are contiguous copies of inputs, mean and rstd cast, ones for an absent weight, and
    the results that are then cast and copied to the outputs.
    """
    blocks = min(problem.rows, problem.chip.kernel_cores)
    kernel = workspace.SYSTEM_WORKSPACE + (
        2 * blocks * workspace.block_align(problem.columns) * workspace.FLOAT_BYTES
    )
    statistics = _statistics_type(problem)
    casts = sum(
        workspace.tensor_slot(tensor.dims, statistics)
        for tensor in (problem.mean, problem.rstd)
        if tensor.data_type != statistics
    )
    ones = 0
    if problem.weight is None:
        ones = workspace.tensor_slot(problem.normalized, problem.weight_type)
    results = sum(
        workspace.tensor_slot(
            tensor.dims, problem.input.data_type if name == "gradInputOut" else _F32
        )
        for name, tensor in problem.wanted
    )
    inputs = (*(tensor for _, tensor in problem.inputs), problem.weight)
    return kernel + workspace.copies(inputs) + casts + ones + results


def _run(arguments: _Arguments, setting: Setting, memory: DeviceMemory) -> None:
    problem = _problem(arguments, setting)
    if problem.rows <= 0:
        for name, tensor in problem.wanted:
            memory.view(name, tensor)[...] = 0
        return
    weight = problem.weight
    gradients = layer_norm_backward(
        memory.view("gradOut", problem.grad_out),
        memory.view("input", problem.input),
        problem.normalized,
        memory.view("mean", problem.mean),
        memory.view("rstd", problem.rstd),
        None if weight is None else memory.view("weightOptional", weight),
        output_mask=(problem.mask[0], problem.mask[1], problem.mask[2]),
    )
    results = [gradient for gradient in gradients if gradient is not None]
    # They leave the kernel in the input's type and in float32; the rest is Cast and ViewCopy, which
    # refuses a result of another shape, and nobody looks at its status: nothing is written.
    for (name, tensor), gradient in zip(problem.wanted, results, strict=True):
        if tensor.dims == gradient.shape:
            memory.view(name, tensor)[...] = gradient


LAYER_NORM_BACKWARD = Operator(
    name="aclnnLayerNormBackward",
    executor_kind=ExecutorKind.COMPOSITE,
    parameters=(
        Parameter("gradOut", Tensor),
        Parameter("input", Tensor),
        Parameter("normalizedShape", IntArray),
        Parameter("mean", Tensor),
        Parameter("rstd", Tensor),
        Parameter("weightOptional", Tensor),
        Parameter("biasOptional", Tensor),
        Parameter("outputMask", BoolArray),
        Parameter("gradInputOut", Tensor),
        Parameter("gradWeightOut", Tensor),
        Parameter("gradBiasOut", Tensor),
    ),
    output_count=3,
    arguments=_Arguments,
    check=_check,
    run=_run,
)
