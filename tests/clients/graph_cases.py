# SPDX-License-Identifier: Apache-2.0
"""Cases, as in `torch_cases`, for which torch-npu calls single operators, with CANN 8.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch_cases import _backward, _random

if TYPE_CHECKING:
    from torch_cases import Results


def _recurrent(module: torch.nn.Module, device: str) -> Results:
    module = module.to(device)
    found = _backward(lambda x: module(x)[0], device, _random(3, 2, 4))
    return found | {name: weight.grad for name, weight in module.named_parameters()}


def lstm(device: str) -> Results:
    torch.manual_seed(0)
    return _recurrent(torch.nn.LSTM(4, 5), device)


def lstm_of_sequences_of_different_lengths(device: str) -> Results:
    """Without the gradient of the inputs, which torch-npu does not find."""
    torch.manual_seed(0)
    rnn, module = torch.nn.utils.rnn, torch.nn.LSTM(4, 5).to(device)
    packed = rnn.pack_padded_sequence(_random(4, 2, 4).to(device), torch.tensor([4, 2]))
    out, (h, c) = module(packed)
    padded = rnn.pad_packed_sequence(out)[0]
    (padded * _random(4, 2, 5, seed=9).to(device)).sum().backward()
    gradients = {name: weight.grad for name, weight in module.named_parameters()}
    return {"out": padded, "h": h, "c": c, **gradients}


def other_operators(device: str) -> Results:
    numbers, x = torch.tensor([1, -6, 5], dtype=torch.int32).to(device), _random(3, 4).to(device)
    return {
        "shifted": numbers << 2,
        "back": numbers >> 1,
        "scale": torch.logspace(0, 2, 5, device=device),
        "norms": torch.nn.functional.normalize(x, p=3.0),
        "cell": torch.stack(_cell(device)),
    }


def _cell(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    states: tuple[torch.Tensor, torch.Tensor] = torch.nn.LSTMCell(4, 5).to(device)(
        _random(3, 4).to(device)
    )
    return states


def gru(device: str) -> Results:
    torch.manual_seed(0)
    return _recurrent(torch.nn.GRU(4, 5), device)


def singular_values(device: str) -> Results:
    return {"values": torch.linalg.svd(_random(4, 3).to(device))[1]}


def format_cast(device: str) -> Results:
    x = _random(17, 5).half()
    if device == "cpu":
        return {"out": x}
    import torch_npu  # noqa: PLC0415  # on the CPU there is none

    return {"out": torch_npu.npu_format_cast(x.to(device), 29)}
