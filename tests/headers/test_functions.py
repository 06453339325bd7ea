# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from .presence import LEFT_OUT, SINCE_8_1, SINCE_9_1
from .stub_tree import HEADERS, INCLUDE, LANGUAGES, LEVELS, compile_all, preprocess

if TYPE_CHECKING:
    from pathlib import Path

    from .declared import Declared

# Headers of operators are generated: test_generated.py.
_EXPECTED = {801: SINCE_8_1, 901: SINCE_8_1 | SINCE_9_1}
# Defined in the header, and in no library.
_INLINE = {"HcclCommConfigInit"}
_PROTOTYPE = re.compile(
    r"\b((?:[aA]cl|Hccl|Msprof|Nnopbase|_ZNK?2ge|_ZNK|_Z14Nnopbase|rt[A-Z])\w+)\s*\((?!\s*\*)"
)


@pytest.mark.parametrize("level", LEVELS)
def test_a_release_declares_exactly_its_functions(
    level: int, everything: dict[int, Declared]
) -> None:
    assert set(everything[level].functions) == _EXPECTED[level]


def test_the_tables_of_releases_do_not_overlap() -> None:
    assert not SINCE_8_1 & SINCE_9_1
    assert not LEFT_OUT & (SINCE_8_1 | SINCE_9_1)


def test_a_function_has_the_same_prototype_in_both_releases(
    everything: dict[int, Declared],
) -> None:
    old, new = everything[801].functions, everything[901].functions
    assert old == {name: new[name] for name in old}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_c_and_cpp_see_the_same_functions(language: str, level: int) -> None:
    assert set(_PROTOTYPE.findall(preprocess(language, level))) == _EXPECTED[level] | _INLINE


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_function_has_c_linkage_and_its_plain_symbol(language: str, tmp_path: Path) -> None:
    names = sorted(_EXPECTED[901])
    includes = "".join(f'#include "{header}"\n' for header in HEADERS)
    table = ",\n".join(f"(void (*)(void))&{name}" for name in names)
    declared = "extern void (*const all_functions[])(void);\n"
    unit = f"{includes}{declared}void (*const all_functions[])(void) = {{\n{table}}};\n"
    silence = '#pragma GCC diagnostic ignored "-Wcast-function-type"\n'
    symbols = compile_all(tmp_path, language, [silence + unit], to_object=True).read_bytes()
    missing = [name for name in names if b"\0%b\0" % name.encode() not in symbols]
    assert not missing


def test_every_parameter_has_a_name(everything: dict[int, Declared]) -> None:
    assert not everything[901].unnamed


@pytest.mark.parametrize("name", sorted(LEFT_OUT))
def test_a_function_left_out_is_named_in_a_header(name: str) -> None:
    texts = [(INCLUDE / header).read_text(encoding="utf-8") for header in HEADERS]
    assert any(re.search(rf"\b{name}\b", text) for text in texts)
