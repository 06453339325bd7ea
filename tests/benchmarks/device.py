# SPDX-License-Identifier: Apache-2.0
"""Time of operators on the simulated NPU, against the same arithmetic in this process."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import pyaclnn
from pyaclnn import reference

from .measure import Comparison, Timing, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["compare"]

_QUEUED = 1000
_AGAIN = 100  # the first calls after other work take longer: their code is in no cache
SMALL, MIDDLE, LARGE = (8, 64), (64, 512), (1024, 4096)

Ways = dict[str, "Callable[[], object]"]


def compare(turns: int) -> Iterator[Comparison]:
    """Time operators that are queued, waited for one by one, and called with NumPy arrays.

    Targets are against the definition where operators are small, because NumPy's calls are most of
    their time, and against the function that the package offers where they are large.
    """
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
        yield from _small(device, stream, turns)
        yield from _larger(device, stream, turns)


def _repeat(
    times: int, *calls: Callable[[], object], then: Callable[[], object] = lambda: None
) -> Callable[[], object]:
    """Return a function that makes calls many times, and another one at the end."""

    def run() -> None:
        for _ in range(times):
            for call in calls:
                call()
        then()

    return run


def _small(device: pyaclnn.Device, stream: pyaclnn.Stream, turns: int) -> Iterator[Comparison]:
    host = np.random.default_rng(1).standard_normal(SMALL, np.float32)
    gamma = np.ones(SMALL[1], np.float32)
    x, scale = (pyaclnn.to_device(array, device) for array in (host, gamma))
    out = pyaclnn.rms_norm(x, scale, stream=stream)
    total = pyaclnn.DeviceArray.empty(SMALL, np.float32, device)
    plan = pyaclnn.plan(pyaclnn.rms_norm, x, scale, stream=stream, out=tuple(out))
    add: Any = pyaclnn.op("aclnnAdd")
    definition = reference.definition("rms_norm")

    def norm() -> object:
        return pyaclnn.rms_norm(x, scale, stream=stream, out=tuple(out))

    queued: Ways = {
        "rms_norm, 1000 queued": _repeat(_QUEUED, norm, then=stream.synchronize),
        "aclnnAdd, 1000 queued": _repeat(
            _QUEUED, lambda: add(x, x, 1.0, total, stream=stream), then=stream.synchronize
        ),
    }
    one_by_one: Ways = {
        "rms_norm, waited for": _repeat(_AGAIN, norm, stream.synchronize),
        "plan, waited for": _repeat(_AGAIN, plan.run, stream.synchronize),
        "rms_norm of NumPy arrays": _repeat(_AGAIN, lambda: pyaclnn.rms_norm(host, gamma)),
        "definition": _repeat(_AGAIN, lambda: definition(host, gamma)),
        "np.add": _repeat(_AGAIN, lambda: np.add(host, host)),
    }
    timings = take_turns({**queued, **one_by_one}, turns)
    for ways, calls in ((queued, _QUEUED), (one_by_one, _AGAIN)):
        for way in ways:
            timings[way] = _of_one(timings[way], calls)
    for way, baseline, target in (
        ("rms_norm, 1000 queued", "definition", 2.0),
        ("aclnnAdd, 1000 queued", "np.add", None),
        ("rms_norm, waited for", "definition", None),
        ("plan, waited for", "definition", None),
        ("rms_norm of NumPy arrays", "definition", 5.0),
    ):
        yield Comparison(_case(SMALL), way, timings[way], baseline, timings[baseline], target)


def _larger(device: pyaclnn.Device, stream: pyaclnn.Stream, turns: int) -> Iterator[Comparison]:
    for shape, times, target in ((MIDDLE, _AGAIN, None), (LARGE, _AGAIN // 10, 1.2)):
        host = np.random.default_rng(1).standard_normal(shape, np.float32)
        gamma = np.ones(shape[1], np.float32)
        rstd = reference.rms_norm(host, gamma).rstd
        x, scale, root = (pyaclnn.to_device(a, device) for a in (host, gamma, rstd))
        normed = tuple(pyaclnn.rms_norm(x, scale, stream=stream))
        grads = tuple(pyaclnn.rms_norm_grad(x, x, root, scale, stream=stream))

        def norm(given: Any = (x, scale), out: Any = normed) -> None:
            pyaclnn.rms_norm(*given, stream=stream, out=out)
            stream.synchronize()

        def grad(given: Any = (x, x, root, scale), out: Any = grads) -> None:
            pyaclnn.rms_norm_grad(*given, stream=stream, out=out)
            stream.synchronize()

        ways: Ways = {
            "rms_norm": norm,
            "rms_norm, reference": partial(reference.rms_norm, host, gamma),
            "rms_norm_grad": grad,
            "rms_norm_grad, reference": partial(reference.rms_norm_grad, host, host, rstd, gamma),
        }
        timings = take_turns({way: _repeat(times, call) for way, call in ways.items()}, turns)
        timings = {way: _of_one(timing, times) for way, timing in timings.items()}
        for way in ("rms_norm", "rms_norm_grad"):
            baseline = f"{way}, reference"
            yield Comparison(_case(shape), way, timings[way], baseline, timings[baseline], target)


def _of_one(timing: Timing, calls: int) -> Timing:
    """Return the time of one call, of that of several."""
    return Timing(tuple(sample / calls for sample in timing.samples))


def _case(shape: tuple[int, int]) -> str:
    return f"float32 {shape[0]}x{shape[1]}"
