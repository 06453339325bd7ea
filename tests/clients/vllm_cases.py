# SPDX-License-Identifier: Apache-2.0
"""Cases, as in `network_cases`, of vllm-ascend: its operators on the NPU, vLLM's own on the CPU.

Not among them are operators of its compiled part, which needs libraries of CANN's compilers, and
rotary embeddings with one axis, which need ATB.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from network_cases import _random
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from network_cases import Results

TOKENS, WIDTH, HEAD, HEADS, POSITIONS = 6, 64, 16, 4, 128
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def _ascend(name: str) -> Any:
    return import_module(f"vllm_ascend.{name}")


@contextmanager
def _engine() -> Iterator[None]:
    """Set what an engine of vLLM would: its configuration, and the context of a forward pass."""
    os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"
    config = import_module("vllm.config")
    context = import_module("vllm.forward_context")
    chosen = config.VllmConfig()
    forward = SimpleNamespace(additional_kwargs={}, no_compile_layers={})
    with config.set_current_vllm_config(chosen), context.override_forward_context(forward):
        utils, prefetch = _ascend("utils"), _ascend("ascend_config").WeightPrefetchConfig({})
        utils._IS_MOE_MODEL = False  # there is no model to look at
        utils.set_weight_prefetch_method(prefetch)
        _ascend("ascend_config")._ASCEND_CONFIG = SimpleNamespace(  # likewise
            weight_nz_mode=1, ascend_compilation_config=None, eplb_config=None
        )
        _ascend("ops.register_custom_ops")
        yield


def _both(device: str, name: str, *arguments: Any, **options: Any) -> Any:
    """Return a layer of vllm-ascend, or on the CPU the one of vLLM that it replaces."""
    ours, _, kind = name.rpartition(".")
    layer = getattr(_ascend(ours), kind)
    if device == "cpu":
        layer = layer.__bases__[0]
    return layer(*arguments, **options)


def _run(device: str, layer: Any, *inputs: torch.Tensor) -> list[torch.Tensor]:
    forward = layer.forward_native if device == "cpu" else layer.forward_oot
    found = forward(*(x.clone().to(device) for x in inputs))
    return [found] if isinstance(found, torch.Tensor) else list(found)


def _named(what: str, found: list[torch.Tensor]) -> Results:
    return {f"{what}, result {i}": value for i, value in enumerate(found)}


def vllm_norms(device: str) -> Results:
    """Run norms of activations alone and with a residual."""
    results: Results = {}
    alone = ("AscendRMSNorm", 1), ("AscendRMSNorm", 2), ("AscendGemmaRMSNorm", 2)
    with _engine():
        for dtype in DTYPES:
            for kind, count in alone:
                layer = _both(device, f"ops.layernorm.{kind}", WIDTH, eps=1e-5)
                layer.weight.data = _random(WIDTH, seed=2)
                layer = layer.to(device, dtype)
                inputs = [_random(TOKENS, WIDTH, seed=i).to(dtype) for i in range(count)]
                results |= _named(f"{kind} {dtype} {count}", _run(device, layer, *inputs))
    return results


def vllm_activations(device: str) -> Results:
    """Run gated activations and the fast gelu."""
    results: Results = {}
    kinds = ("AscendSiluAndMul",), ("AscendSiluAndMulWithClamp", 1.0), ("AscendQuickGELU",)
    with _engine():
        for dtype in DTYPES:
            for kind, *arguments in kinds:
                layer = _both(device, f"ops.activation.{kind}", *arguments)
                x = _random(TOKENS, 2 * WIDTH).to(dtype)
                results |= _named(f"{kind} {dtype}", _run(device, layer, x))
    return results


def vllm_rotary_embeddings(device: str) -> Results:
    """Rotate heads by given angles, and queries and keys by positions of three axes."""
    results: Results = {}
    angles = _random(TOKENS, HEAD // 2, seed=2)
    places = torch.randint(POSITIONS, (3, TOKENS), generator=torch.Generator().manual_seed(0))
    with _engine():
        for dtype in (torch.float16, torch.bfloat16):
            layer = _both(device, "ops.rotary_embedding.AscendApplyRotaryEmb")
            inputs = (_random(TOKENS, HEADS, HEAD), angles.cos(), angles.sin())
            found = _run(device, layer, *(x.to(dtype) for x in inputs))
            results |= _named(f"given angles {dtype}", found)
            layer = _both(
                *(device, "ops.rotary_embedding.AscendMRotaryEmbedding", 128, 128),
                *(POSITIONS, 10000, True, dtype, [16, 24, 24]),
            )
            heads = (_random(TOKENS, HEADS * 128), _random(TOKENS, 128, seed=1))
            found = _run(device, layer.to(device), places, *(x.to(dtype) for x in heads))
            results |= _named(f"positions {dtype}", found)
    return results


def vllm_quantized_linear(device: str) -> Results:
    """Multiply by weights of int8, of activations that are quantized by token and by constants."""
    results: Results = {}
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-127, 128, (HEAD, WIDTH), dtype=torch.int8, generator=generator)
    scales, x = _random(HEAD, 1).abs() / 100, _random(TOKENS, WIDTH, seed=1).to(torch.bfloat16)
    if device == "cpu":
        step = x.float().abs().amax(1, keepdim=True) / 127
        by_token = torch.round(x.float() / step) @ weight.float().T * scales.T * step
        by_constant = torch.clamp(torch.round(x.float() / 0.03125 + 3), -128, 127)
        return {
            "by token": by_token.to(x.dtype),
            "by constants": (by_constant @ weight.float().T * scales.T).to(x.dtype),
        }
    with _engine():
        scheme = _ascend("quantization.methods.w8a8_dynamic").AscendW8A8DynamicLinearMethod()
        layer = _layer(weight=weight, weight_scale=scales, weight_offset=torch.zeros(HEAD, 1))
        layer.weight_scale.data = layer.weight_scale.data.to(x.dtype).to(torch.float32)
        scheme.process_weights_after_loading(layer)
        results["by token"] = scheme.apply(layer, x.to(device))
        scheme = _ascend("quantization.methods.w8a8_static").AscendW8A8LinearMethod()
        layer = _layer(
            weight=weight,
            weight_scale=scales,
            weight_offset=torch.zeros(HEAD, 1),
            input_scale=torch.full((1,), 0.03125, dtype=x.dtype),
            input_offset=torch.tensor([3], dtype=torch.int8),
            quant_bias=torch.zeros(HEAD, dtype=torch.int32),
            deq_scale=scales.flatten(),
        )
        layer.params_dtype = x.dtype
        scheme.process_weights_after_loading(layer)
        results["by constants"] = scheme.apply(layer, x.to(device))
    return results


def _layer(**tensors: torch.Tensor) -> Any:
    layer = nn.Module()
    for name, value in tensors.items():
        setattr(layer, name, nn.Parameter(value.clone().npu(), requires_grad=False))
    return layer
