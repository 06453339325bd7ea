# SPDX-License-Identifier: Apache-2.0
# Written by "python -m pyaclnn.ops.stub" from the definitions in pyaclnn.reference.
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import ArrayLike, DTypeLike, NDArray

_Array: TypeAlias = NDArray[Any]
_MaybeNone: TypeAlias = Any  # None where a mask or an option leaves the result out

class AdaLayerNormGrads(NamedTuple):
    grad_input: _Array | _MaybeNone
    grad_scale: _Array | _MaybeNone
    grad_shift: _Array | _MaybeNone
    grad_weight: _Array | _MaybeNone
    grad_bias: _Array | _MaybeNone

class AdaLayerNormQuantResult(NamedTuple):
    out: _Array
    quant_scale: _Array

class AdaLayerNormV2Result(NamedTuple):
    out: _Array
    mean: _Array
    rstd: _Array

class AddLayerNormResult(NamedTuple):
    y: _Array
    mean: _Array
    rstd: _Array
    x: _Array | _MaybeNone

class AddLayerNormGrads(NamedTuple):
    dx: _Array
    dgamma: _Array
    dbeta: _Array

class AddLayerNormQuantResult(NamedTuple):
    y1: _Array
    y2: _Array | _MaybeNone
    x: _Array | _MaybeNone
    out_scales1: _Array | _MaybeNone
    out_scales2: _Array | _MaybeNone

class AddLayerNormQuantV2Result(NamedTuple):
    y1: _Array
    y2: _Array | _MaybeNone
    x: _Array | _MaybeNone
    layernorm_res: _Array
    out_scales1: _Array | _MaybeNone
    out_scales2: _Array | _MaybeNone

class AddRmsNormResult(NamedTuple):
    y: _Array
    rstd: _Array
    x: _Array

class AddRmsNormCastResult(NamedTuple):
    y1: _Array
    y2: _Array
    rstd: _Array
    x: _Array

class AddRmsNormDynamicMxQuantResult(NamedTuple):
    y: _Array
    x: _Array
    mxscale: _Array
    rstd: _Array | _MaybeNone

class AddRmsNormDynamicQuantResult(NamedTuple):
    y1: _Array
    y2: _Array | _MaybeNone
    x: _Array
    scale1: _Array
    scale2: _Array | _MaybeNone

class AddRmsNormDynamicQuantV2Result(NamedTuple):
    y1: _Array | _MaybeNone
    y2: _Array | _MaybeNone
    x: _Array
    scale1: _Array | _MaybeNone
    scale2: _Array | _MaybeNone

class AddRmsNormQuantResult(NamedTuple):
    y1: _Array
    y2: _Array | _MaybeNone
    x: _Array

class AddRmsNormQuantV2Result(NamedTuple):
    y1: _Array
    y2: _Array | _MaybeNone
    x: _Array | _MaybeNone
    rms_norm: _Array | _MaybeNone

class BatchNormResult(NamedTuple):
    output: _Array
    save_mean: _Array | _MaybeNone
    save_invstd: _Array | _MaybeNone
    running_mean: _Array | _MaybeNone
    running_var: _Array | _MaybeNone

class BatchNormGrads(NamedTuple):
    grad_input: _Array | _MaybeNone
    grad_weight: _Array | _MaybeNone
    grad_bias: _Array | _MaybeNone

class BatchNormGatherStatsResult(NamedTuple):
    mean_all: _Array
    invstd_all: _Array
    running_mean: _Array | _MaybeNone
    running_var: _Array | _MaybeNone

class BatchNormReduceResult(NamedTuple):
    sum: _Array
    square_sum: _Array

class BatchNormReduceGrads(NamedTuple):
    sum_dy: _Array | _MaybeNone
    sum_dy_xmu: _Array | _MaybeNone
    grad_weight: _Array | _MaybeNone
    grad_bias: _Array | _MaybeNone

class BatchNormStatsResult(NamedTuple):
    mean: _Array
    invstd: _Array

