# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from pcpp import Preprocessor
from pycparser import c_parser

from .declared import Declared, declared_in
from .stub_tree import HEADERS, INCLUDE, LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Replacements of the system's headers for a parser without a compiler.
_SYSTEM_HEADERS = {
    "stdbool.h": "#define bool _Bool\n",
    "stddef.h": "typedef unsigned long size_t;\n",
    "stdint.h": "".join(
        f"typedef {sign} int {prefix}int{bits}_t;\n"
        for bits in (8, 16, 32, 64)
        for sign, prefix in (("signed", ""), ("unsigned", "u"))
    ),
}


@pytest.fixture(scope="session")
def parse(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Declared]:
    """Read a program with pcpp and pycparser, for one CANN release."""
    system: Path = tmp_path_factory.mktemp("system")
    for name, text in _SYSTEM_HEADERS.items():
        (system / name).write_text(text, encoding="utf-8")

    def read(program: str, level: int) -> Declared:
        preprocessor = Preprocessor()
        preprocessor.line_directive = None
        preprocessor.add_path(str(INCLUDE))
        preprocessor.add_path(str(system))
        preprocessor.define(f"ACL_STUBS_CANN {level}")
        preprocessor.parse(program)
        text = io.StringIO()
        preprocessor.write(text)
        assert preprocessor.return_code == 0
        return declared_in(c_parser.CParser().parse(text.getvalue()), set(preprocessor.macros))

    return read


@pytest.fixture(scope="session")
def everything(parse: Callable[[str, int], Declared]) -> dict[int, Declared]:
    """Return the declarations of all headers, by CANN release."""
    program = "".join(f'#include "{header}"\n' for header in HEADERS)
    return {level: parse(program, level) for level in LEVELS}
