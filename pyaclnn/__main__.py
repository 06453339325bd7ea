# SPDX-License-Identifier: Apache-2.0
"""``python -m pyaclnn``, and the command ``pyaclnn``: an end in words where memory runs out."""

from __future__ import annotations

import sys

from pyaclnn.base.limits import shortage

__all__ = ["main"]

_UNUSABLE = 2


def main() -> int:
    """Run the command.

    Even what reads the command line may be too much for a small limit on memory, so that nothing is
    imported before this.

    Returns:
        The exit status, which is `pyaclnn.cli.UNUSABLE` where memory runs out.
    """
    try:
        from pyaclnn.cli import main as command  # noqa: PLC0415

        return command()
    except Exception as error:
        told = shortage(error)
        if told is None:
            raise
    sys.stderr.write(f"pyaclnn: {told}\n")
    return _UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
