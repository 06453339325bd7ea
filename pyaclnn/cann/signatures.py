# SPDX-License-Identifier: Apache-2.0
"""What the headers declare about each C function, read from the compiled binding's table."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from pyaclnn._binding import ffi, lib

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn._binding import CData

__all__ = ["Signature", "signatures"]


class Signature(NamedTuple):
    """One declared function.

    Attributes:
        name: Its C name.
        header: The header that declares it, e.g. ``aclnnop/aclnn_rms_norm.h``.
        since: The CANN version whose headers first have it.
        library: The group of libraries that provides it: runtime, base or operators.
        parameters: The C names of its parameters.
    """

    name: str
    header: str
    since: str
    library: str
    parameters: tuple[str, ...]


def _text(value: CData) -> str:
    return ffi.string(value).decode()


@functools.cache
def signatures() -> Mapping[str, Signature]:
    """Return every declared function by its C name."""
    rows = (lib.binding_functions[i] for i in range(lib.binding_function_count))
    return {
        name: Signature(
            name,
            _text(row.header),
            _text(row.since),
            _text(row.library),
            tuple(filter(None, _text(row.parameters).split(","))),
        )
        for row in rows
        for name in [_text(row.name)]
    }
