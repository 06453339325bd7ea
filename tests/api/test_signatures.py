# SPDX-License-Identifier: Apache-2.0
"""Signatures of every described operator, as editors and ``help`` show them."""

from __future__ import annotations

import inspect

import pytest

from pyaclnn import ops
from pyaclnn.facts.operators import Operator, all_operators


@pytest.mark.parametrize("operator", all_operators().values(), ids=lambda op: op.name)
def test_the_docstring_tells_of_every_argument_and_result(operator: Operator) -> None:
    function = getattr(ops, operator.name)
    names = [*operator.positional, *operator.keywords, "stream"]
    names += ["out"] if operator.outputs else []
    names += [tensor.name for tensor in operator.outputs]
    assert all(f"\n    {name}: " in function.__doc__ for name in names)
    assert f"``{operator.c_name}``" in function.__doc__
    assert "CANN: " in function.__doc__


OF_TORCH = {
    "layer_norm": "input, normalized_shape, weight=None, bias=None, eps=1e-05",
    "group_norm": "input, num_groups, weight=None, bias=None, eps=1e-05",
    "batch_norm": "input, running_mean=None, running_var=None, weight=None, bias=None, "
    "training=False, momentum=0.1, eps=1e-05",
    "linalg_vector_norm": "input, ord=2.0, dim=None, keepdim=False",
    "norm": "input, p=2.0, dim=None, keepdim=False",
    "renorm": "input, p, dim, maxnorm",
    "embedding_renorm": "input, indices, max_norm, norm_type=2.0",
}
# Optional arguments have the defaults of the attributes of CANN's kernels.
OF_CANN = {
    "layer_norm_with_impl_mode": "input, normalized_shape, weight=None, bias=None, eps=1e-05, "
    "impl_mode=0",
    "layer_norm_backward": "grad_out, input, normalized_shape, mean, rstd, weight=None, bias=None",
    "rms_norm": "x, gamma, epsilon=1e-06",
    "rms_norm_grad": "dy, x, rstd, gamma",
    "gemma_rms_norm": "x, gamma, epsilon=1e-06",
    "add_rms_norm": "x1, x2, gamma, epsilon=1e-06",
    "add_rms_norm_quant": "x1, x2, gamma, scales1, scales2=None, zero_points1=None, "
    "zero_points2=None, epsilon=1e-06, div_mode=True",
    "add_rms_norm_cast": "x1, x2, gamma, epsilon=1e-06",
    "inplace_add_rms_norm": "x1, x2, gamma, epsilon=1e-06",
    "add_layer_norm": "x1, x2, gamma, beta, bias=None, epsilon=1e-05, additional_output=False",
    "deep_norm": "x, gx, beta, gamma, alpha=0.3, epsilon=1e-06",
    "group_norm_silu_v2": "input, group, gamma=None, beta=None, eps=1e-05, activate_silu=True",
    "group_norm_swish": "x, gamma, beta, num_groups, eps=1e-05, activate_swish=True, "
    "swish_scale=1.0",
    "group_norm_backward": "grad_out, input, mean, rstd, num_groups, weight=None",
    "batch_norm_backward": "grad_out, input, weight=None, running_mean=None, running_var=None, "
    "save_mean=None, save_invstd=None, training=True, eps=1e-05",
}


@pytest.mark.parametrize("name", [*OF_TORCH, *OF_CANN])
def test_signatures_are_those_of_torch_where_it_has_the_function_else_those_of_cann(
    name: str,
) -> None:
    """Names, order and defaults, of what callers give by position."""
    words = {**OF_TORCH, **OF_CANN}[name]
    assert str(inspect.signature(getattr(ops, name))).startswith(f"({words}, *, ")
