# SPDX-License-Identifier: Apache-2.0
"""Arguments for plans in tests: arrays, and calls that are new to CANN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.runtime.creation import to_device

if TYPE_CHECKING:
    from pyaclnn.runtime.array import DeviceArray

__all__ = ["equal", "fresh_eps", "random"]

RANDOM = np.random.default_rng(5)


def random(*shape: int) -> DeviceArray:
    return to_device(RANDOM.standard_normal(shape).astype(np.float32))


def fresh_eps(_seen: list[float] = [1e-4]) -> float:  # noqa: B006  # it counts
    """Return an epsilon that no call had so far, so that phase 1 is not answered by the cache."""
    _seen[0] *= 1.0001
    return _seen[0]


def equal(results: Any, others: Any) -> None:
    for one, other in zip(results, others, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
