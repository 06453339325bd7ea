# SPDX-License-Identifier: Apache-2.0
"""Standard output of a command: it is always open, and prints any text in any encoding."""

from __future__ import annotations

import codecs
import io
import os
import sys

__all__ = ["discard_output", "open_missing_outputs", "print_any_text"]

_HANDLER = "pyaclnn.bytes-or-escapes"


def open_missing_outputs() -> None:
    """Open replacements for a missing standard output and standard error.

    Writing to the replacement of standard output fails with a message. It also occupies the file
    descriptor, which the next opened file would take otherwise.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def discard_output() -> None:
    """Redirect unwritten output to /dev/null; the interpreter would fail again to write it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def print_any_text() -> None:
    """Let standard output write what its encoding lacks, as of a log in another language.

    Bytes of a path that are no text are written as they are, other characters as escapes.
    """
    codecs.register_error(_HANDLER, _bytes_or_escapes)
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and out.errors in {"strict", "surrogateescape"}:
        out.reconfigure(errors=_HANDLER)


def _bytes_or_escapes(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # Of one character: the next may be of the other kind.
    first = UnicodeEncodeError(
        error.encoding, error.object, error.start, error.start + 1, error.reason
    )
    try:
        return codecs.lookup_error("surrogateescape")(first)
    except UnicodeEncodeError:
        return codecs.lookup_error("backslashreplace")(first)
