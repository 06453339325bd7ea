# SPDX-License-Identifier: Apache-2.0
"""The header reader: C declarations in, plain data out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyaclnn.bindgen.catalogued import read_table
from pyaclnn.bindgen.declarations import Constant, CParameter, Declarations, Function
from pyaclnn.bindgen.reader import HeaderError, read
from pyaclnn.facts.operators import by_c_name

STUBS = Path(__file__).parents[2] / "include_stubs"
SOURCES = STUBS.parent / "pyaclnn" / "bindgen"


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def read_text(folder: Path, text: str, name: str = "acl/x.h") -> Declarations:
    write(folder, name, text)
    return read(folder)


def function(declarations: Declarations, name: str) -> Function:
    return next(f for f in declarations.functions if f.name == name)


@pytest.mark.parametrize(
    ("declaration", "parameters"),
    [
        ("int f(void);", []),
        ("int f(int a, double b);", [("int", "a"), ("double", "b")]),
        ("int f(void *p, const char *const q);", [("void *", "p"), ("const char * const", "q")]),
        ("int f(const int64_t *v, uint64_t n);", [("const int64_t *", "v"), ("uint64_t", "n")]),
        ("typedef void (*cb)(void *); int f(cb fn);", [("cb", "fn")]),
        ("typedef struct t t; int f(t **out);", [("t **", "out")]),
        ("int f(bool yes);", [("bool", "yes")]),
    ],
)
def test_parameters_keep_their_types_and_names(
    tmp_path: Path, declaration: str, parameters: list[tuple[str, str]]
) -> None:
    found = function(read_text(tmp_path, declaration), "f").parameters
    assert [(" ".join(p.type.split()), p.name) for p in found] == parameters


def test_a_variadic_function_is_marked(tmp_path: Path) -> None:
    declarations = read_text(tmp_path, "void f(const char *text, ...); void g(int a);")
    assert function(declarations, "f").variadic
    assert not function(declarations, "g").variadic


def test_a_function_behind_the_version_switch_is_newer(tmp_path: Path) -> None:
    text = "int old(void);\n#if ACL_STUBS_CANN >= 901\nint newer(void);\n#endif\n"
    declarations = read_text(tmp_path, text)
    assert function(declarations, "old").since == "8.1"
    assert function(declarations, "newer").since == "9.1"


@pytest.mark.parametrize(
    ("header", "library"),
    [("acl/x.h", "runtime"), ("aclnn/x.h", "base"), ("aclnnop/x.h", "operators")],
)
def test_the_folder_of_a_header_tells_the_library(
    tmp_path: Path, header: str, library: str
) -> None:
    found = function(read_text(tmp_path, "int f(void);", header), "f")
    assert found.header == header
    assert found.library == library


def test_a_header_is_named_as_below_the_include_folder_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "include", "acl/rt/deep.h", "int f(void);")
    monkeypatch.chdir(tmp_path)
    assert function(read(Path("include")), "f").header == "acl/rt/deep.h"


def test_phase_1_of_an_operator_is_recognised(tmp_path: Path) -> None:
    text = "int aclnnXGetWorkspaceSize(int a); int aclnnX(int a);"
    declarations = read_text(tmp_path, text, "aclnnop/x.h")
    assert function(declarations, "aclnnXGetWorkspaceSize").operator == "aclnnX"
    assert function(declarations, "aclnnX").operator is None


def test_numeric_macros_become_constants(tmp_path: Path) -> None:
    text = "#define ACL_A 7\n#define ACL_B 0x10\n#define ACL_C (-3)\n#define ACL_TEXT word\n"
    text += "#define ACL_F(x) 1\n#define OTHER 5\nint f(void);"
    found = read_text(tmp_path, text).constants
    assert found == (Constant("ACL_A", 7), Constant("ACL_B", 16), Constant("ACL_C", -3))


def test_a_signature_can_be_written_under_another_name() -> None:
    f = Function(
        "f", "int", (CParameter("void *", "p"), CParameter("int", "n")), False, "acl/x.h", "8.1"
    )
    assert f.signature("(*slot)") == "int (*slot)(void *p, int n)"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("int f(;", "x.h"),
        ('#include "missing.h"\nint f(void);', "missing.h"),
        ("#error broken on purpose\n", "broken on purpose"),
    ],
)
def test_a_broken_header_is_refused_with_its_place(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(HeaderError, match=complaint):
        read_text(tmp_path, text)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeaderError, match="no header below"):
        read(tmp_path)


def test_the_table_declares_the_described_operators_in_pairs() -> None:
    functions = {f.name: f for f in read_table(SOURCES.parent / "facts/operators/catalogue.py")}
    operators = {f.operator for f in functions.values()} - {None}
    assert operators >= set(by_c_name())
    assert functions.keys() == operators | {f"{name}GetWorkspaceSize" for name in operators}


def test_operators_have_no_headers_beside_the_table() -> None:
    assert not [f.name for f in read(STUBS).functions if f.library == "operators"]
