# SPDX-License-Identifier: Apache-2.0
# Written by "python -m pyaclnn.ops.stub" from the descriptions in pyaclnn.facts.operators.
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.dlpack import SupportsDLPack
from pyaclnn.runtime.foreign import StreamLike

_A = TypeVar("_A")
_Array: TypeAlias = NDArray[Any]
_Host: TypeAlias = NDArray[Any] | SupportsDLPack
_MaybeNone: TypeAlias = Any  # None where a mask or an option leaves the result out
_Real: TypeAlias = float | np.floating[Any] | np.integer[Any]

__all__ = [
    "AdaLayerNormGradients",
    "AdaLayerNormQuantResult",
    "AdaLayerNormV2Result",
    "AddLayerNormGradients",
    "AddLayerNormQuantResult",
    "AddLayerNormQuantV2Result",
    "AddLayerNormResult",
    "AddRmsNormCastResult",
    "AddRmsNormDynamicMxQuantResult",
    "AddRmsNormDynamicQuantResult",
    "AddRmsNormDynamicQuantV2Result",
    "AddRmsNormQuantResult",
    "AddRmsNormQuantV2Result",
    "AddRmsNormResult",
    "BatchNormGatherStatsResult",
    "BatchNormGradients",
    "BatchNormReduceGradients",
    "BatchNormReduceResult",
    "BatchNormResult",
    "BatchNormStatsResult",
    "DeepNormGradients",
    "DeepNormResult",
    "GemmaRmsNormResult",
    "GroupNormGradients",
    "GroupNormResult",
    "GroupNormSiluQuantResult",
    "GroupNormSiluResult",
    "GroupNormSiluV2Result",
    "GroupNormSwishGradients",
    "GroupNormSwishResult",
    "InstanceNormResult",
    "LayerNormGradients",
    "LayerNormResult",
    "RmsNormDynamicMxQuantResult",
    "RmsNormDynamicQuantResult",
    "RmsNormGradQuantResult",
    "RmsNormGradients",
    "RmsNormQuantV3Result",
    "RmsNormResult",
    "SyncBatchNormGatherStatsResult",
    "ada_layer_norm",
    "ada_layer_norm_backward",
    "ada_layer_norm_quant",
    "ada_layer_norm_v2",
    "add_layer_norm",
    "add_layer_norm_grad",
    "add_layer_norm_quant",
    "add_layer_norm_quant_v2",
    "add_rms_norm",
    "add_rms_norm_cast",
    "add_rms_norm_dynamic_mx_quant",
    "add_rms_norm_dynamic_quant",
    "add_rms_norm_dynamic_quant_v2",
    "add_rms_norm_quant",
    "add_rms_norm_quant_v2",
    "batch_norm",
    "batch_norm_backward",
    "batch_norm_elemt",
    "batch_norm_elemt_backward",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_reduce",
    "batch_norm_reduce_backward",
    "batch_norm_stats",
    "deep_norm",
    "deep_norm_grad",
    "embedding_renorm",
    "fast_batch_norm_backward",
    "fast_layer_norm",
    "foreach_norm",
    "gemma_rms_norm",
    "group_norm",
    "group_norm_backward",
    "group_norm_silu",
    "group_norm_silu_quant",
    "group_norm_silu_v2",
    "group_norm_swish",
    "group_norm_swish_grad",
    "inplace_add_rms_norm",
    "inplace_renorm",
    "instance_norm",
    "layer_norm",
    "layer_norm_backward",
    "layer_norm_quant",
    "layer_norm_with_impl_mode",
    "linalg_vector_norm",
    "norm",
    "quantized_batch_norm",
    "renorm",
    "rms_norm",
    "rms_norm_dynamic_mx_quant",
    "rms_norm_dynamic_quant",
    "rms_norm_grad",
    "rms_norm_grad_quant",
    "rms_norm_quant",
    "rms_norm_quant_v3",
    "sync_batch_norm_gather_stats",
]

class AdaLayerNormGradients(NamedTuple, Generic[_A]):
    grad_input: _A
    grad_scale: _A
    grad_shift: _A
    grad_weight: _A
    grad_bias: _A

class AdaLayerNormQuantResult(NamedTuple, Generic[_A]):
    out: _A
    quant_scale: _A

class AdaLayerNormV2Result(NamedTuple, Generic[_A]):
    out: _A
    mean: _A
    rstd: _A

class AddLayerNormGradients(NamedTuple, Generic[_A]):
    dx: _A
    dgamma: _A
    dbeta: _A

class AddLayerNormQuantResult(NamedTuple, Generic[_A]):
    y1: _A
    y2: _A | _MaybeNone
    x: _A | _MaybeNone
    out_scales1: _A | _MaybeNone
    out_scales2: _A | _MaybeNone

class AddLayerNormQuantV2Result(NamedTuple, Generic[_A]):
    y1: _A
    y2: _A | _MaybeNone
    x: _A | _MaybeNone
    layernorm_res: _A
    out_scales1: _A | _MaybeNone
    out_scales2: _A | _MaybeNone

class AddLayerNormResult(NamedTuple, Generic[_A]):
    y: _A
    mean: _A
    rstd: _A
    x: _A | _MaybeNone

class AddRmsNormCastResult(NamedTuple, Generic[_A]):
    y1: _A
    y2: _A
    rstd: _A
    x: _A

class AddRmsNormDynamicMxQuantResult(NamedTuple, Generic[_A]):
    y: _A
    x: _A
    mxscale: _A
    rstd: _A | _MaybeNone

class AddRmsNormDynamicQuantResult(NamedTuple, Generic[_A]):
    y1: _A
    y2: _A | _MaybeNone
    x: _A
    scale1: _A
    scale2: _A | _MaybeNone

class AddRmsNormDynamicQuantV2Result(NamedTuple, Generic[_A]):
    y1: _A | _MaybeNone
    y2: _A | _MaybeNone
    x: _A
    scale1: _A | _MaybeNone
    scale2: _A | _MaybeNone

class AddRmsNormQuantResult(NamedTuple, Generic[_A]):
    y1: _A
    y2: _A | _MaybeNone
    x: _A

class AddRmsNormQuantV2Result(NamedTuple, Generic[_A]):
    y1: _A
    y2: _A | _MaybeNone
    x: _A
    rms_norm: _A | _MaybeNone

class AddRmsNormResult(NamedTuple, Generic[_A]):
    y: _A
    rstd: _A
    x: _A

class BatchNormGatherStatsResult(NamedTuple, Generic[_A]):
    mean_all: _A
    invstd_all: _A