class DeepNormResult(NamedTuple):
    mean: _Array
    rstd: _Array
    y: _Array

class DeepNormGrads(NamedTuple):
    dx: _Array
    dgx: _Array
    dbeta: _Array
    dgamma: _Array

class LayerNormResult(NamedTuple):
    out: _Array
    mean: _Array
    rstd: _Array

class RmsNormResult(NamedTuple):
    y: _Array
    rstd: _Array

class GroupNormResult(NamedTuple):
    out: _Array
    mean: _Array
    rstd: _Array

class GroupNormGrads(NamedTuple):
    grad_input: _Array | _MaybeNone
    grad_weight: _Array | _MaybeNone
    grad_bias: _Array | _MaybeNone

class GroupNormSwishResult(NamedTuple):
    y: _Array
    mean: _Array
    rstd: _Array

class GroupNormSwishGrads(NamedTuple):
    dx: _Array
    dgamma: _Array | _MaybeNone
    dbeta: _Array | _MaybeNone

class InplaceAddRmsNormResult(NamedTuple):
    x1: _Array
    x2: _Array
    rstd: _Array

class InstanceNormResult(NamedTuple):
    y: _Array
    mean: _Array
    variance: _Array

class LayerNormGrads(NamedTuple):
    grad_input: _Array | _MaybeNone
    grad_weight: _Array | _MaybeNone
    grad_bias: _Array | _MaybeNone

class RmsNormDynamicMxQuantResult(NamedTuple):
    y: _Array
    mxscale: _Array
    rstd: _Array | _MaybeNone

class RmsNormDynamicQuantResult(NamedTuple):
    y: _Array
    scale: _Array

class RmsNormGrads(NamedTuple):
    dx: _Array
    dgamma: _Array

class RmsNormGradQuantResult(NamedTuple):
    dx: _Array
    dgamma: _Array

class RmsNormQuantV3Result(NamedTuple):
    y: _Array
    rstd: _Array | _MaybeNone

class SyncBatchNormGatherStatsResult(NamedTuple):
    batch_mean: _Array
    batch_invstd: _Array
    mean: _Array
    variance: _Array

