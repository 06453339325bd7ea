# SPDX-License-Identifier: Apache-2.0
"""Rows of mistakes: input that a user types, and the texts that its message contains."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pyaclnn.base.toml import read_toml

__all__ = ["Mistake", "all_mistakes"]


@dataclass(frozen=True)
class Mistake:
    """One mistake; exactly one of code, command, environment and test says how it is made.

    Attributes:
        title: Name of the row, unique among all.
        says: Texts that the message contains.
        never: Texts that it does not contain.
        code: Python code, in which `np`, `pyaclnn`, `aclnn` and `xp` (the array API) are imported,
            and `x` (4, 8) and `w` (8,) are float32 arrays of the host, `dx` and `dw` of the device.
        command: Arguments of the command ``pyaclnn``.
        environment: Environment variables of a program that calls ``rms_norm``.
        test: Content of a test file that imports `pyaclnn` and `pytest`.
        options: Options of pytest, for ``test``.
        raises: Class of the exception that ``code`` raises.
        status: Exit status of the command or of pytest.
        frames: Most frames of the traceback below the code of the user.
        numpy: Oldest major version of NumPy that leaves the message to pyaclnn.
    """

    title: str
    says: list[str]
    never: list[str] = field(default_factory=list)
    code: str = ""
    command: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    test: str = ""
    options: list[str] = field(default_factory=list)
    raises: str = "InvalidArgumentError"
    status: int = 2
    frames: int = 20
    numpy: int = 1

    def faults_of(self, message: str) -> list[str]:
        """List the faults of a message, as sentences; none if it is as the row wants it."""
        missing = [f"it lacks {text!r}" for text in self.says if text not in message]
        return [*missing, *(f"it has {text!r}" for text in self.never if text in message)]


def all_mistakes() -> list[Mistake]:
    """Read the rows of all files of this folder that hold on the NumPy installed."""
    files = sorted(Path(__file__).parent.glob("*.toml"))
    rows = [Mistake(**row) for file in files for row in read_toml(file)["mistake"]]
    return [row for row in rows if row.numpy <= int(np.__version__.split(".")[0])]
