# SPDX-License-Identifier: Apache-2.0
"""The recorder's table says what each parameter of a function is."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from pyaclnn.cann.simulator import libdir, simulator
from pyaclnn.capture.functions import known, recorded
from pyaclnn.capture.roles import role_of, roles
from pyaclnn.capture.trace import Call, Unrecorded, read_trace
from pyaclnn.mock import cflags, ldflags

from .captured import pyaclnn


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("aclrtMalloc", "o>8:devPtr Q:size i:policy"),
        ("aclrtSetDevice", "i:deviceId"),
        ("aclrtCreateStream", "o>8:stream"),
        ("aclrtGetMemInfo", "i:attr o8:free o8:total"),
        ("aclrtMemcpyAsync", "h:dst Q:destMax h:src Q:count i:kind h:stream"),
        ("aclInit", "S:configPath"),
        ("aclnnAddGetWorkspaceSize", "t:self t:other a:alpha t>:out o8:workspaceSize o>8:executor"),
        ("aclnnAdd", "h:workspace Q:workspaceSize h:executor h:stream"),
        ("aclCreateIntArray", "l8,1:value Q:size"),
    ],
)
def test_parameters_follow_from_their_c_types(name: str, line: str) -> None:
    found = recorded(name)
    assert found is not None
    assert found.line.split("\t")[1] == line


def test_a_role_needs_no_header_and_is_that_of_the_recorder() -> None:
    names = [*roles(), "aclnnAdd", "aclnnAddGetWorkspaceSize", "aclrtGetPhyDevIdByLogicDevId"]
    found = {name: recorded(name) for name in names}
    assert {name: role_of(name) for name in names} == {n: f and f.role for n, f in found.items()}


def test_every_function_of_the_table_of_roles_is_recorded() -> None:
    assert [name for name in roles() if recorded(name) is None] == []


def test_a_path_is_never_a_text_of_the_trace() -> None:
    texts: dict[str, list[str]] = {"s": [], "S": []}
    for name in ("aclInit", "aclrtBinaryLoadFromFile", "aclmdlRIDebugJsonPrint"):
        found = recorded(name)
        for _, letter in found.parameters if found else ():
            texts.setdefault(letter, []).append(name)
    assert texts["s"] == []
    assert "aclInit" in texts["S"]


def test_what_has_no_declaration_is_passed_on() -> None:
    assert list(known(["notOfCann"])) == ["notOfCann\t-\tx"]


def test_a_function_of_no_table_is_passed_on_with_all_registers_and_counted(tmp_path: Path) -> None:
    real, source = tmp_path / "real", Path(__file__).parent / "c" / "unknown.c"
    real.mkdir()
    for file in (*libdir().glob("*.so"), simulator()):
        (real / file.name).symlink_to(file)
    compiler = [*shlex.split(os.environ.get("CC", "cc")), str(source), *cflags()]
    library, program = real / "libaclnn_extra.so", tmp_path / "program"
    own = ["-DLIBRARY", "-shared", "-fPIC", "-Wl,-soname,libaclnn_extra.so", "-o", str(library)]
    subprocess.run([*compiler, *own], check=True)
    linked = ["-o", str(program), str(library), *ldflags()]
    subprocess.run([*compiler, *linked], check=True)
    trace = tmp_path / "run.trace"
    done = pyaclnn("capture", "-o", trace, "--", program, PYACLNN_BACKEND=str(real))
    expected = 2 * 2.5 + 3 * 3 + 4 * 4.5 + 25 + 36 + 49 + 64 + 81 + 102.5 + 121
    assert [float(line) for line in done.stdout.split()] == [n + expected for n in range(3)]
    records = list(read_trace(trace))
    assert [r.calls for r in records if isinstance(r, Unrecorded)] == [3]
    assert [r.name for r in records if isinstance(r, Call)] == ["aclInit", "aclFinalize"]
    assert "not recorded: aclOfNoTable 3\n" in pyaclnn("trace", "show", trace).stdout
