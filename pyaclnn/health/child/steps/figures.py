# SPDX-License-Identifier: Apache-2.0
"""Steps that measure how fast a device copies and launches."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn import aclnn, ops
from pyaclnn.base.errors import MissingSymbolError
from pyaclnn.calling.plan import plan
from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.report.record import Figure
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pyaclnn.health.child.session import Session

__all__ = ["meet"]

_GIGA: Final = 1e9
_FEWEST: Final = 3
_SEED: Final = 20240521
_SHAPE: Final = (8, 1024)
_STREAMS: Final = 4
_BATCH: Final = 64
_TERA: Final = 1e12
_LENGTH: Final = 4096
"""Rows and columns of the matrices that are multiplied."""
_SIMULATED_LENGTH: Final = 128
_PRODUCTS: Final = 16
_SIGNS: Final = np.array([-1, 1], np.float16)
_OWN_TYPE: Final = 0
"""The cubeMathType that computes in the dtype of the matrices."""


class _LostError(Exception):
    """A copy differs from its source."""

    def __init__(self, what: str, wrong: int, size: int) -> None:
        super().__init__(f"{what}: {wrong} of {size} bytes differ")


def _best(work: Callable[[], object], seconds: float) -> float:
    """Repeat work for so many seconds; return the shortest duration."""
    work()
    least, count, end = float("inf"), 0, time.monotonic() + seconds
    while count < _FEWEST or time.monotonic() < end:
        begun = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - begun)
        count += 1
    return least


def _rate(name: str, size: int, work: Callable[[], object], session: Session) -> Figure:
    return Figure(name, size / _best(work, session.task.figure_seconds) / _GIGA, "GB/s")


def _random(size: int) -> NDArray[np.uint8]:
    return np.random.default_rng(_SEED).integers(0, 256, size, np.uint8)


def _require_same(what: str, there: NDArray[Any], wanted: NDArray[Any]) -> None:
    wrong = int(np.count_nonzero(there != wanted))
    if wrong:
        raise _LostError(what, wrong, wanted.size)


def _unless_lost(step: Callable[[Session], Finding]) -> Callable[[Session], Finding]:
    def run(session: Session) -> Finding:
        try:
            return step(session)
        except _LostError as lost:
            return found("FIG-101.lost", value("copied", lost), what=lost)

    return run


def _measured(figures: Sequence[Figure]) -> Finding:
    return replace(ok("; ".join(map(str, figures))), figures=tuple(figures))


def _waited(
    copy: Callable[..., None], other: NDArray[Any] | DeviceArray, stream: Stream
) -> Callable[[], None]:
    """Return a function that copies on a stream and waits for it."""

    def work() -> None:
        copy(other, stream)
        stream.synchronize()

    return work


@_unless_lost
def _host(session: Session) -> Finding:
    device, size = session.device, session.task.figure_bytes
    sent, pinned, figures = _random(size), pinned_empty(size, np.uint8, device), []
    with Stream(device) as stream:
        data = DeviceArray.empty((size,), np.uint8, device)
        pinned[:] = sent
        work = _waited(data.copy_from, pinned, stream)
        figures.append(_rate("host_to_device_pinned", size, work, session))
        pinned[:] = 0
        work = _waited(data.copy_to, pinned, stream)
        figures.append(_rate("device_to_host_pinned", size, work, session))
        _require_same("pinned memory, to the device and back", pinned, sent)
        read = np.empty_like(sent)
        figures.append(
            _rate("host_to_device_pageable", size, lambda: data.copy_from(sent), session)
        )
        figures.append(_rate("device_to_host_pageable", size, lambda: data.copy_to(read), session))
        _require_same("pageable memory, to the device and back", read, sent)
        data.close()
    return _measured(figures)


@_unless_lost
def _within(session: Session) -> Finding:
    device, size = session.device, session.task.figure_bytes
    sent = _random(size)
    with Stream(device) as stream:
        first = to_device(sent, device)
        second = DeviceArray.empty((size,), np.uint8, device)
        figure = _rate("within_device", size, _waited(second.copy_from, first, stream), session)
        _require_same("from one place of the device to another", second.numpy(), sent)
        first.close()
        second.close()
    memory = Figure("device_memory", float(device.memory_info().total), "bytes")
    return _measured([figure, memory])


@_unless_lost
def _between(session: Session) -> Finding:
    device, size = session.device, session.task.figure_bytes
    others = [number for number in session.task.peers if number != device.id]
    if not others:
        return skip("there is no other device to copy to")
    sent, figures = _random(size), []
    first = to_device(sent, device)
    for number in others:
        with Device(number) as other, Stream(other) as stream:
            there = DeviceArray.empty((size,), np.uint8, other)
            work = _waited(there.copy_from, first, stream)
            figures.append(_rate(f"to_device_{number}", size, work, session))
            _require_same(f"from device {device.id} to {number}", there.numpy(), sent)
            there.close()
    first.close()
    return _measured(figures)


class _Small:
    """A small operator, its arrays and its plan on a stream."""

    def __init__(self, stream: Stream) -> None:
        device, self.stream = stream.device, stream
        x = np.random.default_rng(_SEED).standard_normal(_SHAPE).astype(np.float32)
        gamma = np.ones(_SHAPE[1], np.float32)
        self.x, self.gamma = to_device(x, device), to_device(gamma, device)
        self.out = tuple(
            to_device(np.full(shape, np.nan, np.float32), device)
            for shape in (_SHAPE, (_SHAPE[0], 1))
        )
        self.plan = plan(ops.rms_norm, self.x, self.gamma, out=self.out, stream=stream)
        self._wanted = x / np.sqrt(np.mean(x.astype(np.float64) ** 2, axis=1, keepdims=True))

    def launch(self) -> None:
        ops.rms_norm(self.x, self.gamma, out=self.out, stream=self.stream)

    def check(self) -> None:
        there = self.out[0].numpy()
        wrong = ~np.isclose(there, self._wanted, rtol=1e-3, atol=1e-5)
        _require_same("the last result of rms_norm", wrong, np.zeros_like(wrong))

    def close(self) -> None:
        self.plan.close()
        for array in (self.x, self.gamma, *self.out):
            array.close()


@_unless_lost
def _launches(session: Session) -> Finding:
    seconds = session.task.figure_seconds
    streams = [Stream(session.device) for _ in range(_STREAMS)]
    smalls = [_Small(stream) for stream in streams]

    def rate(name: str, launches: Sequence[Callable[[], object]]) -> Figure:
        def work() -> None:
            for number in range(_BATCH):
                launches[number % len(launches)]()
            for stream in streams[: len(launches)]:
                stream.synchronize()

        return Figure(name, _BATCH / _best(work, seconds), "1/s")

    figures = [
        rate("launches", [smalls[0].launch]),
        rate("launches_of_a_plan", [smalls[0].plan.run]),
        rate(f"launches_on_{_STREAMS}_streams", [small.launch for small in smalls]),
    ]
    for small in smalls:
        small.check()
        small.close()
    for stream in streams:
        stream.close()
    return _measured(figures)


def _computing(session: Session) -> Finding:
    device, seconds = session.device, session.task.figure_seconds
    length = _SIMULATED_LENGTH if session.task.simulated else _LENGTH
    random = np.random.default_rng(_SEED)
    left, right = (random.choice(_SIGNS, (length, length)) for _ in range(2))
    arrays = to_device(left, device), to_device(right, device)
    product = DeviceArray.empty((length, length), np.float16, device)
    with Stream(device) as stream:

        def work() -> None:
            for _ in range(_PRODUCTS):
                aclnn.mm(*arrays, product, _OWN_TYPE, stream=stream)
            stream.synchronize()

        try:
            rate = _PRODUCTS * 2 * length**3 / _best(work, seconds) / _TERA
        except MissingSymbolError as error:
            return skip(f"this CANN has no {error.symbol}")
    # Sums of few signs are whole numbers that float16 holds, so that each element is exact. A
    # product with a vector shows a wrong one without the time that another product would take.
    vector = random.choice(_SIGNS, length).astype(np.float64)
    wanted = left.astype(np.float64) @ (right.astype(np.float64) @ vector)
    wrong = int(np.count_nonzero(product.numpy().astype(np.float64) @ vector != wanted))
    for array in (*arrays, product):
        array.close()
    if wrong:
        return found("FIG-108.wrong", wrong=wrong, length=length)
    return _measured([Figure("matrix_products", rate, "TFLOP/s")])


@_unless_lost
def _overlap(session: Session) -> Finding:
    device, size = session.device, session.task.figure_bytes
    seconds = session.task.figure_seconds
    host = pinned_empty(size, np.uint8, device)
    host[:] = _random(size)
    with Stream(device) as copying, Stream(device) as computing:
        data, small = DeviceArray.empty((size,), np.uint8, device), _Small(computing)
        copy = _waited(data.copy_from, host, copying)

        def compute() -> None:
            for _ in range(count):
                small.plan.run()
            computing.synchronize()

        def both() -> None:
            for _ in range(count):
                small.plan.run()
            data.copy_from(host, copying)
            copying.synchronize()
            computing.synchronize()

        count = 1
        copied = _best(copy, seconds)
        # Computing takes as long as copying, so that either can hide behind the other.
        count = min(max(round(copied / _best(compute, seconds)), 1), 10_000)
        computed, together = _best(compute, seconds), _best(both, seconds)
        _require_same("copied while a second stream computed", data.numpy(), host)
        small.check()
        small.close()
        data.close()
    hidden = (copied + computed - together) / min(copied, computed)
    return _measured([Figure("copies_beside_computing", min(max(hidden, 0.0), 1.0), "ratio")])


def meet(meeting: str, name: object, count: int, patience: float = 30.0) -> int:
    """Wait until children of several devices are ready, so that they begin at the same moment.

    Args:
        meeting: A folder that all of them know.
        name: The name of this child.
        count: Number of children.
        patience: Seconds after which the children that are ready begin without the others.

    Returns:
        The number of children that are ready.
    """
    folder, until = Path(meeting), time.monotonic() + patience
    (folder / str(name)).touch()
    while (ready := len(list(folder.iterdir()))) < count and time.monotonic() < until:
        time.sleep(0.002)
    return ready


@_unless_lost
def _together(session: Session) -> Finding:
    device, task = session.device, session.task
    size = task.figure_bytes
    host = pinned_empty(size, np.uint8, device)
    host[:] = _random(size)
    with Stream(device) as stream:
        data, count = DeviceArray.empty((size,), np.uint8, device), 0
        copy = _waited(data.copy_from, host, stream)
        copy()
        there = meet(task.meeting, device.id, len(task.peers))
        begun = time.monotonic()
        while count < _FEWEST or time.monotonic() - begun < task.figure_seconds:
            copy()
            count += 1
        took = time.monotonic() - begun
        _require_same("copied beside all others", data.numpy(), host)
        data.close()
    figure = Figure("host_to_device_beside_others", size * count / took / _GIGA, "GB/s")
    finding = _measured([figure])
    return replace(finding, summary=f"{finding.summary}, {there} devices at a time")
