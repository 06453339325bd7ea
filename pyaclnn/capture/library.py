# SPDX-License-Identifier: Apache-2.0
"""Library of the recorder, and the functions of it that Python calls."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pyaclnn.cann import raw
from pyaclnn.cann.library import open_library
from pyaclnn.cann.packaged import packaged_file

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["content_hash", "recorder", "recorder_function"]


def recorder() -> Path:
    """Return the recorder's library."""
    return Path(packaged_file("capture/lib/libpyaclnn_capture.so"))


@functools.cache
def recorder_function(name: str, c_type: str) -> Callable[..., int]:
    """Return a function of the recorder, which is loaded.

    Args:
        name: Its C name.
        c_type: Its type, that of a pointer to it.
    """
    address = open_library(recorder()).address(name)
    return cast("Callable[..., int]", raw.ffi.cast(c_type, address))


def content_hash(data: bytes) -> int:
    """Return the hash of contents, as the recorder computes it."""
    hashed = recorder_function("capture_hash", "uint64_t(*)(const void *, size_t)")
    return int(hashed(raw.ffi.from_buffer(data), len(data)))