class BatchNormGradients(NamedTuple, Generic[_A]):
    grad_input: _A
    grad_weight: _A
    grad_bias: _A

class BatchNormReduceGradients(NamedTuple, Generic[_A]):
    sum_dy: _A | _MaybeNone
    sum_dy_xmu: _A | _MaybeNone
    grad_weight: _A | _MaybeNone
    grad_bias: _A | _MaybeNone

class BatchNormReduceResult(NamedTuple, Generic[_A]):
    sum: _A
    square_sum: _A

class BatchNormResult(NamedTuple, Generic[_A]):
    output: _A
    save_mean: _A | _MaybeNone
    save_invstd: _A | _MaybeNone

class BatchNormStatsResult(NamedTuple, Generic[_A]):
    mean: _A
    invstd: _A

class DeepNormGradients(NamedTuple, Generic[_A]):
    dx: _A
    dgx: _A
    dbeta: _A
    dgamma: _A

class DeepNormResult(NamedTuple, Generic[_A]):
    mean: _A
    rstd: _A
    y: _A

class GemmaRmsNormResult(NamedTuple, Generic[_A]):
    y: _A
    rstd: _A

class GroupNormGradients(NamedTuple, Generic[_A]):
    grad_input: _A
    grad_weight: _A
    grad_bias: _A

class GroupNormResult(NamedTuple, Generic[_A]):
    out: _A
    mean: _A
    rstd: _A

class GroupNormSiluQuantResult(NamedTuple, Generic[_A]):
    out: _A
    mean: _A
    rstd: _A

class GroupNormSiluResult(NamedTuple, Generic[_A]):
    out: _A
    mean: _A
    rstd: _A

class GroupNormSiluV2Result(NamedTuple, Generic[_A]):
    out: _A
    mean: _A
    rstd: _A

class GroupNormSwishGradients(NamedTuple, Generic[_A]):
    dx: _A
    dgamma: _A | _MaybeNone
    dbeta: _A | _MaybeNone

class GroupNormSwishResult(NamedTuple, Generic[_A]):
    y: _A
    mean: _A
    rstd: _A

class InstanceNormResult(NamedTuple, Generic[_A]):
    y: _A
    mean: _A
    variance: _A

class LayerNormGradients(NamedTuple, Generic[_A]):
    grad_input: _A
    grad_weight: _A
    grad_bias: _A

class LayerNormResult(NamedTuple, Generic[_A]):
    out: _A
    mean: _A
    rstd: _A

class RmsNormDynamicMxQuantResult(NamedTuple, Generic[_A]):
    y: _A
    mxscale: _A
    rstd: _A | _MaybeNone

class RmsNormDynamicQuantResult(NamedTuple, Generic[_A]):
    y: _A
    scale: _A

class RmsNormGradQuantResult(NamedTuple, Generic[_A]):
    dx: _A
    dgamma: _A

class RmsNormGradients(NamedTuple, Generic[_A]):
    dx: _A
    dgamma: _A

class RmsNormQuantV3Result(NamedTuple, Generic[_A]):
    y: _A
    rstd: _A | _MaybeNone

class RmsNormResult(NamedTuple, Generic[_A]):
    y: _A
    rstd: _A

class SyncBatchNormGatherStatsResult(NamedTuple, Generic[_A]):
    batch_mean: _A
    batch_invstd: _A

