# SPDX-License-Identifier: Apache-2.0
"""Cases, as in `torch_cases`, of norms of pyaclnn that are launched again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import torch
from torch_cases import ROWS, WIDTH, _random

if TYPE_CHECKING:
    from torch_cases import Results


def norms_of_pyaclnn_in_threads(device: str) -> Results:
    """Threads that make equal calls at the same time have each its own tensors."""
    norms: Any = torch.nn.functional
    if device != "cpu":
        torch.npu.set_device(device)
        import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first

    rows = [_random(ROWS, WIDTH, seed=seed) for seed in range(24)]

    def normed(x: torch.Tensor) -> torch.Tensor:
        return norms.layer_norm(x.to(device), (WIDTH,)).cpu()

    with ThreadPoolExecutor(4) as threads:
        return {str(at): y for at, y in enumerate(threads.map(normed, rows))}


def norms_of_pyaclnn_of_other_layouts(device: str) -> Results:
    """Calls that differ in a layout alone; from the second time on they are launched again."""
    norms: Any = torch.nn.functional
    if device != "cpu":
        torch.npu.set_device(device)
        import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first

    x, pairs = _random(2 * ROWS, WIDTH).to(device), _random(2, WIDTH, 2, seed=1).to(device)
    dense, strided = pairs[0].t()[0].contiguous(), pairs[1].t()[1]
    calls: list[tuple[Any, ...]] = [
        (x[:ROWS], dense, None),
        (x[ROWS:], dense, None),
        (x[ROWS:], strided, None),
        (x[:ROWS], None, dense),
        (x[::2], strided, dense),
        (x[::2], dense, strided),
        (x[:ROWS].half(), dense.half(), None),
    ]

    def normed() -> Results:
        return {
            str(at): norms.layer_norm(each, (WIDTH,), *affine)
            for at, (each, *affine) in enumerate(calls)
        }

    first = normed()
    if device == "cpu":
        return {**first, **{f"again {at}": y for at, y in normed().items()}}
    from pyaclnn.torch.launches import Launches  # noqa: PLC0415  # as above

    checked = Launches._first
    Launches._first = None  # type: ignore[assignment,method-assign]  # nothing is to need it
    try:
        again = normed()
    finally:
        Launches._first = checked  # type: ignore[method-assign]
    return {**first, **{f"again {at}": y for at, y in again.items()}}


def norms_of_pyaclnn_of_more_layouts_than_are_kept(device: str) -> Results:
    """Weights of 17 layouts after the same tensor: the newest ones are launched again.

    A call with them makes tensors for itself alone.
    """
    norms: Any = torch.nn.functional
    if device != "cpu":
        torch.npu.set_device(device)
        import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first

    x = _random(ROWS, WIDTH).to(device)
    weights = [_random(WIDTH, step, seed=step).to(device)[:, 0] for step in range(1, 18)]
    results = {str(at): norms.layer_norm(x, (WIDTH,), w) for at, w in enumerate(weights)}
    if device == "cpu":
        return {**results, **{f"again {at}": results[str(at)] for at in range(1, 17)}}
    import pyaclnn.torch.launches as launched  # noqa: PLC0415  # as above

    launches: Any = launched
    made: list[Any] = []
    empty_on = launches.empty_on

    def counted(index: int) -> Any:
        made.append(index)
        return empty_on(index)

    launches.empty_on = counted
    launches.Launches._first = None  # nothing is to need it
    for at in range(1, 17):
        results[f"again {at}"] = norms.layer_norm(x, (WIDTH,), weights[at])
    assert len(made) == 16, made
    return results


def norms_of_pyaclnn_before_pytorch_2_7(device: str) -> Results:
    """A PyTorch without one of the functions in C: every call is made from Python."""
    if device == "cpu":
        return {str(at): _normed(torch.nn.functional, device) for at in range(3)}
    torch.npu.set_device(device)
    import pyaclnn.calling.tensor_calls as tensor_calls_now  # noqa: PLC0415  # as above
    import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first
    from pyaclnn.torch import launches  # noqa: PLC0415  # as above

    tensor_calls: Any = tensor_calls_now
    names = tensor_calls._FUNCTIONS
    assert "call_dispatcher" in names
    absent = {"call_dispatcher": "call_dispatcher_of_2_7"}
    tensor_calls._FUNCTIONS = tuple([absent.get(name, name) for name in names])
    launched: Any = launches.Launches
    checked, calls = launched._first, []

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return checked(*arguments)

    launched._first = counted
    results = {str(at): _normed(norms, device) for at in range(3)}
    assert len(calls) == 3
    return results


def _normed(norms: Any, device: str) -> torch.Tensor:
    y: torch.Tensor = norms.layer_norm(_random(ROWS, WIDTH).to(device), (WIDTH,))
    return y


def norms_of_pyaclnn_of_negated_tensors(device: str) -> Results:
    """Numbers that PyTorch negates when they are read, and a tensor whose memory is gone."""
    norms: Any = torch.nn.functional
    if device != "cpu":
        torch.npu.set_device(device)
        import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first

    x = torch.complex(_random(ROWS, WIDTH, seed=1), _random(ROWS, WIDTH, seed=2)).to(device)
    y = x.conj().imag
    assert y.is_neg()
    results = {str(at): norms.layer_norm(y, (WIDTH,)) for at in range(2)}
    if device != "cpu":
        given = results["0"].clone()
        norms.layer_norm(given, (WIDTH,))
        given.untyped_storage().resize_(0)
        refused = ""
        try:
            norms.layer_norm(given, (WIDTH,))
        except ValueError as error:
            refused = str(error)
        assert "'address' is 0" in refused, refused
    return results
