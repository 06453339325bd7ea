# SPDX-License-Identifier: Apache-2.0
"""Networks as on chips for which torch-npu calls single operators alone, some in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch_cases import _random

if TYPE_CHECKING:
    from torch_cases import Results


def a_network_in_blocks(device: str) -> Results:
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 20, 3, padding=1),
        torch.nn.BatchNorm2d(20),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(80, 10),
    )
    image = _random(2, 3, 4, 4)
    if device != "cpu":
        import torch_npu  # noqa: PLC0415

        torch.npu.config.allow_internal_format = True
        network = network.half().npu()
        linear = network[-1].weight
        linear.data = torch_npu.npu_format_cast(linear.data, 29)  # FRACTAL_NZ
        hidden = network[0](image.half().npu())
        forms = [torch_npu.get_npu_format(each) for each in (linear, network[0].weight, hidden)]
        assert [str(form).rpartition(".")[2] for form in forms] == [
            "FRACTAL_NZ", "FRACTAL_Z", "NC1HWC0",
        ]  # fmt: skip
        image = image.half().npu()
    out = network(image)
    out.float().square().mean().backward()
    gradients = {name: each.grad for name, each in network.named_parameters() if name != "0.bias"}
    return {name: each.half() for name, each in {"is": out, **gradients}.items()}


def a_scaled_step(device: str) -> Results:
    if device == "cpu":
        scaler: torch.amp.GradScaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    else:
        import torch_npu  # noqa: PLC0415

        scaler = torch_npu.npu.amp.GradScaler(init_scale=8.0)
    weight = _random(3, 5).to(device).requires_grad_()
    optimizer = torch.optim.SGD([weight], 0.1)
    scaler.scale((weight * weight).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return {"weight": weight.detach()}
