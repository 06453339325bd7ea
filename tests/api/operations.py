# SPDX-License-Identifier: Apache-2.0
"""Every public operation once, each complete in itself: what it opens, it closes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import pyaclnn
from pyaclnn.facts.operators import all_operators
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.health.smoke.launching import Case, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.runtime.device import Device

__all__ = ["OPERATIONS", "SLOW", "Operation", "Stage"]

SHAPE = (4, 8)
WORKSPACE = 1 << 25
ESSENTIAL = {name: op for name, op in all_operators().items() if op.essential}
"""The operators that are tried; the others go the same way."""


def numbers(*shape: int) -> Any:
    """The same numbers for the same shape, every time."""
    return np.random.default_rng(shape[0]).normal(size=shape).astype(np.float32)


class Stage:
    """The arrays that operations read, on the host and on a device.

    Attributes:
        device: The device.
        calls: Each operator with its arguments by name, on the device.
        other: An array to be used in place of an operator's first argument.
        cached: The operators whose calls CANN has in its cache by now.
        pinned: Pinned memory of the host.
    """

    def __init__(self, device: Device) -> None:
        """Make the arrays."""
        self.device = device
        samples = {n: sample(op, SHAPE, np.dtype(np.float32), None) for n, op in ESSENTIAL.items()}
        self.calls: dict[str, dict[str, Any]] = {
            name: {n: self._placed(value) for n, value in given.items()}
            for name, given in samples.items()
        }
        self.other = pyaclnn.to_device(numbers(*SHAPE) * 2, device)
        found = (value for given in self.calls.values() for value in given.values())
        arrays = [value for value in found if isinstance(value, pyaclnn.DeviceArray)]
        self._device_arrays = (*arrays, self.other)
        self.cached: set[str] = set()
        self.pinned = pyaclnn.pinned_empty(SHAPE, np.float32, device)
        self.pinned[...] = numbers(*SHAPE)

    def _placed(self, value: Any) -> Any:
        return pyaclnn.to_device(value, self.device) if isinstance(value, np.ndarray) else value

    def close(self) -> None:
        """Let go of everything."""
        vars(self).clear()

    def inputs(self) -> list[bytes]:
        """The contents of everything that operations read."""
        arrays = [array.numpy() for array in self._device_arrays]
        return [array.tobytes() for array in (*arrays, self.pinned)]

    def on_host(self, name: str) -> dict[str, Any]:
        """The arguments of an operator as NumPy arrays."""
        given = self.calls[name].items()
        return {n: v.numpy() if isinstance(v, pyaclnn.DeviceArray) else v for n, v in given}


Operation: TypeAlias = "Callable[[Stage], list[bytes]]"
"""Runs on a stage and returns the contents of its results."""


def contents(results: Any) -> list[bytes]:
    """Read the results of an operator, on the host or on a device."""
    arrays = [array for array in results if array is not None]
    return [
        (array.numpy() if isinstance(array, pyaclnn.DeviceArray) else array).tobytes()
        for array in arrays
    ]


def eager(name: str) -> Operation:
    """An operator on device arrays, with results of its own."""

    def run(stage: Stage) -> list[bytes]:
        with pyaclnn.Stream(stage.device) as stream:
            results = getattr(pyaclnn, name)(**stage.calls[name], stream=stream)
            stream.synchronize()
            return contents(results)

    return run


def on_host(name: str) -> Operation:
    """An operator on NumPy arrays."""
    arguments: dict[int, dict[str, Any]] = {}

    def run(stage: Stage) -> list[bytes]:
        mine = arguments.setdefault(id(stage), stage.on_host(name))
        with pyaclnn.Stream(stage.device) as stream:
            return contents(getattr(pyaclnn, name)(**mine, stream=stream))

    return run


def planned(name: str) -> Operation:
    """A plan of an operator that CANN has not cached: made, run, bound to another array, run."""

    def run(stage: Stage) -> list[bytes]:
        with ThreadPoolExecutor(1) as thread:  # the cache is the thread's
            return thread.submit(_plan, name, stage, repeatable=True).result()

    return run


def planned_again(name: str) -> Operation:
    """The same, where CANN has the call in its cache, so that each run is both phases."""

    def run(stage: Stage) -> list[bytes]:
        if name not in stage.cached:
            eager(name)(stage)
            stage.cached.add(name)
        return _plan(name, stage, repeatable=False)

    return run


def _plan(name: str, stage: Stage, *, repeatable: bool) -> list[bytes]:
    operator, arguments = getattr(pyaclnn, name), stage.calls[name]
    other: dict[str, Any] = {ESSENTIAL[name].primary.name: stage.other}
    with (
        pyaclnn.Stream(stage.device) as stream,
        pyaclnn.plan(operator, **arguments, stream=stream) as plan,
    ):
        assert plan.repeatable is repeatable
        plan.run()
        results = plan.run(**other)
        stream.synchronize()
        return contents(results)


def copies(stage: Stage) -> list[bytes]:
    """Copies of all kinds: pageable, pinned, queued, of views."""
    back = pyaclnn.pinned_empty(SHAPE, np.float32, stage.device)
    with pyaclnn.Stream(stage.device) as stream:
        array = pyaclnn.to_device(stage.pinned, stage.device, stream)
        array.copy_to(back, stream)
        stream.synchronize()
        found = [back.tobytes()]
        array.fill_bytes(1, stream)
        stream.synchronize()
        found += [array.numpy().tobytes()]
        array.copy_from(numbers(*SHAPE))
        found += [array[1:, ::2].numpy().tobytes(), array.T.numpy().tobytes()]
        array.close()
    return found


def arrays(stage: Stage) -> list[bytes]:
    """Device arrays without a copy, and memory by itself."""
    with pyaclnn.Stream(stage.device) as stream:
        empty = pyaclnn.DeviceArray.empty(SHAPE, np.float32, stage.device)
        empty.fill_bytes(0, stream)
        stream.synchronize()
        found = [empty.numpy().tobytes()]
        empty.close()
    with pyaclnn.Buffer(WORKSPACE, stage.device) as buffer:
        found += [str(buffer.nbytes).encode()]
    return found


def workspaces(stage: Stage) -> list[bytes]:
    """A stream whose workspace is the caller's, and whose pool is off."""
    with (
        pyaclnn.Buffer(WORKSPACE, stage.device) as buffer,
        pyaclnn.Stream(stage.device) as stream,
    ):
        stream.pool.enabled = False
        stream.workspace.use(buffer)
        results = pyaclnn.rms_norm_grad(**stage.calls["rms_norm_grad"], stream=stream)
        stream.synchronize()
        stream.workspace.use(None)
        return contents(results)