@overload
def ada_layer_norm(  # facts/operators/norm/ada_layer_norm.py
    x: DeviceArray, scale: DeviceArray, shift: DeviceArray, weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, epsilon: _Real = 1e-05, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def ada_layer_norm(  # facts/operators/norm/ada_layer_norm.py
    x: _Host, scale: _Host, shift: _Host, weight: _Host | None = None, bias: _Host | None = None,
    epsilon: _Real = 1e-05, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def ada_layer_norm_backward(  # facts/operators/norm/ada_layer_norm.py
    grad_out: DeviceArray, input: DeviceArray, normalized_shape: int | Sequence[int],
    rstd: DeviceArray, mean: DeviceArray, scale: DeviceArray, shift: DeviceArray,
    weight: DeviceArray | None = None, bias: DeviceArray | None = None, *,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> AdaLayerNormGradients[DeviceArray]: ...
@overload
def ada_layer_norm_backward(  # facts/operators/norm/ada_layer_norm.py
    grad_out: _Host, input: _Host, normalized_shape: int | Sequence[int], rstd: _Host, mean: _Host,
    scale: _Host, shift: _Host, weight: _Host | None = None, bias: _Host | None = None, *,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AdaLayerNormGradients[_Array]: ...
@overload
def ada_layer_norm_quant(  # facts/operators/norm/ada_layer_norm.py
    x: DeviceArray, scale: DeviceArray, shift: DeviceArray, weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, smooth_scales: DeviceArray | None = None,
    epsilon: _Real = 1e-05, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> AdaLayerNormQuantResult[DeviceArray]: ...
@overload
def ada_layer_norm_quant(  # facts/operators/norm/ada_layer_norm.py
    x: _Host, scale: _Host, shift: _Host, weight: _Host | None = None, bias: _Host | None = None,
    smooth_scales: _Host | None = None, epsilon: _Real = 1e-05, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AdaLayerNormQuantResult[_Array]: ...
@overload
def ada_layer_norm_v2(  # facts/operators/norm/ada_layer_norm.py
    x: DeviceArray, scale: DeviceArray, shift: DeviceArray, weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, epsilon: _Real = 1e-05, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> AdaLayerNormV2Result[DeviceArray]: ...
@overload
def ada_layer_norm_v2(  # facts/operators/norm/ada_layer_norm.py
    x: _Host, scale: _Host, shift: _Host, weight: _Host | None = None, bias: _Host | None = None,
    epsilon: _Real = 1e-05, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> AdaLayerNormV2Result[_Array]: ...
@overload
def add_layer_norm(  # facts/operators/norm/add_layer_norm.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, beta: DeviceArray,
    bias: DeviceArray | None = None, epsilon: _Real = 1e-05, additional_output: bool = False, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> AddLayerNormResult[DeviceArray]: ...
@overload
def add_layer_norm(  # facts/operators/norm/add_layer_norm.py
    x1: _Host, x2: _Host, gamma: _Host, beta: _Host, bias: _Host | None = None,
    epsilon: _Real = 1e-05, additional_output: bool = False, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AddLayerNormResult[_Array]: ...
@overload
def add_layer_norm_grad(  # facts/operators/norm/add_layer_norm.py
    dy: DeviceArray, x1: DeviceArray, x2: DeviceArray, rstd: DeviceArray, mean: DeviceArray,
    gamma: DeviceArray, dsum: DeviceArray | None = None, *, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> AddLayerNormGradients[DeviceArray]: ...
@overload
def add_layer_norm_grad(  # facts/operators/norm/add_layer_norm.py
    dy: _Host, x1: _Host, x2: _Host, rstd: _Host, mean: _Host, gamma: _Host,
    dsum: _Host | None = None, *, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> AddLayerNormGradients[_Array]: ...
@overload
def add_layer_norm_quant(  # facts/operators/norm/layer_norm_quant.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, beta: DeviceArray,
    bias: DeviceArray | None = None, scales1: DeviceArray | None = None,
    scales2: DeviceArray | None = None, zero_points1: DeviceArray | None = None,
    zero_points2: DeviceArray | None = None, quant_mode: str = "static", epsilon: _Real = 1e-05,
    additional_output: bool = False, div_mode: bool = True, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> AddLayerNormQuantResult[DeviceArray]: ...
@overload
def add_layer_norm_quant(  # facts/operators/norm/layer_norm_quant.py
    x1: _Host, x2: _Host, gamma: _Host, beta: _Host, bias: _Host | None = None,
    scales1: _Host | None = None, scales2: _Host | None = None, zero_points1: _Host | None = None,
    zero_points2: _Host | None = None, quant_mode: str = "static", epsilon: _Real = 1e-05,
    additional_output: bool = False, div_mode: bool = True, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AddLayerNormQuantResult[_Array]: ...
@overload
def add_layer_norm_quant_v2(  # facts/operators/norm/layer_norm_quant.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, beta: DeviceArray,
    bias: DeviceArray | None = None, scales1: DeviceArray | None = None,
    zero_points1: DeviceArray | None = None, quant_mode: str = "static", epsilon: _Real = 1e-05,
    additional_output: bool = False, div_mode: bool = False, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> AddLayerNormQuantV2Result[DeviceArray]: ...
@overload
def add_layer_norm_quant_v2(  # facts/operators/norm/layer_norm_quant.py
    x1: _Host, x2: _Host, gamma: _Host, beta: _Host, bias: _Host | None = None,
    scales1: _Host | None = None, zero_points1: _Host | None = None, quant_mode: str = "static",
    epsilon: _Real = 1e-05, additional_output: bool = False, div_mode: bool = False, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> AddLayerNormQuantV2Result[_Array]: ...
@overload
def add_rms_norm(  # facts/operators/norm/add_rms_norm.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, epsilon: _Real = 1e-06, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> AddRmsNormResult[DeviceArray]: ...
@overload
def add_rms_norm(  # facts/operators/norm/add_rms_norm.py
    x1: _Host, x2: _Host, gamma: _Host, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AddRmsNormResult[_Array]: ...
@overload
def add_rms_norm_cast(  # facts/operators/norm/add_rms_norm.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, epsilon: _Real = 1e-06, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> AddRmsNormCastResult[DeviceArray]: ...
@overload
def add_rms_norm_cast(  # facts/operators/norm/add_rms_norm.py
    x1: _Host, x2: _Host, gamma: _Host, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AddRmsNormCastResult[_Array]: ...
@overload
def add_rms_norm_dynamic_mx_quant(  # facts/operators/norm/rms_norm_dynamic_mx_quant.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, beta: DeviceArray | None = None,
    epsilon: _Real = 1e-06, scale_alg: int = 0, round_mode: str = "rint", *,
    dtype: DTypeLike | None = None, output_rstd: bool = False, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> AddRmsNormDynamicMxQuantResult[DeviceArray]: ...
@overload
def add_rms_norm_dynamic_mx_quant(  # facts/operators/norm/rms_norm_dynamic_mx_quant.py
    x1: _Host, x2: _Host, gamma: _Host, beta: _Host | None = None, epsilon: _Real = 1e-06,
    scale_alg: int = 0, round_mode: str = "rint", *, dtype: DTypeLike | None = None,
    output_rstd: bool = False, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> AddRmsNormDynamicMxQuantResult[_Array]: ...
@overload
def add_rms_norm_dynamic_quant(  # facts/operators/norm/add_rms_norm_quant.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, smooth_scale1: DeviceArray | None = None,
    smooth_scale2: DeviceArray | None = None, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> AddRmsNormDynamicQuantResult[DeviceArray]: ...
@overload
def add_rms_norm_dynamic_quant(  # facts/operators/norm/add_rms_norm_quant.py
    x1: _Host, x2: _Host, gamma: _Host, smooth_scale1: _Host | None = None,
    smooth_scale2: _Host | None = None, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AddRmsNormDynamicQuantResult[_Array]: ...
@overload
def add_rms_norm_dynamic_quant_v2(  # facts/operators/norm/add_rms_norm_quant.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, smooth_scale1: DeviceArray | None = None,
    smooth_scale2: DeviceArray | None = None, beta: DeviceArray | None = None,
    epsilon: _Real = 1e-06, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> AddRmsNormDynamicQuantV2Result[DeviceArray]: ...
@overload
def add_rms_norm_dynamic_quant_v2(  # facts/operators/norm/add_rms_norm_quant.py
    x1: _Host, x2: _Host, gamma: _Host, smooth_scale1: _Host | None = None,
    smooth_scale2: _Host | None = None, beta: _Host | None = None, epsilon: _Real = 1e-06, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> AddRmsNormDynamicQuantV2Result[_Array]: ...
@overload
def add_rms_norm_dynamic_quant_v2(  # facts/operators/norm/add_rms_norm_quant.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, smooth_scale1: DeviceArray | None = None,
    smooth_scale2: DeviceArray | None = None, beta: DeviceArray | None = None,
    epsilon: _Real = 1e-06, *, output_mask: tuple[bool, bool] | list[bool],
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> AddRmsNormDynamicQuantV2Result[DeviceArray | _MaybeNone]: ...
@overload
def add_rms_norm_dynamic_quant_v2(  # facts/operators/norm/add_rms_norm_quant.py
    x1: _Host, x2: _Host, gamma: _Host, smooth_scale1: _Host | None = None,
    smooth_scale2: _Host | None = None, beta: _Host | None = None, epsilon: _Real = 1e-06, *,
    output_mask: tuple[bool, bool] | list[bool], eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AddRmsNormDynamicQuantV2Result[_Array | _MaybeNone]: ...
@overload
def add_rms_norm_quant(  # facts/operators/norm/add_rms_norm_quant.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, scales1: DeviceArray,
    scales2: DeviceArray | None = None, zero_points1: DeviceArray | None = None,
    zero_points2: DeviceArray | None = None, epsilon: _Real = 1e-06, div_mode: bool = True, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> AddRmsNormQuantResult[DeviceArray]: ...
@overload
def add_rms_norm_quant(  # facts/operators/norm/add_rms_norm_quant.py
    x1: _Host, x2: _Host, gamma: _Host, scales1: _Host, scales2: _Host | None = None,
    zero_points1: _Host | None = None, zero_points2: _Host | None = None, epsilon: _Real = 1e-06,
    div_mode: bool = True, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> AddRmsNormQuantResult[_Array]: ...
@overload
def add_rms_norm_quant_v2(  # facts/operators/norm/add_rms_norm_quant.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, scales1: DeviceArray,
    scales2: DeviceArray | None = None, zero_points1: DeviceArray | None = None,
    zero_points2: DeviceArray | None = None, beta: DeviceArray | None = None,
    epsilon: _Real = 1e-06, div_mode: bool = True, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> AddRmsNormQuantV2Result[DeviceArray]: ...
@overload
def add_rms_norm_quant_v2(  # facts/operators/norm/add_rms_norm_quant.py
    x1: _Host, x2: _Host, gamma: _Host, scales1: _Host, scales2: _Host | None = None,
    zero_points1: _Host | None = None, zero_points2: _Host | None = None, beta: _Host | None = None,
    epsilon: _Real = 1e-06, div_mode: bool = True, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> AddRmsNormQuantV2Result[_Array]: ...
@overload
def batch_norm(  # facts/operators/norm/batch_norm.py
    input: DeviceArray, running_mean: DeviceArray | None = None,
    running_var: DeviceArray | None = None, weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, training: bool = False, momentum: _Real = 0.1,
    eps: _Real = 1e-05, *, epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> BatchNormResult[DeviceArray]: ...
@overload
def batch_norm(  # facts/operators/norm/batch_norm.py
    input: _Host, running_mean: _Host | None = None, running_var: _Host | None = None,
    weight: _Host | None = None, bias: _Host | None = None, training: bool = False,
    momentum: _Real = 0.1, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> BatchNormResult[_Array]: ...
@overload
def batch_norm_backward(  # facts/operators/norm/batch_norm.py
    grad_out: DeviceArray, input: DeviceArray, weight: DeviceArray | None = None,
    running_mean: DeviceArray | None = None, running_var: DeviceArray | None = None,
    save_mean: DeviceArray | None = None, save_invstd: DeviceArray | None = None,
    training: bool = True, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    saved: BatchNormResult[DeviceArray] | Mapping[str, DeviceArray] | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> BatchNormGradients[DeviceArray]: ...
@overload
def batch_norm_backward(  # facts/operators/norm/batch_norm.py
    grad_out: _Host, input: _Host, weight: _Host | None = None, running_mean: _Host | None = None,
    running_var: _Host | None = None, save_mean: _Host | None = None,
    save_invstd: _Host | None = None, training: bool = True, eps: _Real = 1e-05, *,
    epsilon: _Real | None = None,
    saved: BatchNormResult[_Array] | Mapping[str, _Host] | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> BatchNormGradients[_Array]: ...
@overload
def batch_norm_backward(  # facts/operators/norm/batch_norm.py
    grad_out: DeviceArray, input: DeviceArray, weight: DeviceArray | None = None,
    running_mean: DeviceArray | None = None, running_var: DeviceArray | None = None,
    save_mean: DeviceArray | None = None, save_invstd: DeviceArray | None = None,
    training: bool = True, eps: _Real = 1e-05, *, output_mask: tuple[bool, bool, bool] | list[bool],
    epsilon: _Real | None = None,
    saved: BatchNormResult[DeviceArray] | Mapping[str, DeviceArray] | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> BatchNormGradients[DeviceArray | _MaybeNone]: ...
@overload
def batch_norm_backward(  # facts/operators/norm/batch_norm.py
    grad_out: _Host, input: _Host, weight: _Host | None = None, running_mean: _Host | None = None,
    running_var: _Host | None = None, save_mean: _Host | None = None,
    save_invstd: _Host | None = None, training: bool = True, eps: _Real = 1e-05, *,
    output_mask: tuple[bool, bool, bool] | list[bool], epsilon: _Real | None = None,
    saved: BatchNormResult[_Array] | Mapping[str, _Host] | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> BatchNormGradients[_Array | _MaybeNone]: ...
@overload
def batch_norm_elemt(  # facts/operators/norm/batch_norm_elemt.py
    input: DeviceArray, mean: DeviceArray, invstd: DeviceArray, weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def batch_norm_elemt(  # facts/operators/norm/batch_norm_elemt.py
    input: _Host, mean: _Host, invstd: _Host, weight: _Host | None = None,
    bias: _Host | None = None, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def batch_norm_elemt_backward(  # facts/operators/norm/batch_norm_elemt.py
    grad_out: DeviceArray, input: DeviceArray, mean: DeviceArray, invstd: DeviceArray,
    sum_dy: DeviceArray, sum_dy_xmu: DeviceArray, counter: DeviceArray,
    weight: DeviceArray | None = None, *, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def batch_norm_elemt_backward(  # facts/operators/norm/batch_norm_elemt.py
    grad_out: _Host, input: _Host, mean: _Host, invstd: _Host, sum_dy: _Host, sum_dy_xmu: _Host,
    counter: _Host, weight: _Host | None = None, *, stream: StreamLike | None = None,
    out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def batch_norm_gather_stats_with_counts(  # facts/operators/norm/batch_norm_stats.py
    input: DeviceArray, mean: DeviceArray, invstd: DeviceArray, counts: DeviceArray,
    running_mean: DeviceArray | None = None, running_var: DeviceArray | None = None,
    momentum: _Real = 0.1, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> BatchNormGatherStatsResult[DeviceArray]: ...
@overload
def batch_norm_gather_stats_with_counts(  # facts/operators/norm/batch_norm_stats.py
    input: _Host, mean: _Host, invstd: _Host, counts: _Host, running_mean: _Host | None = None,
    running_var: _Host | None = None, momentum: _Real = 0.1, eps: _Real = 1e-05, *,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> BatchNormGatherStatsResult[_Array]: ...
@overload
def batch_norm_reduce(  # facts/operators/norm/batch_norm_reduce.py
    x: DeviceArray, *, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> BatchNormReduceResult[DeviceArray]: ...
@overload
def batch_norm_reduce(  # facts/operators/norm/batch_norm_reduce.py
    x: _Host, *, stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> BatchNormReduceResult[_Array]: ...
@overload
def batch_norm_reduce_backward(  # facts/operators/norm/batch_norm_reduce.py
    grad_out: DeviceArray, input: DeviceArray, mean: DeviceArray, invstd: DeviceArray,
    weight: DeviceArray | None = None, input_g: bool = True, weight_g: bool = True,
    bias_g: bool = True, *, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> BatchNormReduceGradients[DeviceArray]: ...
@overload
def batch_norm_reduce_backward(  # facts/operators/norm/batch_norm_reduce.py
    grad_out: _Host, input: _Host, mean: _Host, invstd: _Host, weight: _Host | None = None,
    input_g: bool = True, weight_g: bool = True, bias_g: bool = True, *,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> BatchNormReduceGradients[_Array]: ...
@overload
def batch_norm_stats(  # facts/operators/norm/batch_norm_stats.py
    input: DeviceArray, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> BatchNormStatsResult[DeviceArray]: ...
@overload
def batch_norm_stats(  # facts/operators/norm/batch_norm_stats.py
    input: _Host, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> BatchNormStatsResult[_Array]: ...
@overload
def deep_norm(  # facts/operators/norm/deep_norm.py
    x: DeviceArray, gx: DeviceArray, beta: DeviceArray, gamma: DeviceArray, alpha: _Real = 0.3,
    epsilon: _Real = 1e-06, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> DeepNormResult[DeviceArray]: ...
@overload
def deep_norm(  # facts/operators/norm/deep_norm.py
    x: _Host, gx: _Host, beta: _Host, gamma: _Host, alpha: _Real = 0.3, epsilon: _Real = 1e-06, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> DeepNormResult[_Array]: ...
@overload
def deep_norm_grad(  # facts/operators/norm/deep_norm.py
    dy: DeviceArray, x: DeviceArray, gx: DeviceArray, gamma: DeviceArray, mean: DeviceArray,
    rstd: DeviceArray, alpha: _Real = 0.3, *, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> DeepNormGradients[DeviceArray]: ...
@overload
def deep_norm_grad(  # facts/operators/norm/deep_norm.py
    dy: _Host, x: _Host, gx: _Host, gamma: _Host, mean: _Host, rstd: _Host, alpha: _Real = 0.3, *,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> DeepNormGradients[_Array]: ...
@overload
def embedding_renorm(  # facts/operators/norm/renorm.py
    input: DeviceArray, indices: DeviceArray, max_norm: _Real, norm_type: _Real = 2.0, *,
    stream: StreamLike | None = None
) -> DeviceArray: ...
@overload
def embedding_renorm(  # facts/operators/norm/renorm.py
    input: _Host, indices: _Host, max_norm: _Real, norm_type: _Real = 2.0, *,
    stream: StreamLike | None = None
) -> _Array: ...
@overload
def fast_batch_norm_backward(  # facts/operators/norm/batch_norm.py
    grad_out: DeviceArray, input: DeviceArray, weight: DeviceArray | None = None,
    running_mean: DeviceArray | None = None, running_var: DeviceArray | None = None,
    save_mean: DeviceArray | None = None, save_invstd: DeviceArray | None = None,
    training: bool = True, eps: _Real = 1e-05, *, version: int = 0, epsilon: _Real | None = None,
    saved: BatchNormResult[DeviceArray] | Mapping[str, DeviceArray] | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> BatchNormGradients[DeviceArray]: ...
@overload
def fast_batch_norm_backward(  # facts/operators/norm/batch_norm.py
    grad_out: _Host, input: _Host, weight: _Host | None = None, running_mean: _Host | None = None,
    running_var: _Host | None = None, save_mean: _Host | None = None,
    save_invstd: _Host | None = None, training: bool = True, eps: _Real = 1e-05, *,
    version: int = 0, epsilon: _Real | None = None,
    saved: BatchNormResult[_Array] | Mapping[str, _Host] | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> BatchNormGradients[_Array]: ...
@overload
def fast_batch_norm_backward(  # facts/operators/norm/batch_norm.py
    grad_out: DeviceArray, input: DeviceArray, weight: DeviceArray | None = None,
    running_mean: DeviceArray | None = None, running_var: DeviceArray | None = None,
    save_mean: DeviceArray | None = None, save_invstd: DeviceArray | None = None,
    training: bool = True, eps: _Real = 1e-05, *, output_mask: tuple[bool, bool, bool] | list[bool],
    version: int = 0, epsilon: _Real | None = None,
    saved: BatchNormResult[DeviceArray] | Mapping[str, DeviceArray] | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> BatchNormGradients[DeviceArray | _MaybeNone]: ...
@overload
def fast_batch_norm_backward(  # facts/operators/norm/batch_norm.py
    grad_out: _Host, input: _Host, weight: _Host | None = None, running_mean: _Host | None = None,
    running_var: _Host | None = None, save_mean: _Host | None = None,
    save_invstd: _Host | None = None, training: bool = True, eps: _Real = 1e-05, *,
    output_mask: tuple[bool, bool, bool] | list[bool], version: int = 0,
    epsilon: _Real | None = None,
    saved: BatchNormResult[_Array] | Mapping[str, _Host] | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> BatchNormGradients[_Array | _MaybeNone]: ...
@overload
def fast_layer_norm(  # facts/operators/norm/layer_norm.py
    input: DeviceArray, normalized_shape: int | Sequence[int], weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> LayerNormResult[DeviceArray]: ...
@overload
def fast_layer_norm(  # facts/operators/norm/layer_norm.py
    input: _Host, normalized_shape: int | Sequence[int], weight: _Host | None = None,
    bias: _Host | None = None, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> LayerNormResult[_Array]: ...
@overload
def foreach_norm(  # facts/operators/norm/norm.py
    x: Sequence[DeviceArray], scalar: _Real = 2.0, *, ord: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> tuple[DeviceArray, ...]: ...
@overload
def foreach_norm(  # facts/operators/norm/norm.py
    x: Sequence[_Host], scalar: _Real = 2.0, *, ord: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> tuple[_Array, ...]: ...
@overload
def gemma_rms_norm(  # facts/operators/norm/rms_norm.py
    x: DeviceArray, gamma: DeviceArray, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> GemmaRmsNormResult[DeviceArray]: ...
@overload
def gemma_rms_norm(  # facts/operators/norm/rms_norm.py
    x: _Host, gamma: _Host, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> GemmaRmsNormResult[_Array]: ...
@overload
def group_norm(  # facts/operators/norm/group_norm.py
    input: DeviceArray, num_groups: int, weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, eps: _Real = 1e-05, *, group: int | None = None,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> GroupNormResult[DeviceArray]: ...
@overload
def group_norm(  # facts/operators/norm/group_norm.py
    input: _Host, num_groups: int, weight: _Host | None = None, bias: _Host | None = None,
    eps: _Real = 1e-05, *, group: int | None = None, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> GroupNormResult[_Array]: ...
@overload
def group_norm_backward(  # facts/operators/norm/group_norm.py
    grad_out: DeviceArray, input: DeviceArray, mean: DeviceArray, rstd: DeviceArray,
    num_groups: int, weight: DeviceArray | None = None, *, group: int | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> GroupNormGradients[DeviceArray]: ...
@overload
def group_norm_backward(  # facts/operators/norm/group_norm.py
    grad_out: _Host, input: _Host, mean: _Host, rstd: _Host, num_groups: int,
    weight: _Host | None = None, *, group: int | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> GroupNormGradients[_Array]: ...
@overload
def group_norm_backward(  # facts/operators/norm/group_norm.py
    grad_out: DeviceArray, input: DeviceArray, mean: DeviceArray, rstd: DeviceArray,
    num_groups: int, weight: DeviceArray | None = None, *,
    output_mask: tuple[bool, bool, bool] | list[bool], group: int | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> GroupNormGradients[DeviceArray | _MaybeNone]: ...
@overload
def group_norm_backward(  # facts/operators/norm/group_norm.py
    grad_out: _Host, input: _Host, mean: _Host, rstd: _Host, num_groups: int,
    weight: _Host | None = None, *, output_mask: tuple[bool, bool, bool] | list[bool],
    group: int | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> GroupNormGradients[_Array | _MaybeNone]: ...
@overload
def group_norm_silu(  # facts/operators/norm/group_norm.py
    input: DeviceArray, group: int, gamma: DeviceArray | None = None,
    beta: DeviceArray | None = None, eps: _Real = 1e-05, *, num_groups: int | None = None,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> GroupNormSiluResult[DeviceArray]: ...
@overload
def group_norm_silu(  # facts/operators/norm/group_norm.py
    input: _Host, group: int, gamma: _Host | None = None, beta: _Host | None = None,
    eps: _Real = 1e-05, *, num_groups: int | None = None, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> GroupNormSiluResult[_Array]: ...
@overload
def group_norm_silu_quant(  # facts/operators/norm/group_norm.py
    input: DeviceArray, quant_scale: DeviceArray, group: int, gamma: DeviceArray | None = None,
    beta: DeviceArray | None = None, eps: _Real = 1e-05, *, num_groups: int | None = None,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> GroupNormSiluQuantResult[DeviceArray]: ...
@overload
def group_norm_silu_quant(  # facts/operators/norm/group_norm.py
    input: _Host, quant_scale: _Host, group: int, gamma: _Host | None = None,
    beta: _Host | None = None, eps: _Real = 1e-05, *, num_groups: int | None = None,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> GroupNormSiluQuantResult[_Array]: ...
@overload
def group_norm_silu_v2(  # facts/operators/norm/group_norm.py
    input: DeviceArray, group: int, gamma: DeviceArray | None = None,
    beta: DeviceArray | None = None, eps: _Real = 1e-05, activate_silu: bool = True, *,
    num_groups: int | None = None, epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> GroupNormSiluV2Result[DeviceArray]: ...
@overload
def group_norm_silu_v2(  # facts/operators/norm/group_norm.py
    input: _Host, group: int, gamma: _Host | None = None, beta: _Host | None = None,
    eps: _Real = 1e-05, activate_silu: bool = True, *, num_groups: int | None = None,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> GroupNormSiluV2Result[_Array]: ...
@overload
def group_norm_swish(  # facts/operators/norm/group_norm_swish.py
    x: DeviceArray, gamma: DeviceArray, beta: DeviceArray, num_groups: int, eps: _Real = 1e-05,
    activate_swish: bool = True, swish_scale: _Real = 1.0, *, group: int | None = None,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> GroupNormSwishResult[DeviceArray]: ...
@overload
def group_norm_swish(  # facts/operators/norm/group_norm_swish.py
    x: _Host, gamma: _Host, beta: _Host, num_groups: int, eps: _Real = 1e-05,
    activate_swish: bool = True, swish_scale: _Real = 1.0, *, group: int | None = None,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> GroupNormSwishResult[_Array]: ...
@overload
def group_norm_swish_grad(  # facts/operators/norm/group_norm_swish.py
    dy: DeviceArray, mean: DeviceArray, rstd: DeviceArray, x: DeviceArray, gamma: DeviceArray,
    beta: DeviceArray, num_groups: int, swish_scale: _Real = 1.0, dgamma_is_require: bool = True,
    dbeta_is_require: bool = True, *, group: int | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> GroupNormSwishGradients[DeviceArray]: ...
@overload
def group_norm_swish_grad(  # facts/operators/norm/group_norm_swish.py
    dy: _Host, mean: _Host, rstd: _Host, x: _Host, gamma: _Host, beta: _Host, num_groups: int,
    swish_scale: _Real = 1.0, dgamma_is_require: bool = True, dbeta_is_require: bool = True, *,
    group: int | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> GroupNormSwishGradients[_Array]: ...
@overload
def inplace_add_rms_norm(  # facts/operators/norm/add_rms_norm.py
    x1: DeviceArray, x2: DeviceArray, gamma: DeviceArray, epsilon: _Real = 1e-06, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def inplace_add_rms_norm(  # facts/operators/norm/add_rms_norm.py
    x1: _Host, x2: _Host, gamma: _Host, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def inplace_renorm(  # facts/operators/norm/renorm.py
    input: DeviceArray, p: _Real, dim: int, maxnorm: _Real, *, stream: StreamLike | None = None
) -> DeviceArray: ...
@overload
def inplace_renorm(  # facts/operators/norm/renorm.py
    input: _Host, p: _Real, dim: int, maxnorm: _Real, *, stream: StreamLike | None = None
) -> _Array: ...
@overload
def instance_norm(  # facts/operators/norm/instance_norm.py
    x: DeviceArray, gamma: DeviceArray, beta: DeviceArray, data_format: str = "NCHW",
    eps: _Real = 1e-05, *, epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> InstanceNormResult[DeviceArray]: ...
@overload
def instance_norm(  # facts/operators/norm/instance_norm.py
    x: _Host, gamma: _Host, beta: _Host, data_format: str = "NCHW", eps: _Real = 1e-05, *,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> InstanceNormResult[_Array]: ...
@overload
def instance_norm(  # facts/operators/norm/instance_norm.py
    input: DeviceArray, running_mean: None = ..., running_var: None = ...,
    weight: DeviceArray | None = ..., bias: DeviceArray | None = ...,
    use_input_stats: bool | None = ..., momentum: _Real | None = ..., eps: _Real | None = ..., *,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> InstanceNormResult[DeviceArray]: ...
@overload
def instance_norm(  # facts/operators/norm/instance_norm.py
    input: _Host, running_mean: None = ..., running_var: None = ..., weight: _Host | None = ...,
    bias: _Host | None = ..., use_input_stats: bool | None = ..., momentum: _Real | None = ...,
    eps: _Real | None = ..., *, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> InstanceNormResult[_Array]: ...
@overload
def layer_norm(  # facts/operators/norm/layer_norm.py
    input: DeviceArray, normalized_shape: int | Sequence[int], weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> LayerNormResult[DeviceArray]: ...
@overload
def layer_norm(  # facts/operators/norm/layer_norm.py
    input: _Host, normalized_shape: int | Sequence[int], weight: _Host | None = None,
    bias: _Host | None = None, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> LayerNormResult[_Array]: ...
@overload
def layer_norm_backward(  # facts/operators/norm/layer_norm.py
    grad_out: DeviceArray, input: DeviceArray, normalized_shape: int | Sequence[int],
    mean: DeviceArray, rstd: DeviceArray, weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, *, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> LayerNormGradients[DeviceArray]: ...
@overload
def layer_norm_backward(  # facts/operators/norm/layer_norm.py
    grad_out: _Host, input: _Host, normalized_shape: int | Sequence[int], mean: _Host, rstd: _Host,
    weight: _Host | None = None, bias: _Host | None = None, *, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> LayerNormGradients[_Array]: ...
@overload
def layer_norm_backward(  # facts/operators/norm/layer_norm.py
    grad_out: DeviceArray, input: DeviceArray, normalized_shape: int | Sequence[int],
    mean: DeviceArray, rstd: DeviceArray, weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, *, output_mask: tuple[bool, bool, bool] | list[bool],
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> LayerNormGradients[DeviceArray | _MaybeNone]: ...
@overload
def layer_norm_backward(  # facts/operators/norm/layer_norm.py
    grad_out: _Host, input: _Host, normalized_shape: int | Sequence[int], mean: _Host, rstd: _Host,
    weight: _Host | None = None, bias: _Host | None = None, *,
    output_mask: tuple[bool, bool, bool] | list[bool], stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> LayerNormGradients[_Array | _MaybeNone]: ...
@overload
def layer_norm_quant(  # facts/operators/norm/layer_norm_quant.py
    x: DeviceArray, gamma: DeviceArray, beta: DeviceArray, scale: DeviceArray,
    zero_points: DeviceArray, epsilon: _Real = 1e-05, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def layer_norm_quant(  # facts/operators/norm/layer_norm_quant.py
    x: _Host, gamma: _Host, beta: _Host, scale: _Host, zero_points: _Host, epsilon: _Real = 1e-05,
    *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def layer_norm_with_impl_mode(  # facts/operators/norm/layer_norm.py
    input: DeviceArray, normalized_shape: int | Sequence[int], weight: DeviceArray | None = None,
    bias: DeviceArray | None = None, eps: _Real = 1e-05, impl_mode: int = 0, *,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> LayerNormResult[DeviceArray]: ...
@overload
def layer_norm_with_impl_mode(  # facts/operators/norm/layer_norm.py
    input: _Host, normalized_shape: int | Sequence[int], weight: _Host | None = None,
    bias: _Host | None = None, eps: _Real = 1e-05, impl_mode: int = 0, *,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> LayerNormResult[_Array]: ...
@overload
def linalg_vector_norm(  # facts/operators/norm/norm.py
    input: DeviceArray, ord: _Real = 2.0, dim: int | Sequence[int] | None = None,
    keepdim: bool = False, *, dtype: DTypeLike | None = None, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def linalg_vector_norm(  # facts/operators/norm/norm.py
    input: _Host, ord: _Real = 2.0, dim: int | Sequence[int] | None = None, keepdim: bool = False,
    *, dtype: DTypeLike | None = None, stream: StreamLike | None = None,
    out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def linalg_vector_norm(  # facts/operators/norm/norm.py
    x: DeviceArray, ord: _Real | None = ..., dim: int | Sequence[int] | None = ...,
    keepdim: bool | None = ..., dtype: DTypeLike | None = ..., *, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def linalg_vector_norm(  # facts/operators/norm/norm.py
    x: _Host, ord: _Real | None = ..., dim: int | Sequence[int] | None = ...,
    keepdim: bool | None = ..., dtype: DTypeLike | None = ..., *, stream: StreamLike | None = None,
    out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def norm(  # facts/operators/norm/norm.py
    input: DeviceArray, p: _Real = 2.0, dim: int | Sequence[int] | None = None,
    keepdim: bool = False, *, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def norm(  # facts/operators/norm/norm.py
    input: _Host, p: _Real = 2.0, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
    stream: StreamLike | None = None, out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def norm(  # facts/operators/norm/norm.py
    input: DeviceArray, p: _Real | str | None = ..., dim: int | Sequence[int] | None = ...,
    keepdim: bool | None = ..., dtype: None = ..., *, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def norm(  # facts/operators/norm/norm.py
    input: _Host, p: _Real | str | None = ..., dim: int | Sequence[int] | None = ...,
    keepdim: bool | None = ..., dtype: None = ..., *, stream: StreamLike | None = None,
    out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def quantized_batch_norm(  # facts/operators/norm/quantized_batch_norm.py
    input: DeviceArray, mean: DeviceArray, var: DeviceArray, input_scale: _Real,
    input_zero_point: _Real, output_scale: _Real, output_zero_point: _Real,
    weight: DeviceArray | None = None, bias: DeviceArray | None = None, epsilon: _Real = 1e-05, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def quantized_batch_norm(  # facts/operators/norm/quantized_batch_norm.py
    input: _Host, mean: _Host, var: _Host, input_scale: _Real, input_zero_point: _Real,
    output_scale: _Real, output_zero_point: _Real, weight: _Host | None = None,
    bias: _Host | None = None, epsilon: _Real = 1e-05, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def renorm(  # facts/operators/norm/renorm.py
    input: DeviceArray, p: _Real, dim: int, maxnorm: _Real, *, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def renorm(  # facts/operators/norm/renorm.py
    input: _Host, p: _Real, dim: int, maxnorm: _Real, *, stream: StreamLike | None = None,
    out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def rms_norm(  # facts/operators/norm/rms_norm.py
    x: DeviceArray, gamma: DeviceArray, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> RmsNormResult[DeviceArray]: ...
@overload
def rms_norm(  # facts/operators/norm/rms_norm.py
    x: _Host, gamma: _Host, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> RmsNormResult[_Array]: ...
@overload
def rms_norm(  # facts/operators/norm/rms_norm.py
    input: DeviceArray, normalized_shape: int | Sequence[int] | None = ...,
    weight: DeviceArray | None = ..., eps: _Real | None = ..., *, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> RmsNormResult[DeviceArray]: ...
@overload
def rms_norm(  # facts/operators/norm/rms_norm.py
    input: _Host, normalized_shape: int | Sequence[int] | None = ..., weight: _Host | None = ...,
    eps: _Real | None = ..., *, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> RmsNormResult[_Array]: ...
@overload
def rms_norm_dynamic_mx_quant(  # facts/operators/norm/rms_norm_dynamic_mx_quant.py
    x: DeviceArray, gamma: DeviceArray, beta: DeviceArray | None = None, epsilon: _Real = 1e-06,
    scale_alg: int = 0, round_mode: str = "rint", *, dtype: DTypeLike | None = None,
    output_rstd: bool = False, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> RmsNormDynamicMxQuantResult[DeviceArray]: ...
@overload
def rms_norm_dynamic_mx_quant(  # facts/operators/norm/rms_norm_dynamic_mx_quant.py
    x: _Host, gamma: _Host, beta: _Host | None = None, epsilon: _Real = 1e-06, scale_alg: int = 0,
    round_mode: str = "rint", *, dtype: DTypeLike | None = None, output_rstd: bool = False,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> RmsNormDynamicMxQuantResult[_Array]: ...
@overload
def rms_norm_dynamic_quant(  # facts/operators/norm/rms_norm_quant.py
    x: DeviceArray, gamma: DeviceArray, smooth_scales: DeviceArray | None = None,
    beta: DeviceArray | None = None, epsilon: _Real = 1e-06, *, eps: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> RmsNormDynamicQuantResult[DeviceArray]: ...
@overload
def rms_norm_dynamic_quant(  # facts/operators/norm/rms_norm_quant.py
    x: _Host, gamma: _Host, smooth_scales: _Host | None = None, beta: _Host | None = None,
    epsilon: _Real = 1e-06, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> RmsNormDynamicQuantResult[_Array]: ...
@overload
def rms_norm_grad(  # facts/operators/norm/rms_norm.py
    dy: DeviceArray, x: DeviceArray, rstd: DeviceArray, gamma: DeviceArray, *,
    stream: StreamLike | None = None, out: Sequence[DeviceArray | None] | None = None
) -> RmsNormGradients[DeviceArray]: ...
@overload
def rms_norm_grad(  # facts/operators/norm/rms_norm.py
    dy: _Host, x: _Host, rstd: _Host, gamma: _Host, *, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> RmsNormGradients[_Array]: ...
@overload
def rms_norm_grad_quant(  # facts/operators/norm/rms_norm_quant.py
    dy: DeviceArray, x: DeviceArray, rstd: DeviceArray, gamma: DeviceArray, scales_x: DeviceArray,
    offset_x: DeviceArray | None = None, div_mode: bool = True, *, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> RmsNormGradQuantResult[DeviceArray]: ...
@overload
def rms_norm_grad_quant(  # facts/operators/norm/rms_norm_quant.py
    dy: _Host, x: _Host, rstd: _Host, gamma: _Host, scales_x: _Host, offset_x: _Host | None = None,
    div_mode: bool = True, *, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> RmsNormGradQuantResult[_Array]: ...
@overload
def rms_norm_quant(  # facts/operators/norm/rms_norm_quant.py
    x: DeviceArray, gamma: DeviceArray, beta: DeviceArray, scale: DeviceArray, offset: DeviceArray,
    epsilon: _Real = 1e-06, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: DeviceArray | Sequence[DeviceArray | None] | None = None
) -> DeviceArray: ...
@overload
def rms_norm_quant(  # facts/operators/norm/rms_norm_quant.py
    x: _Host, gamma: _Host, beta: _Host, scale: _Host, offset: _Host, epsilon: _Real = 1e-06, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: _Host | Sequence[_Host | None] | None = None
) -> _Array: ...
@overload
def rms_norm_quant_v3(  # facts/operators/norm/rms_norm_quant.py
    x: DeviceArray, gamma: DeviceArray, scale: DeviceArray, offset: DeviceArray | None = None,
    beta: DeviceArray | None = None, epsilon: _Real = 1e-06, div_mode: bool = True,
    output_rstd: bool = False, *, eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> RmsNormQuantV3Result[DeviceArray]: ...
@overload
def rms_norm_quant_v3(  # facts/operators/norm/rms_norm_quant.py
    x: _Host, gamma: _Host, scale: _Host, offset: _Host | None = None, beta: _Host | None = None,
    epsilon: _Real = 1e-06, div_mode: bool = True, output_rstd: bool = False, *,
    eps: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[_Host | None] | None = None
) -> RmsNormQuantV3Result[_Array]: ...
@overload
def sync_batch_norm_gather_stats(  # facts/operators/norm/batch_norm_stats.py
    total_sum: DeviceArray, total_square_sum: DeviceArray, sample_count: DeviceArray,
    mean: DeviceArray, variance: DeviceArray, momentum: _Real = 0.1, eps: _Real = 1e-05, *,
    epsilon: _Real | None = None, stream: StreamLike | None = None,
    out: Sequence[DeviceArray | None] | None = None
) -> SyncBatchNormGatherStatsResult[DeviceArray]: ...
@overload
def sync_batch_norm_gather_stats(  # facts/operators/norm/batch_norm_stats.py
    total_sum: _Host, total_square_sum: _Host, sample_count: _Host, mean: _Host, variance: _Host,
    momentum: _Real = 0.1, eps: _Real = 1e-05, *, epsilon: _Real | None = None,
    stream: StreamLike | None = None, out: Sequence[_Host | None] | None = None
) -> SyncBatchNormGatherStatsResult[_Array]: ...
