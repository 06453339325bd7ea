# SPDX-License-Identifier: Apache-2.0
"""Objects that CANN refuses to make, and NULL that programs end, are none for the recorder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.capture.trace import Call, Contents, read_trace

from .captured import capture

if TYPE_CHECKING:
    from pathlib import Path

REFUSED_TENSORS = """
import pyaclnn
from pyaclnn import aclnn, raw
device = pyaclnn.Device(0)
no, shape = raw.ffi.NULL, raw.ffi.new("int64_t[2]", [2, 3])
freed = pyaclnn.to_device(b := __import__("numpy").ones((2, 3), "f4"), device)
address = raw.ffi.cast("void *", freed.address)
assert not raw.aclCreateTensor(no, 2, raw.ACL_FLOAT, no, 0, raw.ACL_FORMAT_ND, no, 0, address)
assert not raw.aclCreateTensor(shape, 2, raw.ACL_FLOAT, no, 0, raw.ACL_FORMAT_ND, no, 2, address)
pyaclnn.layer_norm(b, 3)
"""


def test_an_object_that_was_refused_is_not_recorded_as_an_absent_tensor(tmp_path: Path) -> None:
    trace = capture(tmp_path / "run.trace", REFUSED_TENSORS, "--contents", "full")
    records = list(read_trace(trace))
    made = [r for r in records if isinstance(r, Call) and r.name == "aclCreateTensor"]
    assert len(made) > 2
    recorded = {r.name for r in records if isinstance(r, Contents)}
    assert {"weightOptional", "biasOptional"}.isdisjoint(recorded)
    assert "input" in recorded


NULL_ENDS = """
import numpy as np, pyaclnn
from pyaclnn import aclnn, raw
x = pyaclnn.to_device(np.ones(4, np.float32))
raw.aclDestroyTensor(raw.ffi.NULL)
for factor in range(50):
    aclnn.muls(x, np.float32(factor))
x.device.synchronize()
"""


def test_a_program_may_end_what_it_never_made(tmp_path: Path) -> None:
    records = read_trace(capture(tmp_path / "run.trace", NULL_ENDS))
    names = [record.name for record in records if isinstance(record, Call)]
    assert names.count("aclnnMuls") == 50
