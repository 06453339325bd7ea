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
    return _packed(device)


def lstm_of_such_sequences_in_both_directions(device: str) -> Results:
    return _packed(device, bidirectional=True)


def _packed(device: str, **options: bool) -> Results:
    """Without the gradient of the inputs, which torch-npu does not find."""
    torch.manual_seed(0)
    rnn, module = torch.nn.utils.rnn, torch.nn.LSTM(4, 5, **options).to(device)
    packed = rnn.pack_padded_sequence(_random(4, 2, 4).to(device), torch.tensor([4, 2]))
    out, (h, c) = module(packed)
    padded = rnn.pad_packed_sequence(out)[0]
    (padded * _random(*padded.shape, seed=9).to(device)).sum().backward()
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


def lstm_cell(device: str) -> Results:
    torch.manual_seed(0)
    cell = torch.nn.LSTMCell(4, 5).to(device)
    found = _backward(lambda x: cell(x)[0], device, _random(3, 4))
    return found | {name: weight.grad for name, weight in cell.named_parameters()}


def boxes(device: str) -> Results:
    """Numbers of torch-npu's documents, and boxes whose overlaps are plain to see."""
    if device == "cpu":
        half = torch.float16
        return {
            "iou": torch.tensor([[0.4985, 0, 0], [0, 0, 0], [0, 0.9961, 0]], dtype=half),
            "giou": torch.tensor([[1 / 7 - 2 / 9], [1.0]]),
            "diou": torch.tensor([[1 / 7 - 1 / 9, 1.0]]),
            "decoded": torch.tensor([[2.5, 6.5, 9, 9], [9, 9, 9, 9]]),
            "encoded": torch.tensor([[40 / 3, 40 / 3, 0, 0], [40 / 3, 20 / 3, 0, -5.493061]]),
            "rotated": torch.tensor([-0.4253, -0.5166, -1.7021, -0.0162, 1.1328]).half(),
            "back": torch.tensor([1.7861, -10.5781, 33, 17.2969, -88.4375]).half(),
            "nms": torch.tensor([2, 0, 3, 0], dtype=torch.int32),
            "count": torch.tensor(3, dtype=torch.int32),
            "classes": torch.tensor([[0.9, 0.7, 0.5, 0.0]]).half(),
            "means": torch.tensor([[4.5, 6.5, 8.5], [16.5, 18.5, 20.5], [28.5, 30.5, 32.5]]),
            "flags": torch.tensor([0, 0, 1, 1, 0, 0, 0, 0], dtype=torch.uint8),
            "yolo": torch.tensor([[0.75, 0.25, 0.6931472, -0.6931472]]),
        }
    import torch_npu as npu  # noqa: PLC0415  # on the CPU there is none

    def on(*rows: list[float], kind: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.tensor(rows, dtype=kind).to(device)

    half, ones = torch.float16, (1.0, 1.0, 1.0, 1.0)
    first, second = (
        on([0, 0, 10, 10], [10, 10, 20, 20], [32, 32, 38, 42], kind=half),
        on([0, 0, 10, 20], [0, 10, 10, 10], [10, 10, 20, 20], kind=half),
    )
    pair = on([1, 5], [1, 5], [2, 2], [2, 2]), on([2, 5], [2, 5], [2, 2], [2, 2])
    near = on([1, 2, 3, 4], [3, 4, 5, 6])
    far, weight = on([5, 6, 7, 8], [7, 8, 9, 6]), on([1.0] * 5)[0]
    turned = [
        on(x).half()[None]
        for x in ([30.69, 32.6, 45.94, 59.88, -44.53], [30.44, 18.72, 33.22, 45.56, 8.5])
    ]
    moved = [
        on(x).half()[None]
        for x in ([4.137, 33.72, 29.4, 54.06, 41.28], [0.0244, -1.992, 0.2109, 0.315, -37.25])
    ]
    places, count = npu.npu_nms_v4(
        on([0, 0, 4, 4], [0, 0, 4, 3], [0, 0, 4, 2], [6, 6, 8, 8]),
        on([0.8, 0.3, 0.9, 0.7])[0],
        4,
        torch.tensor(0.6).to(device),
        torch.tensor(0.2).to(device),
        pad_to_max_output_size=True,
    )
    image = torch.arange(1.0, 37).reshape(1, 1, 6, 6).to(device)
    many = on([0, 0, 4, 4], [0, 0, 4, 3], [6, 6, 8, 8], kind=half).reshape(1, 3, 1, 4)
    scores = on([0.9, 0.1], [0.8, 0.5], [0.7, 0.2], kind=half)[None]
    return {
        "iou": npu.npu_iou(first, second, 0),
        "giou": npu.npu_giou(*pair, trans=True, is_cross=False, mode=0),
        "diou": npu.npu_diou(*pair, trans=True, is_cross=False, mode=0),
        "decoded": npu.npu_bounding_box_decode(near, far, 0, 0, 0, 0, *ones, (10, 10), 0.1),
        "encoded": npu.npu_bounding_box_encode(near, far, 0, 0, 0, 0, 0.1, 0.1, 0.2, 0.2),
        "rotated": npu.npu_rotated_box_encode(*(x.mT for x in turned), weight.half()).flatten(),
        "back": npu.npu_rotated_box_decode(*(x.mT for x in moved), weight.half()).flatten(),
        "nms": places,
        "count": count,
        "classes": npu.npu_batch_nms(many, scores, 0.3, 0.6, 3, 4)[1],
        "means": npu.npu_roi_align(image, on([0, -2, -2, 22, 22]), 0.25, 3, 3, 2, 0)[0, 0],
        "flags": npu.npu_anchor_response_flags(on([2, 0, 4, 2]), [2, 2], [2, 2], 2),
        "yolo": npu.npu_yolo_boxes_encode(on([0, 0, 4, 4]), on([0, -1, 8, 1]), on([8])[0].int()),
    }


def other_gradients(device: str) -> Results:
    x, y = _random(3, 8), _random(4, 8, 128, 128)
    if device == "cpu":
        functions = {
            "silu": torch.nn.functional.silu,
            "mish": torch.nn.functional.mish,
            "fast gelu": lambda x: x * torch.sigmoid(1.702 * x),
            "max": lambda x: x.max(0)[0],
            "softmax": lambda x: torch.softmax(0.5 * x + y.flip(0), -1),
        }
    else:
        import torch_npu as npu  # noqa: PLC0415  # on the CPU there is none

        functions = {
            "silu": npu.npu_silu,
            "mish": npu.npu_mish,
            "fast gelu": npu.npu_fast_gelu,
            "max": lambda x: npu.npu_max(x, 0)[0],
            "softmax": lambda x: npu.npu_dropout_with_add_softmax(
                x, y.flip(0).to(device), 0.5, 0.0, -1
            )[2],
        }
    return {
        f"{name} {part}": value
        for name, function in functions.items()
        for part, value in _backward(
            function, device, (y if name == "softmax" else x).clone()
        ).items()
    }


def moved_bits(device: str) -> Results:
    x = _random(16)
    if device == "cpu":
        bits = (x > 0).reshape(2, 8).int() * 2 ** torch.arange(8)
        return {
            "packed": bits.sum(1).byte()[:, None],
            "signs": x.sign(),
            "strided": x[[1, 4, 3, 6]],
        }
    import torch_npu as npu  # noqa: PLC0415  # on the CPU there is none

    packed = npu.npu_sign_bits_pack(x.to(device), 2)
    return {
        "packed": packed,
        "signs": npu.npu_sign_bits_unpack(packed.flatten(), 1, torch.float32).flatten(),
        "strided": npu.npu_stride_copy(x.to(device), (2, 2), (2, 3), 1).flatten(),
    }
