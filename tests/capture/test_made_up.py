# SPDX-License-Identifier: Apache-2.0
"""Inputs that a trace has no contents of are made up without a race."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .captured import capture, pyaclnn

if TYPE_CHECKING:
    from pathlib import Path

STREAMS = """
import numpy as np, pyaclnn
from pyaclnn import aclnn
with pyaclnn.Device(0) as device:
    x, y = (pyaclnn.to_device(np.arange(1000, dtype=np.float32), device) for _ in range(2))
    streams = [pyaclnn.Stream(device) for _ in range(3)]
    for _ in range(3):
        for stream in streams[1:]:
            stream.wait(streams[0].record())
            aclnn.add(x, y, alpha=1.0, stream=stream)
        for stream in streams[1:]:
            streams[0].wait(stream.record())
        aclnn.inplace_muls(y, np.float32(2), stream=streams[0])
    device.synchronize()
    for stream in streams:
        stream.close()
"""


def test_made_up_inputs_meet_no_work_of_another_stream(tmp_path: Path) -> None:
    hashes = capture(tmp_path / "run.trace", STREAMS)
    done = pyaclnn("replay", hashes)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "0 results compared" in done.stdout
