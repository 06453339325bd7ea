# SPDX-License-Identifier: Apache-2.0
"""Programs that call functions under their C names, in a process of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.releases import NEWEST

if TYPE_CHECKING:
    from .programs import Programs

__all__ = ["HEAD", "check"]

HEAD = """
import pyaclnn
pyaclnn.select_backend('mock')
from pyaclnn import raw
from pyaclnn.raw import ffi

def pointer(kind):
    return ffi.new(kind + ' *')

def expect(status, *given):
    found = [raw_call(*call) for call in given]
    assert found == [status] * len(given), list(zip(given, found))

def raw_call(name, *arguments):
    return getattr(raw, name)(*arguments)

N = raw.NULL
"""


def check(programs: Programs, code: str, release: str = NEWEST) -> None:
    result = programs.python(HEAD + code, PYACLNN_MOCK_CANN=release)
    assert result.returncode == 0, result.stderr
