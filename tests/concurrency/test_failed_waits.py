# SPDX-License-Identifier: Apache-2.0
"""A wait that failed has not waited: memory of queued work stays where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.base.errors import AclError, MissingSymbolError
from pyaclnn.ops import rms_norm
from pyaclnn.runtime import progress
from pyaclnn.runtime.creation import to_device

if TYPE_CHECKING:
    from pyaclnn.runtime.stream import Stream

ONES = np.ones((2, 8), np.float32)
CODES = [507899, 507005, 507901, 207001, 999001, 107000, 507046, 507015]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("timeout", [None, 1.0])
def test_a_failed_synchronize_releases_nothing(
    code: int, timeout: float | None, stream: Stream
) -> None:
    x, gamma = to_device(ONES), to_device(ONES[0])
    y = rms_norm(x, gamma, stream=stream).y
    del x
    with mock.faults(f"aclrtSynchronizeStream*={code}"), pytest.raises(AclError):
        stream.synchronize(timeout)
    assert stream._timeline.busy
    stream.synchronize()
    np.testing.assert_allclose(y.numpy(), 1, atol=1e-3)
    assert mock.violations() == []


def test_a_synchronize_that_is_missing_releases_nothing(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise MissingSymbolError("not here", symbol="aclrtSynchronizeStreamWithTimeout")

    x = to_device(ONES)
    y = rms_norm(x, x[0], stream=stream).y
    del x
    with monkeypatch.context() as patch:
        patch.setattr(progress, "wait_for", missing)
        with pytest.raises(MissingSymbolError):
            stream.synchronize(1.0)
    assert stream._timeline.busy
    stream.synchronize()
    np.testing.assert_allclose(y.numpy(), 1, atol=1e-3)
    assert mock.violations() == []