def given_results(stage: Stage) -> list[bytes]:
    """An operator that writes to arrays of the caller; then everything idle is given back."""
    with pyaclnn.Stream(stage.device) as stream:
        out = [pyaclnn.DeviceArray.empty(s, np.float32, stage.device) for s in (SHAPE, (4, 1))]
        pyaclnn.rms_norm(**stage.calls["rms_norm"], out=out, stream=stream)
        stream.synchronize()
        found = contents(out)
        stream.workspace.trim()
        stream.pool.trim()
        return found


def planned_for_two_streams(stage: Stage) -> list[bytes]:
    """A plan that runs on the stream it was made for, and on another one after that."""
    arguments = stage.calls["rms_norm_grad"]
    operator: Callable[..., Any] = pyaclnn.rms_norm_grad  # mypy resolves no overload by a dict
    with pyaclnn.Stream(stage.device) as stream, pyaclnn.Stream(stage.device) as other:
        with pyaclnn.plan(operator, **arguments, stream=stream) as plan:
            plan.run()
            with stream.record() as done:
                other.wait(done)
                results = plan.run(stream=other)
                other.synchronize()
                stream.synchronize()
        return contents(results)


def events(stage: Stage) -> list[bytes]:
    """Streams that wait for each other, and what events tell."""
    with pyaclnn.Stream(stage.device) as stream, pyaclnn.Stream(stage.device) as other:
        with stream.record() as start:
            other.wait(start)
            with other.record() as end:
                end.synchronize()
                end.synchronize(1)
                start.elapsed_ms(end)
                found = [str(end.is_done()).encode()]
        other.synchronize(1)
        found += [str(other.is_done()).encode()]
    return found


def devices(stage: Stage) -> list[bytes]:
    """A device that is open already, opened once more."""
    with pyaclnn.Device(stage.device.id) as other:
        found = [str(other.memory_info().total).encode(), other.soc_name.encode()]
        pyaclnn.Buffer(64, other).close()
        other.synchronize()
        other.synchronize(1)
    return [*found, str(pyaclnn.device_count()).encode()]


def another_device(stage: Stage) -> list[bytes]:
    """A device that was not open, with its own process, closed with work in its default stream."""
    with pyaclnn.Device(1) as other:
        assert other.id != stage.device.id
        pyaclnn.DeviceArray.empty(SHAPE, np.float32, other).fill_bytes(0)
    return []


def smoked(stage: Stage) -> list[bytes]:
    """One case of the smoke test, which reports and does not raise."""
    case = Case("rms_norm", SHAPE, np.dtype(np.float32))
    outcomes = list(smoke.run(case, stage.device, patience=0))
    for outcome in outcomes:
        if not outcome.passed:
            raise pyaclnn.AclError(outcome.verdict, code=outcome.code)
    return [outcome.output.encode() for outcome in outcomes]


def _all() -> Iterator[tuple[str, Operation]]:
    for name in ESSENTIAL:
        yield f"{name} eager", eager(name)
        yield f"{name} on the host", on_host(name)
        yield f"{name} planned", planned(name)
        yield f"{name} planned again", planned_again(name)
    for operation in (
        *(copies, arrays, given_results, workspaces, planned_for_two_streams),
        *(events, devices, another_device, smoked),
    ):
        yield operation.__name__, operation


OPERATIONS = dict(_all())
SLOW = frozenset({"another_device"})
"""Slow operations, tested with one code for each call."""
