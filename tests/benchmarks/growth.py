# SPDX-License-Identifier: Apache-2.0
"""Growth of the simulated NPU's cost with size and number.

Its main program draws a picture, into the file that is named.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .measure import Comparison, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["compare"]

SCALES: dict[str, tuple[int, ...]] = {
    "elements of an operator": tuple(4**power for power in range(5, 13)),
    "queued operators": (1, 10, 100, 1000, 10000),
    "streams": (1, 4, 16, 64, 256),
    "devices": (1, 2, 4, 8, 16),
    "live blocks": (100, 1000, 10000, 100000, 1000000),
}
LINEAR = 1.5
"""Time for each, where there are most, against where there are fewer: more is noise or worse."""


def compare(turns: int) -> Iterator[Comparison]:
    """Time each of many against each of a tenth or less of them; what is linear stays below 1."""
    for what, points in measured(turns).items():
        most = max(points)
        fewer = [number for number in points if number <= most // 8]
        each = {number: tuple(s / number for s in points[number].samples) for number in points}
        baseline = Timing(each[fewer[-1]])
        name = f"each of {most}"
        yield Comparison(what, name, Timing(each[most]), f"of {fewer[-1]}", baseline, LINEAR)


def measured(turns: int) -> dict[str, dict[int, Timing]]:
    """Return by what is counted, and how many there are, the time for all.

    One turn tries whether all of it works, with few of each.
    """
    scales = {what: _few(ns) if turns == 1 else ns for what, ns in SCALES.items()}
    os.environ["PYACLNN_MOCK_DEVICES"] = str(SCALES["devices"][-1])
    import pyaclnn  # noqa: PLC0415  # it looks at the variable when it is loaded

    pyaclnn.select_backend("mock")
    devices = {n: _timing(_devices(pyaclnn, n), turns) for n in scales["devices"]}
    with pyaclnn.Device(0) as device:
        makers: dict[str, Callable[[Any, Any, int], Callable[[], object]]] = {
            "elements of an operator": _elements,
            "queued operators": _queued,
            "streams": _streams,
            "live blocks": _blocks,
        }
        found = {
            what: {n: _timing(make(pyaclnn, device, n), turns) for n in scales[what]}
            for what, make in makers.items()
        }
    return {**found, "devices": devices}


def _few(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Return the first of them, as many as a comparison takes."""
    enough = next(place for place, n in enumerate(numbers) if n >= 8 * numbers[0])
    return numbers[: enough + 1]


def _timing(way: Callable[[], object], turns: int) -> Timing:
    samples = []
    for _ in range(turns + 1):
        start = time.perf_counter()
        way()
        samples.append(time.perf_counter() - start)
    return Timing(tuple(samples[1:]))


def _elements(pyaclnn: Any, device: Any, number: int) -> Callable[[], object]:
    x = pyaclnn.to_device(np.ones((number // 256, 256), np.float32), device)
    out = tuple(pyaclnn.rms_norm(x, x[0]))
    device.synchronize()

    def run() -> None:
        pyaclnn.rms_norm(x, x[0], out=out)
        device.synchronize()

    return run


def _queued(pyaclnn: Any, device: Any, number: int) -> Callable[[], object]:
    x = pyaclnn.to_device(np.ones((8, 64), np.float32), device)
    add, y = pyaclnn.op("aclnnAdd"), pyaclnn.DeviceArray.empty((8, 64), np.float32, device)

    def run() -> None:
        for _ in range(number):
            add(x, x, 1.0, y)
        device.synchronize()

    return run


def _streams(pyaclnn: Any, device: Any, number: int) -> Callable[[], object]:
    x = pyaclnn.to_device(np.ones((8, 64), np.float32), device)
    streams = [pyaclnn.Stream(device) for _ in range(number)]
    add = pyaclnn.op("aclnnAdd")
    places = [pyaclnn.DeviceArray.empty((8, 64), np.float32, device) for _ in streams]

    def run() -> None:
        for stream, y in zip(streams, places, strict=True):
            add(x, x, 1.0, y, stream=stream)
        device.synchronize()

    return run


def _devices(pyaclnn: Any, number: int) -> Callable[[], object]:
    def run() -> None:
        devices = [pyaclnn.Device(place) for place in range(number)]
        for device in devices:
            x = pyaclnn.to_device(np.ones((8, 64), np.float32), device)
            with device:
                pyaclnn.op("aclnnAdd")(x, x, 1.0)
                device.synchronize()
        for device in devices:
            device.close()

    return run


def _blocks(pyaclnn: Any, device: Any, number: int) -> Callable[[], object]:
    raw, new = pyaclnn.raw, pyaclnn.raw.ffi.new

    def run() -> None:
        device.synchronize()
        blocks = [new("void **") for _ in range(number)]
        for block in blocks:
            raw.aclrtMalloc(block, 32, 0)
        for block in blocks:
            raw.aclrtFree(block[0])

    return run


# ---- the picture ----------------------------------------------------------------------------

_WIDTH, _HEIGHT, _LEFT, _TOP = 250, 150, 60, 30
_FRAME = 'fill="none" stroke="#bbb"'


def picture(found: dict[str, dict[int, Timing]]) -> str:
    """Draw the time of each, by number, in logarithmic scales; flat or falling is linear."""
    rows = -(-len(found) // 2)
    size = f"0 0 {2 * (_WIDTH + 80)} {rows * (_HEIGHT + 80)}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif"'
    parts = [f'{head} font-size="13">', "<title>How cost grows: time of each, by number</title>"]
    for place, (what, points) in enumerate(found.items()):
        left = _LEFT + place % 2 * (_WIDTH + 80)
        top = _TOP + place // 2 * (_HEIGHT + 80)
        parts.append(_chart(what, points, left, top))
    return "\n".join([*parts, "</svg>", ""])


def _chart(what: str, points: dict[int, Timing], left: int, top: int) -> str:
    numbers = np.array([*points], float)
    each = np.array([timing.low * 1e9 for timing in points.values()]) / numbers
    x = left + _WIDTH * np.log(numbers / numbers[0]) / np.log(numbers[-1] / numbers[0])
    low, high = each.min() / 2, each.max() * 2
    y = top + _HEIGHT * np.log(high / each) / np.log(high / low)
    places = [(round(a), round(b)) for a, b in zip(x, y, strict=True)]
    line = " ".join(f"{a},{b}" for a, b in places)
    parts = [
        _text(left, top - 8, f"{what}: time of each", "start"),
        f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" {_FRAME}/>',
        f'<polyline points="{line}" fill="none" stroke="#9575cd" stroke-width="2"/>',
        *(f'<circle cx="{a}" cy="{b}" r="3" fill="#5e35b1"/>' for a, b in places),
    ]
    for end in (0, -1):
        parts.append(_text(places[end][0], places[end][1] - 8, _short(each[end])))
        parts.append(_text(places[end][0], top + _HEIGHT + 16, f"{int(numbers[end]):,}"))
    return "".join(parts)


def _text(x: int, y: int, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#333">{text}</text>'


def _short(nanoseconds: float) -> str:
    for unit, scale in (("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(measured(5)), encoding="utf-8")
