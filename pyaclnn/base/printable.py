# SPDX-License-Identifier: Apache-2.0
"""Text of foreign files that can be shown anywhere: a terminal obeys escape sequences."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["harmless"]

# Control characters but tab and newline, marks that turn the direction of writing, separators of
# lines that only some programs know, lone surrogates, and characters that XML 1.0 cannot contain.
_HARMFUL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufffe\uffff]"
)
_ESCAPES: Final = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]")


def harmless(text: str) -> str:
    """Return a text without escape sequences, and U+FFFD for other characters that are not seen."""
    return _HARMFUL.sub("\ufffd", _ESCAPES.sub("", text))
