# SPDX-License-Identifier: Apache-2.0
"""Plans: phase 1 once, phase 2 as often as wanted, with the results of the operator itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyaclnn.base.errors import AclError, ContextError, InvalidArgumentError
from pyaclnn.calling import plan as plans
from pyaclnn.calling.launch import launch
from pyaclnn.calling.plan import Plan, plan
from pyaclnn.ops import layer_norm_backward, rms_norm, rms_norm_grad
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.handle import live_handles
from pyaclnn.runtime.stream import Stream

from .plan_arguments import equal, fresh_eps, random


def test_a_plan_leaves_out_what_is_masked_off(stream: Stream) -> None:
    grad, x, mean, rstd = random(3, 8), random(3, 8), random(3), random(3)
    mask = (True, False, True)
    with plan(
        layer_norm_backward, grad, x, 8, mean, rstd, output_mask=mask, stream=stream
    ) as ready:
        for result in ready.results:
            if result is not None:
                result.fill_bytes(255)
        results = ready.run()
        assert results is ready.results
        expected = layer_norm_backward(grad, x, 8, mean, rstd, output_mask=mask, stream=stream)
        stream.synchronize()
        assert type(results) is type(expected)
        assert results.grad_weight is expected.grad_weight is None
        equal(*([a for a in array if a is not None] for array in (results, expected)))


@pytest.mark.pyaclnn(contract=False)
def test_a_plan_is_asynchronous(x: DeviceArray, gamma: DeviceArray, stream: Stream) -> None:
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        ready.run()
        with pytest.raises(ContextError, match="has still to write"):
            ready.results.y.numpy()
        stream.synchronize()
        assert ready.results.y.numpy().all()


def test_a_plan_writes_to_arrays_given_for_it(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    y = DeviceArray.empty((3, 8), np.float32)
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream, out=(y, None)) as ready:
        assert ready.run().y is y


def test_a_plan_of_a_call_that_cann_has_cached_does_both_phases_a_run(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    eps = fresh_eps()
    with plan(rms_norm, x, gamma, eps, stream=stream) as first:
        assert first.repeatable
        assert repr(first) == "<Plan of aclnnRmsNorm, repeatable>"
    rms_norm(x, gamma, eps, stream=stream)
    with plan(rms_norm, x, gamma, eps, stream=stream) as second:
        assert not second.repeatable
        assert repr(second) == "<Plan of aclnnRmsNorm, both phases a run>"
        before = second.run(), rms_norm(x, gamma, eps, stream=stream)
        other = random(3, 8)
        stream.synchronize()
        equal(*before)
        again = second.run(x=other), rms_norm(other, gamma, eps, stream=stream)
        stream.synchronize()
        equal(*again)
    assert repr(second) == "<Plan of aclnnRmsNorm, closed>"


def test_a_plan_runs_on_two_streams(x: DeviceArray, gamma: DeviceArray, stream: Stream) -> None:
    with (
        Stream() as other,
        plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as one,
        plan(rms_norm, x, gamma, fresh_eps(), stream=other) as two,
    ):
        for ready in (one, two):
            for queue in (None, other, stream):
                for array in ready.results:
                    array.fill_bytes(0)
                ready.run(stream=queue)
                stream.synchronize()
                other.synchronize()
                assert ready.results.y.numpy().all()


def test_a_closed_plan_releases_its_arrays(stream: Stream) -> None:
    x, gamma = (to_device(np.ones(shape, np.float32), stream.device) for shape in ((2, 8), (8,)))
    ready = plan(rms_norm, x, gamma, fresh_eps(), stream=stream)
    ready.run()
    stream.synchronize()
    del x, gamma
    held = live_handles()["device memory"]
    ready.close()
    closed = live_handles()["device memory"]
    del ready
    assert held - 2 >= closed == live_handles()["device memory"]


def test_a_closed_plan_says_so_and_gives_everything_back(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    for cached in (False, True):
        eps = fresh_eps()
        if cached:
            rms_norm(x, gamma, eps, stream=stream)
        ready = plan(rms_norm, x, gamma, eps, stream=stream)
        assert ("plan" in live_handles()) is not cached
        ready.run()
        ready.close()
        ready.close()
        assert ready.closed
        assert "plan" not in live_handles()
        with pytest.raises(ContextError, match="this plan is closed"):
            _ = ready.results
        cases: list[dict[str, Any]] = [{}, {"x": x}, {"nothing": x}]
        for arrays in cases:
            with pytest.raises(ContextError) as caught:
                ready.run(**arrays)
            assert str(caught.value) == (
                "this plan is closed.\nHint: make another one, or close it later."
            )
    stream.synchronize()


def test_a_plan_that_is_forgotten_is_given_back(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    ready = plan(rms_norm, x, gamma, fresh_eps(), stream=stream)
    ready.run()
    del ready
    assert "plan" not in live_handles()
    stream.synchronize()


def test_streams_that_do_not_fit_are_refused(
    x: DeviceArray, gamma: DeviceArray, stream: Stream, device: Device
) -> None:
    strange: list[Any] = [7, "s", device, object(), stream.pointer, True]
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        for given in strange:
            with pytest.raises(InvalidArgumentError, match=r"Plan.run\(\): 'stream' is"):
                ready.run(stream=given)
        with Stream() as gone:
            pass
        with pytest.raises(InvalidArgumentError, match="must be an open Stream of device 0"):
            ready.run(stream=gone)
        with (
            Device(1) as second,
            Stream(second) as other,
            pytest.raises(InvalidArgumentError, match="must be an open Stream of device 0"),
        ):
            ready.run(stream=other)


def test_a_plan_outlives_its_stream_but_needs_another_one(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    with Stream() as own:
        ready = plan(rms_norm, x, gamma, fresh_eps(), stream=own)
        ready.run()
    with pytest.raises(InvalidArgumentError, match=r"Plan.run\(\): 'stream' is <Stream .* closed>"):
        ready.run()
    ready.run(stream=stream)
    stream.synchronize()
    ready.close()


def test_an_array_that_is_closed_afterwards_is_refused(gamma: DeviceArray, stream: Stream) -> None:
    x = random(3, 8)
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        ready.run()
        x.close()
        with pytest.raises(ContextError, match="memory of an argument was given back"):
            ready.run()
        ready.run(x=random(3, 8))
        stream.synchronize()


def test_a_plan_tells_its_workspace(stream: Stream) -> None:
    dy, x, rstd, gamma = random(64, 64), random(64, 64), random(64), random(64)
    with plan(rms_norm_grad, dy, x, rstd, gamma, stream=stream) as ready:
        assert isinstance(ready, Plan)
        assert ready.workspace_size >= 0
        ready.run()
        assert stream.workspace.stats().size >= ready.workspace_size
        stream.synchronize()


def test_a_failure_of_a_run_is_raised_once_and_the_plan_goes_on(
    x: DeviceArray, gamma: DeviceArray, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[object] = []

    def fail(*arguments: object) -> int:
        runs.append(arguments)
        with pytest.raises(AclError):
            launch("aclnnRmsNorm", None, None, 1e-6, None, None, stream=stream)
        return 161001

    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        with monkeypatch.context() as patch:
            patch.setattr(plans, "_run", fail)
            with pytest.raises(AclError, match="161001"):
                ready.run()
        assert len(runs) == 1
        ready.run()
        stream.synchronize()
