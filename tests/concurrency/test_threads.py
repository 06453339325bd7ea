# SPDX-License-Identifier: Apache-2.0
"""Threads share streams, events and plans: whatever the order of their steps, results are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.calling.plan import plan
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.event import Event
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.stream import Stream

from .schedule import every_interleaving

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device

SHARED = ("plan.py", "timeline.py", "stream.py", "event.py", "memory.py", "handle.py", "layout.py")
"""Barrier of the threads."""

ROWS = np.arange(1, 17, dtype=np.float32).reshape(2, 8)
GAMMA = np.ones(8, np.float32)


def expected(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    scaled: np.ndarray[Any, Any] = rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True) + 1e-6)
    return scaled


class Launching:
    """Launches on one stream, whose inputs are dropped at once."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.gamma = to_device(GAMMA)
        self.results: list[DeviceArray] = []

    def launch(self) -> None:
        x = to_device(ROWS)
        self.results.append(rms_norm(x, self.gamma, stream=self.stream).y)

    def check(self) -> None:
        self.stream.synchronize()
        for result in self.results:
            np.testing.assert_allclose(result.numpy(), expected(ROWS), rtol=1e-4)
        assert mock.violations() == []


class Recording(Launching):
    def work(self) -> None:
        with self.stream.record() as event:
            event.synchronize()

    def meanwhile(self) -> None:
        self.launch()


@pytest.mark.exhaustive
def test_what_is_queued_while_an_event_is_recorded_has_not_passed_with_it(stream: Stream) -> None:
    assert every_interleaving(lambda: Recording(stream), SHARED) > 30


class WaitingForAnEventRecordedAgain(Launching):
    def __init__(self, stream: Stream, event: Event, other: Stream) -> None:
        super().__init__(stream)
        self.event, self.other = event, other
        self.launch()
        stream.record(event)

    def work(self) -> None:
        self.event.synchronize()

    def meanwhile(self) -> None:
        self.launch()
        self.other.record(self.event)


@pytest.mark.exhaustive
def test_an_event_that_is_recorded_again_during_a_wait_says_nothing_of_the_first_stream(
    stream: Stream,
) -> None:
    with Stream() as other, Event() as event:
        steps = every_interleaving(
            lambda: WaitingForAnEventRecordedAgain(stream, event, other), SHARED
        )
    assert steps > 10


class CatchingUp(Launching):
    """Both threads find that the stream should be asked how far it is."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self.stream._timeline.crowded = True

    def work(self) -> None:
        self.launch()

    def meanwhile(self) -> None:
        self.stream._timeline.crowded = True
        self.launch()
        self.stream._timeline.crowded = True
        self.launch()


@pytest.mark.exhaustive
def test_two_launches_that_look_how_far_the_stream_is_do_not_disturb_each_other(
    stream: Stream,
) -> None:
    assert every_interleaving(lambda: CatchingUp(stream), SHARED) > 20


class SharingAPlan(Launching):
    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        x = to_device(ROWS)
        self.plan = plan(rms_norm, x, self.gamma, 1e-6, stream=stream)
        # rstd of a multiple is what tells the arrays apart.
        self.pairs = [(factor, DeviceArray.empty((2, 1), np.float32)) for factor in (2, 5)]
        self.inputs = [to_device(ROWS * factor) for factor, _ in self.pairs]

    def run(self, number: int) -> None:
        self.plan.run(x=self.inputs[number], rstd=self.pairs[number][1])

    def work(self) -> None:
        self.run(0)

    def meanwhile(self) -> None:
        self.run(1)

    def check(self) -> None:
        self.plan.run()
        super().check()
        for factor, rstd in self.pairs:
            wanted = 1 / np.sqrt(((ROWS * factor) ** 2).mean(axis=-1, keepdims=True) + 1e-6)
            np.testing.assert_allclose(rstd.numpy(), wanted, rtol=1e-4)
        self.plan.close()


@pytest.mark.exhaustive
def test_a_plan_of_several_threads_runs_on_the_arrays_that_each_has_given(stream: Stream) -> None:
    assert every_interleaving(lambda: SharingAPlan(stream), SHARED) > 30


class MakingALayout:
    rows = 1_000_000  # no array of an earlier test has so many, whose layout would be found

    def __init__(self, device: Device) -> None:
        MakingALayout.rows += 1
        self.key = (device._context, np.dtype(np.float32), (self.rows, 3), (12, 4))
        self.made: list[Layout] = []

    def work(self) -> None:
        self.made.append(Layout.of(*self.key))

    meanwhile = work

    def check(self) -> None:
        one, other = self.made
        assert one is other


def test_equal_layouts_made_at_a_time_are_one_object(device: Device) -> None:
    assert every_interleaving(lambda: MakingALayout(device), SHARED) > 20
