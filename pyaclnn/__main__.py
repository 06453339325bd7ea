# SPDX-License-Identifier: Apache-2.0
"""Entry point of ``python -m pyaclnn`` and of the command ``pyaclnn``."""

from __future__ import annotations

import sys

from pyaclnn.base.limits import memory_error_message

__all__ = ["main"]

_UNUSABLE = 2


def main() -> int:
    """Run the command, and report exhausted memory in one line.

    Importing the command itself can exceed a small memory limit; therefore it is imported here.

    Returns:
        The exit status, which is `pyaclnn.cli.UNUSABLE` if memory runs out.
    """
    try:
        from pyaclnn.cli import main as command  # noqa: PLC0415

        return command()
    except Exception as error:
        message = memory_error_message(error)
        if message is None:
            raise
    sys.stderr.write(f"pyaclnn: {message}\n")
    return _UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
