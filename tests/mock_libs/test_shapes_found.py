# SPDX-License-Identifier: Apache-2.0
"""An operator whose shapes depend on the data tells them through its tensor, when it has run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from . import npu
from .npu import ffi
from .test_objects import numbers


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("kept", [True, False])
def test_nonzero_tells_how_many_rows_it_has_written(kept: bool) -> None:
    given = np.array([0, 2, 0, 5, 7], np.float32)
    memory, rows = npu.device_memory(given.nbytes), npu.device_memory(5 * 8)
    npu.memory_to_free += [memory, rows]
    npu.write(memory, given.tobytes())
    tensors: list[Any] = [npu.tensor((5,), memory), npu.tensor((5, 1), rows, 9)]
    size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
    npu.call("aclnnNonzeroGetWorkspaceSize", *tensors, size, executor)
    npu.call("aclnnNonzero", ffi.NULL, 0, executor[0], ffi.NULL)
    assert numbers("aclGetViewShape", tensors[1]) == [5, 1]
    if not kept:  # nobody is told then
        npu.call("aclDestroyTensor", tensors.pop())
    npu.call("aclrtSynchronizeStream", ffi.NULL)
    if kept:
        assert numbers("aclGetViewShape", tensors[1]) == [3, 1]
    assert np.frombuffer(npu.read(rows, 24), np.int64).tolist() == [1, 3, 4]
    for made in tensors:
        npu.call("aclDestroyTensor", made)
