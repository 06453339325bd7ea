# SPDX-License-Identifier: Apache-2.0
"""Host cost of launching a gradient, on operators that do nothing.

The figures are host overhead only: there is no NPU and no simulated one behind these calls.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pyaclnn

from . import nothing, peers
from .measure import Comparison, Timing, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["compare"]

_CHAINS = 1000
"""The C function makes so many chains a call, so that calling it does not count."""

TARGETS = {
    "eager, out= given": 0.18,
    "eager": 0.27,
    "by C name, out= given": 0.20,
    "plan": 0.03,
    "plan, rebinding": 0.07,
}
TARGET_OF_LISTS = 0.25
TARGETS_OF_ARRAYS = {
    "aclnn.add, attribute": ("layer_norm, attribute", 3.0),
    "add, result inferred": ("layer_norm, results allocated", 1.3),
    "astype": ("cast, held", 2.0),
    "strided assignment": ("inplace_copy, held", 2.0),
}
"""Way -> what it is compared with, and the target."""
_LISTED = 16


def compare(turns: int) -> Iterator[Comparison]:
    """Time C, ctypes and pyaclnn; targets are against ctypes."""
    with tempfile.TemporaryDirectory() as name:
        folder = nothing.build(Path(name))
        pyaclnn.select_backend(folder)
        in_c = ctypes.CDLL(str(folder / "libchain.so"))
        with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
            for operator, in_ctypes in peers.chains(folder).items():
                chain = functools.partial(getattr(in_c, f"{operator}_chain"), _CHAINS)
                ways: dict[str, Callable[[], object]] = {"C": chain, "ctypes": in_ctypes}
                timings = take_turns({**ways, **_ways(operator, device, stream)}, turns)
                timings["C"] = Timing(tuple(s / _CHAINS for s in timings["C"].samples))
                stream.synchronize()
                ours = [way for way in TARGETS if way in timings]
                for way in ours:
                    target = TARGET_OF_LISTS if operator == "foreach_neg" else TARGETS[way]
                    yield _against(operator, way, timings, "ctypes", target)
                for way in ("ctypes", *ours):
                    yield _against(operator, way, timings, "C", None)
            timings = take_turns(_ways_of_arrays(device, stream), turns)
            for way, (baseline, target) in TARGETS_OF_ARRAYS.items():
                yield _against("device arrays", way, timings, baseline, target)


def _against(
    operator: str, way: str, timings: dict[str, Timing], baseline: str, target: float | None
) -> Comparison:
    return Comparison(operator, way, timings[way], baseline, timings[baseline], target)


def _ways(
    operator: str, device: pyaclnn.Device, stream: pyaclnn.Stream
) -> dict[str, Callable[[], object]]:
    def array(*shape: int) -> pyaclnn.DeviceArray:
        return pyaclnn.DeviceArray.empty(shape, np.float32, device)

    if operator == "foreach_neg":
        negate = pyaclnn.op("aclnnForeachNeg")
        given, made = ([array(512) for _ in range(_LISTED)] for _ in range(2))
        return {"by C name, out= given": lambda: negate(given, made, stream=stream)}
    upstream, x, rows, columns = array(64, 512), array(64, 512), array(64, 1), array(512)
    call: Any = getattr(pyaclnn, operator)
    out: tuple[pyaclnn.DeviceArray, ...] = (array(64, 512), array(512))
    arguments: tuple[Any, ...] = (upstream, x, rows, columns)
    name = "dy"
    if operator == "layer_norm_backward":
        out = (*out, array(512))
        arguments = (upstream, x, 512, rows, array(64, 1), columns, array(512))
        name = "grad_out"
    by_name = pyaclnn.op(f"aclnn{operator.title().replace('_', '')}")

    def call_by_name() -> object:
        if operator == "rms_norm_grad":
            return by_name(*arguments, *out, stream=stream)
        tensors, flags = arguments[3:], [True, True, True]
        return by_name(upstream, x, [512], *tensors, flags, *out, stream=stream)

    plan = pyaclnn.plan(call, *arguments, stream=stream, out=out)
    other = array(64, 512)
    by_turns = {
        "dy": [lambda: plan.run(dy=upstream), lambda: plan.run(dy=other)],
        "grad_out": [lambda: plan.run(grad_out=upstream), lambda: plan.run(grad_out=other)],
    }
    calls = itertools.cycle(by_turns[name])

    def rebind() -> object:
        return next(calls)()

    return {
        "eager, out= given": lambda: call(*arguments, stream=stream, out=out),
        "eager": lambda: call(*arguments, stream=stream),
        "by C name, out= given": call_by_name,
        "plan": plan.run,
        "plan, rebinding": rebind,
    }


def _ways_of_arrays(
    device: pyaclnn.Device, stream: pyaclnn.Stream
) -> dict[str, Callable[[], object]]:
    x = pyaclnn.DeviceArray.empty((64, 512), np.float32, device)
    part = pyaclnn.DeviceArray.empty((64, 256), np.float32, device)
    add, cast, copy = (pyaclnn.op(f"aclnn{name}") for name in ("Add", "Cast", "InplaceCopy"))
    kind, index = np.dtype(np.float16), np.s_[:, ::2]
    default = pyaclnn.Stream.default(device)

    def assign() -> None:
        x[index] = part

    def assign_by_hand() -> None:
        copy(x[index], part, stream=default)
        default.synchronize()

    return {
        "layer_norm, attribute": lambda: pyaclnn.layer_norm,
        "aclnn.add, attribute": lambda: pyaclnn.aclnn.add,
        "layer_norm, results allocated": lambda: pyaclnn.layer_norm(x, 512, stream=stream),
        "add, result inferred": lambda: add(x, x, alpha=1.0, stream=stream),
        "cast, held": lambda: cast(x, kind, stream=stream),
        "astype": lambda: x.astype(kind, stream),
        "inplace_copy, held": assign_by_hand,
        "strided assignment": assign,
    }
