# SPDX-License-Identifier: Apache-2.0
"""The generators: what they make of declarations, and what they refuse."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from pyaclnn import _binding
from pyaclnn.bindgen import __main__ as generate
from pyaclnn.bindgen.binding import write_binding
from pyaclnn.bindgen.declarations import BOUND, RELEASES, CParameter, Declarations, Function
from pyaclnn.bindgen.mock_exports import write_alternatives, write_chips
from pyaclnn.bindgen.mock_gates import read_entry_points, write_gates
from pyaclnn.bindgen.operator_table import write_operators
from pyaclnn.bindgen.reader import HeaderError, read
from pyaclnn.cann import raw
from pyaclnn.cann.signatures import signatures
from pyaclnn.facts import chips

from . import complete
from .test_reader import SOURCES, STUBS

# Generated files of each library.
ENDS = (
    "names.h",
    *(name for r in RELEASES for name in (f"gates_{r}.c", f"refusals_{r}.inc")),
)
TAIL = (CParameter("uint64_t *", "workspaceSize"), CParameter("aclOpExecutor **", "executor"))


def declare(*functions: Function) -> Declarations:
    return Declarations(("aclnnop/x.h",), (), functions, ())


def phase_1(*parameters: CParameter) -> Function:
    return Function(
        "aclnnXGetWorkspaceSize", "aclnnStatus", (*parameters, *TAIL), False, "aclnnop/x.h", "8.1"
    )


def test_more_parameters_than_a_mask_tells_apart_are_refused(tmp_path: Path) -> None:
    head = phase_1(*(CParameter("bool", f"a{i}") for i in range(65)))
    with pytest.raises(HeaderError, match="more than 64 parameters"):
        write_operators([head, PHASE_2], tmp_path / "o.inc")


PHASE_2 = Function("aclnnX", "aclnnStatus", (), False, "aclnnop/x.h", "8.1")


def test_each_argument_is_sent_by_its_type_and_name(tmp_path: Path) -> None:
    head = phase_1(
        CParameter("const aclTensor *", "x"),
        CParameter("aclTensorList *", "list"),
        CParameter("const aclBoolArray *", "mask"),
        CParameter("double", "eps"),
        CParameter("char *", "mode"),
        CParameter("int32_t", "count"),
    )
    write_operators([head, PHASE_2], tmp_path / "o.inc")
    written = (tmp_path / "o.inc").read_text(encoding="utf-8").splitlines()
    line = (
        r'OPERATOR(aclnnX, "tTBdsi", "x\0list\0mask\0eps\0mode\0count", (const aclTensor *x, '
        "aclTensorList *list, const aclBoolArray *mask, double eps, char *mode, int32_t count, "
        "uint64_t *workspaceSize, aclOpExecutor **executor), (WORD(x), WORD(list), WORD(mask), "
        "WORD(eps), WORD(mode), WORD(count), WORD(workspaceSize), WORD(executor)))"
    )
    assert written[1:] == [line]


def test_an_argument_that_cannot_be_sent_is_refused_by_name(tmp_path: Path) -> None:
    head = phase_1(CParameter("struct odd *", "thing"))
    with pytest.raises(HeaderError, match=r"aclnnXGetWorkspaceSize takes thing as 'struct odd \*'"):
        write_operators([head, PHASE_2], tmp_path / "o.inc")


def test_an_operator_without_its_second_phase_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeaderError, match="no second phase"):
        write_operators([phase_1()], tmp_path / "o.inc")


def test_a_function_that_is_not_written_refuses_where_the_release_has_it(tmp_path: Path) -> None:
    functions = (
        Function("aclrtOld", "aclError", (CParameter("int", "a"),), False, "acl/x.h", "8.1"),
        Function("aclrtNewer", "aclError", (), False, "acl/x.h", "9.1"),
        Function("aclrtGone", "aclError", (), False, "acl/x.h", "8.1", "9.1"),
        Function("aclrtText", "const char *", (), False, "acl/x.h", "8.1"),
        Function("aclmdlKind", "aclDataType", (), False, "acl/acl_mdl.h", "8.1"),
        Function("aclrtWritten", "aclError", (), False, "acl/x.h", "8.1"),
        Function("aclrtLog", "void", (), True, "acl/x.h", "8.1"),
    )
    table = tmp_path / "entry_points.tsv"
    table.write_text("aclrtWritten\tlock\t-\n", encoding="utf-8")
    write_gates(declare(*functions), table, tmp_path)
    written = {
        release: (tmp_path / f"runtime_refusals_{release}.inc").read_text("utf-8").splitlines()[1:]
        for release in RELEASES
    }
    old, text = 'REFUSES(aclrtOld, "s")', 'REFUSES(aclrtText, "0")'
    model = 'REFUSES(aclmdlKind, "-")'  # in the same library
    assert written["8.1"] == [old, 'REFUSES(aclrtGone, "s")', text, model]
    assert written["9.1"] == [old, 'REFUSES(aclrtNewer, "s")', text, model]
    gates = (tmp_path / "runtime_gates_9.1.c").read_text(encoding="utf-8")
    assert "aclError aclrtWritten(void)" in gates
    assert "aclrtOld" not in gates


def test_the_second_word_of_a_row_is_a_flag_in_the_table_of_its_library(tmp_path: Path) -> None:
    functions = (
        Function("aclrtFirst", "aclError", (), False, "acl/x.h", "8.1"),
        Function("aclrtSecond", "aclError", (), False, "acl/x.h", "8.1"),
        Function("aclrtThird", "void", (), False, "acl/x.h", "8.1"),
    )
    table = tmp_path / "entry_points.tsv"
    rows = "aclrtFirst\tlock\t-\naclrtSecond\trefuses\t-\naclrtThird\t-\t-\n"
    table.write_text(rows, encoding="utf-8")
    write_gates(declare(*functions), table, tmp_path)
    lines = (tmp_path / "runtime_gates_8.1.c").read_text("utf-8").splitlines()
    assert [line.strip() for line in lines if ".name =" in line] == [
        '{.name = "aclrtFirst", .status = true, .locked = true, .number = 0},',
        '{.name = "aclrtSecond", .status = true, .refuses = true, .number = 1},',
        '{.name = "aclrtThird", .number = 2},',
    ]


def test_an_alternative_is_a_functions_own_or_its_headers(tmp_path: Path) -> None:
    named = Function("aclrtA", "aclError", (), False, "acl/x.h", "8.1")
    other = Function("aclrtB", "aclError", (), False, "acl/y.h", "8.1")
    (tmp_path / "t.tsv").write_text("aclrtA\tdo this\nacl/y.h\tdo that\n", encoding="utf-8")
    write_alternatives([named, other], tmp_path / "t.tsv", tmp_path / "a.inc")
    written = (tmp_path / "a.inc").read_text(encoding="utf-8").splitlines()
    assert written[1:] == ['{"aclrtA", "do this"},', '{"aclrtB", "do that"},']


def test_chips_become_initialisers_the_one_by_default_first(tmp_path: Path) -> None:
    write_chips(Path(chips.__file__), tmp_path / "chips.inc")
    _, first, *others = (tmp_path / "chips.inc").read_text("utf-8").splitlines()
    assert first == '{"Ascend910B3", "910b", true, 68719476736, 20, 40, 1984, 65536, 201326592},'
    assert len(others) == len(chips.all_chips()) - 1
    assert sum('"310p", false' in line for line in others) == 4


# ---- the binding that the build made of the stubs -----------------------------------------------


@pytest.fixture(scope="module")
def declarations() -> Declarations:
    return complete.declarations()


def test_the_binding_has_every_function_of_the_stubs_that_python_can_call(
    declarations: Declarations,
) -> None:
    known = {
        s.name: (s.header, s.since, s.library, s.parameters, s.types) for s in signatures().values()
    }
    declared = {
        f.name: (
            f.header,
            f.since,
            f.library,
            tuple(p.name for p in f.parameters),
            tuple(p.type for p in f.parameters) if f.library == "operators" else (),
        )
        for f in declarations.functions
        if not f.variadic and f.library in BOUND and not f.listed
    }
    assert {name: row for name, row in known.items() if name in declared} == declared
    assert {s.library for s in signatures().values() if s.name not in declared} == {"operators"}
    compiled = {name for name, row in declared.items() if row[2] != "operators"}
    assert compiled <= set(dir(_binding.lib))


@pytest.mark.exhaustive
def test_the_binding_does_not_change_with_the_headers_of_operators(tmp_path: Path) -> None:
    write_binding(read(STUBS), SOURCES, tmp_path / "before.c")
    shutil.copytree(STUBS, tmp_path / "include")
    header = tmp_path / "include" / "aclnnop" / "aclnn_new.h"
    header.parent.mkdir()
    header.write_text(
        '#include "aclnn/acl_meta.h"\n'
        "aclnnStatus aclnnNewGetWorkspaceSize(const aclTensor *x, uint64_t *workspaceSize,\n"
        "    aclOpExecutor **executor);\n",
        encoding="utf-8",
    )
    changed = read(tmp_path / "include")
    assert any(f.name == "aclnnNewGetWorkspaceSize" for f in changed.functions)
    write_binding(changed, SOURCES, tmp_path / "after.c")
    assert (tmp_path / "before.c").read_bytes() == (tmp_path / "after.c").read_bytes()


def test_the_binding_has_every_constant_of_the_stubs(declarations: Declarations) -> None:
    constants = declarations.constants
    assert len(constants) > 300
    assert {
        c.name: getattr(raw, c.name) for c in constants if c.name.startswith("ACL")
    }.items() <= {c.name: c.value for c in constants}.items()
    constants = tuple(c for c in constants if c.name not in declarations.listed)
    assert {c.name: getattr(_binding.lib, c.name) for c in constants} == {
        c.name: c.value for c in constants
    }


@pytest.mark.exhaustive
def test_the_build_reads_the_headers_once_and_gets_every_file_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = STUBS.parent / "pyaclnn"
    catalogue = package / "facts" / "operators" / "catalogue.py"
    interface = package / "facts" / "interface.py"
    tables = [
        STUBS.parent / "mock_libs" / f"{name}.tsv" for name in ("entry_points", "alternatives")
    ]
    inputs = [STUBS, interface, catalogue, *tables, package / "facts" / "chips.py"]
    once = Mock(wraps=read)
    monkeypatch.setattr(generate, "read", once)
    monkeypatch.setattr("sys.argv", ["bindgen", *map(str, inputs), str(tmp_path)])
    generate.main()
    assert once.call_count == 1
    build = (STUBS.parent / "meson.build").read_text(encoding="utf-8")
    named = {
        name: re.findall(r"'(.*?)'", text)
        for name, text in re.findall(r"^(\w+) = \[(.*?)\]$", build, re.DOTALL | re.MULTILINE)
    }
    files = {f"{library}_{end}" for library in named["libraries"] for end in ENDS}
    files |= {f"{what}_{release}.inc" for what in ("operators", "release") for release in RELEASES}
    # Libraries of one table in every release; each other library has one of its own.
    whole = {"ascendcl", "nnopbase", "opapi", "hccl"}
    files |= {
        f"{library}_{release.name}.inc"
        for release in RELEASES.values()
        for library in set(release.libraries) - whole
    }
    files |= {*named["generated_files"], "include_stubs", "declared"}
    assert {path.name for path in tmp_path.iterdir()} == files


def test_what_is_generated_again_and_the_same_is_not_written(tmp_path: Path) -> None:
    for name, text in (("same.c", "1"), ("other.c", "2"), ("new.c", "3"), ("deep/new.h", "4")):
        path = tmp_path / "fresh" / "include_stubs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    output = tmp_path / "output" / "include_stubs"
    output.mkdir(parents=True)
    for name, text in (("same.c", "1"), ("other.c", "9"), ("gone.h", "5")):
        (output / name).write_text(text, encoding="utf-8")
        os.utime(output / name, (1, 1))

    generate.place(tmp_path / "fresh", tmp_path / "output")

    files = [path for path in output.rglob("*") if path.is_file()]
    assert {path.name: path.read_text(encoding="utf-8") for path in files} == {
        "same.c": "1",
        "other.c": "2",
        "new.c": "3",
        "new.h": "4",
    }
    assert {path.name for path in files if path.stat().st_mtime == 1} == {"same.c"}


@pytest.mark.parametrize(
    ("row", "refusal"),
    [
        ("aclrtNothing\tlock\t-", "aclrtNothing is not declared"),
        ("aclrtFree\tlock\tdevPtr\naclrtFree\t-\t-", "aclrtFree is not declared, or has two rows"),
        ("aclrtFree\tlock\tpointer", "aclrtFree has no parameter pointer"),
    ],
)
def test_a_row_of_an_unknown_function_or_parameter_stops_the_build(
    row: str, refusal: str, declarations: Declarations, tmp_path: Path
) -> None:
    table = tmp_path / "entry_points.tsv"
    table.write_text(row, encoding="utf-8")
    with pytest.raises(ValueError, match=refusal):
        read_entry_points(table, declarations.functions)