def ada_layer_norm(
    x: ArrayLike, scale: ArrayLike, shift: ArrayLike, weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, epsilon: float = 1e-05
) -> _Array: ...
def ada_layer_norm_backward(
    grad_out: ArrayLike, input: ArrayLike, normalized_shape: Sequence[int], rstd: ArrayLike,
    mean: ArrayLike, scale: ArrayLike, shift: ArrayLike, weight: ArrayLike | None = None,
    bias: ArrayLike | None = None
) -> AdaLayerNormGrads: ...
def ada_layer_norm_quant(
    x: ArrayLike, scale: ArrayLike, shift: ArrayLike, weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, smooth_scales: ArrayLike | None = None, epsilon: float = 1e-05,
    *, dtype: DTypeLike | None = "int8"
) -> AdaLayerNormQuantResult: ...
def ada_layer_norm_v2(
    x: ArrayLike, scale: ArrayLike, shift: ArrayLike, weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, epsilon: float = 1e-05
) -> AdaLayerNormV2Result: ...
def add_layer_norm(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, beta: ArrayLike, bias: ArrayLike | None = None,
    epsilon: float = 1e-05, additional_output: bool = False
) -> AddLayerNormResult: ...
def add_layer_norm_grad(
    dy: ArrayLike, x1: ArrayLike, x2: ArrayLike, rstd: ArrayLike, mean: ArrayLike, gamma: ArrayLike,
    dsum: ArrayLike | None = None
) -> AddLayerNormGrads: ...
def add_layer_norm_quant(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, beta: ArrayLike, bias: ArrayLike | None = None,
    scales1: ArrayLike | None = None, scales2: ArrayLike | None = None,
    zero_points1: ArrayLike | None = None, zero_points2: ArrayLike | None = None,
    quant_mode: str = "static", epsilon: float = 1e-05, additional_output: bool = False,
    div_mode: bool = True
) -> AddLayerNormQuantResult: ...
def add_layer_norm_quant_v2(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, beta: ArrayLike, bias: ArrayLike | None = None,
    scales1: ArrayLike | None = None, scales2: ArrayLike | None = None,
    zero_points1: ArrayLike | None = None, zero_points2: ArrayLike | None = None,
    quant_mode: str = "static", epsilon: float = 1e-05, additional_output: bool = False,
    div_mode: bool = False, *, family: str | None = None
) -> AddLayerNormQuantV2Result: ...
def add_rms_norm(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-06, *,
    family: str | None = None
) -> AddRmsNormResult: ...
def add_rms_norm_cast(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-06, *,
    family: str | None = None
) -> AddRmsNormCastResult: ...
def add_rms_norm_dynamic_mx_quant(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, beta: ArrayLike | None = None,
    epsilon: float = 1e-06, scale_alg: int = 0, round_mode: str = "rint", output_rstd: bool = False,
    *, dtype: DTypeLike | None = None
) -> AddRmsNormDynamicMxQuantResult: ...
def add_rms_norm_dynamic_quant(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, smooth_scale1: ArrayLike | None = None,
    smooth_scale2: ArrayLike | None = None, epsilon: float = 1e-06, *,
    dtype: DTypeLike | None = "int8"
) -> AddRmsNormDynamicQuantResult: ...
def add_rms_norm_dynamic_quant_v2(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, smooth_scale1: ArrayLike | None = None,
    smooth_scale2: ArrayLike | None = None, beta: ArrayLike | None = None, epsilon: float = 1e-06,
    output_mask: Sequence[bool] | None = None, *, dtype: DTypeLike | None = "int8"
) -> AddRmsNormDynamicQuantV2Result: ...
def add_rms_norm_quant(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, scales1: ArrayLike,
    scales2: ArrayLike | None = None, zero_points1: ArrayLike | None = None,
    zero_points2: ArrayLike | None = None, epsilon: float = 1e-06, *, div_mode: bool = True,
    dtype: DTypeLike | None = "int8", family: str | None = None
) -> AddRmsNormQuantResult: ...
def add_rms_norm_quant_v2(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, scales1: ArrayLike,
    scales2: ArrayLike | None = None, zero_points1: ArrayLike | None = None,
    zero_points2: ArrayLike | None = None, beta: ArrayLike | None = None, epsilon: float = 1e-06, *,
    div_mode: bool = True, dtype: DTypeLike | None = "int8", family: str | None = None
) -> AddRmsNormQuantV2Result: ...
def batch_norm(
    input: ArrayLike, running_mean: ArrayLike | None, running_var: ArrayLike | None,
    weight: ArrayLike | None = None, bias: ArrayLike | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-05, *, family: str | None = None
) -> BatchNormResult: ...
def batch_norm_backward(
    grad_out: ArrayLike, input: ArrayLike, weight: ArrayLike | None, running_mean: ArrayLike | None,
    running_var: ArrayLike | None, save_mean: ArrayLike | None, save_invstd: ArrayLike | None,
    training: bool = True, eps: float = 1e-05, *, output_mask: Sequence[bool] = (True, True, True),
    family: str | None = None
) -> BatchNormGrads: ...
def batch_norm_elemt(
    input: ArrayLike, weight: ArrayLike | None, bias: ArrayLike | None, mean: ArrayLike,
    invstd: ArrayLike, eps: float = 1e-05, *, family: str | None = None
) -> _Array: ...
def batch_norm_elemt_backward(
    grad_out: ArrayLike, input: ArrayLike, mean: ArrayLike, invstd: ArrayLike,
    weight: ArrayLike | None, sum_dy: ArrayLike, sum_dy_xmu: ArrayLike, counter: ArrayLike, *,
    dtype: DTypeLike | None = None
) -> _Array: ...
def batch_norm_gather_stats_with_counts(
    input: ArrayLike, mean: ArrayLike, invstd: ArrayLike, running_mean: ArrayLike | None,
    running_var: ArrayLike | None, momentum: float, eps: float, counts: ArrayLike
) -> BatchNormGatherStatsResult: ...
def batch_norm_reduce(
    x: ArrayLike
) -> BatchNormReduceResult: ...
def batch_norm_reduce_backward(
    grad_out: ArrayLike, input: ArrayLike, mean: ArrayLike, invstd: ArrayLike,
    weight: ArrayLike | None = None, input_g: bool = True, weight_g: bool = True,
    bias_g: bool = True
) -> BatchNormReduceGrads: ...
def batch_norm_stats(
    input: ArrayLike, eps: float = 1e-05
) -> BatchNormStatsResult: ...
def deep_norm(
    x: ArrayLike, gx: ArrayLike, beta: ArrayLike, gamma: ArrayLike, alpha: float = 0.3,
    epsilon: float = 1e-06
) -> DeepNormResult: ...
def deep_norm_grad(
    dy: ArrayLike, x: ArrayLike, gx: ArrayLike, gamma: ArrayLike, mean: ArrayLike, rstd: ArrayLike,
    alpha: float = 0.3
) -> DeepNormGrads: ...
def embedding_renorm(
    input: ArrayLike, indices: ArrayLike, max_norm: float, norm_type: float = 2.0, *,
    family: str | None = None
) -> _Array: ...
def fast_batch_norm_backward(
    grad_out: ArrayLike, input: ArrayLike, weight: ArrayLike | None, running_mean: ArrayLike | None,
    running_var: ArrayLike | None, save_mean: ArrayLike | None, save_invstd: ArrayLike | None,
    training: bool = True, eps: float = 1e-05, *, output_mask: Sequence[bool] = (True, True, True),
    family: str | None = None
) -> BatchNormGrads: ...
def fast_layer_norm(
    input: ArrayLike, normalized_shape: Sequence[int], weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, eps: float = 1e-05
) -> LayerNormResult: ...
def foreach_norm(
    x: Sequence[ArrayLike], scalar: float = 2, *, family: str | None = None
) -> list[_Array]: ...
def gemma_rms_norm(
    x: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-06
) -> RmsNormResult: ...
def group_norm(
    input: ArrayLike, num_groups: int, weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, eps: float = 1e-05, *, family: str | None = None
) -> GroupNormResult: ...
def group_norm_backward(
    grad_out: ArrayLike, input: ArrayLike, mean: ArrayLike, rstd: ArrayLike,
    weight: ArrayLike | None, num_groups: int, *, output_mask: Sequence[bool] = (True, True, True),
    family: str | None = None
) -> GroupNormGrads: ...
def group_norm_silu(
    input: ArrayLike, gamma: ArrayLike | None, beta: ArrayLike | None, group: int,
    eps: float = 1e-05, *, family: str | None = None
) -> GroupNormResult: ...
def group_norm_silu_quant(
    input: ArrayLike, gamma: ArrayLike | None, beta: ArrayLike | None, quant_scale: ArrayLike,
    group: int, eps: float = 1e-05
) -> GroupNormResult: ...
def group_norm_silu_v2(
    input: ArrayLike, gamma: ArrayLike | None, beta: ArrayLike | None, group: int,
    eps: float = 1e-05, activate_silu: bool = True, *, family: str | None = None
) -> GroupNormResult: ...
def group_norm_swish(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, num_groups: int, eps: float = 1e-05,
    activate_swish: bool = True, swish_scale: float = 1.0
) -> GroupNormSwishResult: ...
def group_norm_swish_grad(
    dy: ArrayLike, mean: ArrayLike, rstd: ArrayLike, x: ArrayLike, gamma: ArrayLike,
    beta: ArrayLike, num_groups: int, swish_scale: float = 1.0, dgamma_is_require: bool = True,
    dbeta_is_require: bool = True, *, family: str | None = None
) -> GroupNormSwishGrads: ...
def inplace_add_rms_norm(
    x1: ArrayLike, x2: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-06, *,
    family: str | None = None
) -> InplaceAddRmsNormResult: ...
def inplace_renorm(
    input: ArrayLike, p: float, dim: int, maxnorm: float, *, family: str | None = None
) -> _Array: ...
def instance_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, data_format: str = "NCHW", eps: float = 1e-05
) -> InstanceNormResult: ...
def layer_norm(
    input: ArrayLike, normalized_shape: Sequence[int], weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, eps: float = 1e-05
) -> LayerNormResult: ...
def layer_norm_backward(
    grad_out: ArrayLike, input: ArrayLike, normalized_shape: Sequence[int], mean: ArrayLike,
    rstd: ArrayLike, weight: ArrayLike | None = None, bias: ArrayLike | None = None, *,
    output_mask: Sequence[bool] = (True, True, True)
) -> LayerNormGrads: ...
def layer_norm_quant(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, scale: ArrayLike,
    zero_points: ArrayLike | None = None, epsilon: float = 1e-05
) -> _Array: ...
def layer_norm_with_impl_mode(
    input: ArrayLike, normalized_shape: Sequence[int], weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, eps: float = 1e-05, impl_mode: int = 0
) -> LayerNormResult: ...
def linalg_vector_norm(
    input: ArrayLike, ord: float = 2, dim: int | Sequence[int] | None = None, keepdim: bool = False,
    *, dtype: DTypeLike | None = None, family: str | None = None
) -> _Array: ...
def norm(
    input: ArrayLike, p: float = 2, dim: int | Sequence[int] | None = None, keepdim: bool = False,
    *, dtype: DTypeLike | None = None, family: str | None = None
) -> _Array: ...
def quantized_batch_norm(
    input: ArrayLike, mean: ArrayLike, var: ArrayLike, input_scale: float, input_zero_point: float,
    output_scale: float, output_zero_point: float, weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, epsilon: float = 1e-05, *, dtype: DTypeLike | None = None
) -> _Array: ...
def renorm(
    input: ArrayLike, p: float, dim: int, maxnorm: float, *, family: str | None = None
) -> _Array: ...
def rms_norm(
    x: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-06
) -> RmsNormResult: ...
def rms_norm_dynamic_mx_quant(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike | None = None, epsilon: float = 1e-06,
    scale_alg: int = 0, round_mode: str = "rint", output_rstd: bool = False, *,
    dtype: DTypeLike | None = None
) -> RmsNormDynamicMxQuantResult: ...
def rms_norm_dynamic_quant(
    x: ArrayLike, gamma: ArrayLike, smooth_scales: ArrayLike | None = None,
    beta: ArrayLike | None = None, epsilon: float = 1e-06
) -> RmsNormDynamicQuantResult: ...
def rms_norm_grad(
    dy: ArrayLike, x: ArrayLike, rstd: ArrayLike, gamma: ArrayLike
) -> RmsNormGrads: ...
def rms_norm_grad_quant(
    dy: ArrayLike, x: ArrayLike, rstd: ArrayLike, gamma: ArrayLike, scales_x: ArrayLike,
    offset_x: ArrayLike | None = None, div_mode: bool = True
) -> RmsNormGradQuantResult: ...
def rms_norm_quant(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, scale: ArrayLike, offset: ArrayLike,
    epsilon: float = 1e-06, *, dtype: DTypeLike | None = "int8"
) -> _Array: ...
def rms_norm_quant_v3(
    x: ArrayLike, gamma: ArrayLike, scale: ArrayLike, offset: ArrayLike | None = None,
    beta: ArrayLike | None = None, epsilon: float = 1e-06, div_mode: bool = True,
    output_rstd: bool = False, *, dtype: DTypeLike | None = "int8"
) -> RmsNormQuantV3Result: ...
def sync_batch_norm_gather_stats(
    total_sum: ArrayLike, total_square_sum: ArrayLike, sample_count: ArrayLike, mean: ArrayLike,
    variance: ArrayLike, momentum: float = 0.1, eps: float = 1e-05
) -> SyncBatchNormGatherStatsResult: ...
