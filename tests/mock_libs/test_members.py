# SPDX-License-Identifier: Apache-2.0
"""Members of classes of C++, which a program for CANN 9.1 links beside the functions of C."""

from __future__ import annotations

import platform
import subprocess
from typing import TYPE_CHECKING

from pyaclnn.facts.releases import VARIABLE
from pyaclnn.mock import cflags, ldflags
from tests.releases import NEWEST

from .programs import HERE

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from .programs import Programs

# The data type's number, whether the value is held, as a float, and as complex numbers.
EXPECTED = """\
2 3 1
12 1 1 1+0 1+0
2 1 -3 -3+0 -3+0
7 1 65535 65535+0 65535+0
9 1 -5 -5+0 -5+0
1 1 1.5 1.5+0 1.5+0
27 1 1.5 1.5+0 1.5+0
0 1 2.5 2.5+0 2.5+0
11 1 -2.25 -2.25+0 -2.25+0
16 1 nan 1-2 1-2
17 1 nan 3+4 3+4
"""


def test_a_program_in_cpp_is_told_what_objects_hold(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, NEWEST)
    program = tmp_path / "members"
    command = ["c++", *cflags(), str(HERE / "c" / "members.cpp"), "-o", str(program)]
    subprocess.run([*command, *ldflags()], check=True, timeout=900)
    done = programs.run([program], {VARIABLE: NEWEST})
    assert (done.returncode, done.stderr) == (0, "")
    told, _, text = done.stdout.partition("'")
    assert told == EXPECTED
    if platform.machine() == "x86_64":
        assert "aclScalar::ToString is declared by CANN but not implemented" in text
