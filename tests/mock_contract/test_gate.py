# SPDX-License-Identifier: Apache-2.0
"""The gate of the exported functions: calls are counted, faults and wrong arguments fail."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.bindgen.mock_gates import read_entry_points
from pyaclnn.cann.signatures import signatures
from pyaclnn.mock import libdir
from tests.architecture.c_graph import ROOT
from tests.bindgen.complete import declarations
from tests.mock_libs.npu import ffi, lib

if TYPE_CHECKING:
    from tests.mock_libs.programs import Programs

VARIADIC = {"aclAppLog"}


def exported(library: str) -> set[str]:
    """The functions of CANN that a simulated library exports."""
    path = libdir() / f"lib{library}.so"
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1] for line in done.stdout.splitlines()}
    return {name for name in names if name.startswith(("acl", "Acl"))}


# tests/mock_libs/test_linked.py calls the functions that are not bound.
FUNCTIONS = sorted((exported("ascendcl") | exported("nnopbase")) & set(signatures()) - VARIADIC)
OPERATORS = sorted(exported("opapi"))


@pytest.fixture(scope="module")
def answers(programs: Programs) -> dict[str, tuple[str, str]]:
    """Return status and call count of each function while every function is made to fail."""
    result = programs.python(f"""
import pyaclnn.mock
pyaclnn.mock.reset_calls(); pyaclnn.mock.set_faults('*=507899')
for name in {FUNCTIONS + OPERATORS!r}:
    kind = ffi.typeof(getattr(lib, name))
    zeros = [ffi.new(ffi.getctype(a, '*'))[0] if a.kind == 'struct' else ffi.cast(a, 0)
             for a in kind.args]
    answer = getattr(lib, name)(*zeros)
    if answer is not None and not isinstance(answer, (int, float)):
        answer = int(ffi.cast('uintptr_t', answer))
    print(name, kind.result.cname.replace(' ', ''), answer)
for name, count in pyaclnn.mock.calls().items():
    print(name, count)
""")
    assert result.returncode == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    counts = {row[0]: row[1] for row in rows if len(row) == 2}
    answers = {row[0]: " ".join(row[1:]) for row in rows if len(row) == 3}
    return {name: (answer, counts[name]) for name, answer in answers.items()}


def test_there_are_hundreds() -> None:
    assert len(FUNCTIONS) > 120
    assert len(OPERATORS) > 1500


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_can_fail_and_is_counted(name: str, answers: dict[str, tuple[str, str]]) -> None:
    answer, count = answers[name]
    kind, value = answer.split()
    assert count == "1"
    if kind in {"int", "int32_t"}:
        assert value == "507899"
    elif kind == "void":
        assert value == "None"
    else:
        assert float(value) == 0


def test_a_null_that_the_table_lists_is_refused_by_name(programs: Programs) -> None:
    declared = {function.name: function for function in declarations().functions}
    entry_points = read_entry_points(ROOT / "entry_points.tsv", declared.values())
    first = {
        name: next(p.name for p in declared[name].parameters if p.name in entry_point.required)
        for name, entry_point in entry_points.items()
        if entry_point.required and name in FUNCTIONS
    }
    result = programs.python(f"""
for name in {list(first)!r}:
    kind = ffi.typeof(getattr(lib, name))
    zeros = [ffi.new(ffi.getctype(a, '*'))[0] if a.kind == 'struct' else ffi.cast(a, 0)
             for a in kind.args]
    answer = getattr(lib, name)(*zeros)
    text = ffi.string(lib.aclGetRecentErrMsg()).decode()
    print(name, answer if isinstance(answer, int) else 'NULL', text.split(': ', 4)[-1], sep='|')
""")
    assert result.returncode == 0, result.stderr
    rows = [line.split("|") for line in result.stdout.splitlines()]
    refused = {name: (answer, text) for name, answer, text in rows}
    assert len(refused) > 80
    for name, (answer, text) in refused.items():
        assert answer in {"100000", "107000", "161001", "NULL"}, name
        assert text.startswith(f"{first[name]} is "), (name, text)


def test_every_phase_of_every_operator_can_fail_and_is_counted(
    answers: dict[str, tuple[str, str]],
) -> None:
    assert [name for name in OPERATORS if answers[name] != ("int32_t 507899", "1")] == []


def test_calls_between_the_libraries_are_not_counted(programs: Programs) -> None:
    result = programs.python("""
import pyaclnn.mock
call('aclrtSetDevice', 0); memory = device_memory(64); pyaclnn.mock.reset_calls()
made = tensor((2, 3), memory); number = ffi.new('float *', 1)
scalar = lib.aclCreateScalar(number, 0); call('aclDestroyScalar', scalar)
call('aclDestroyTensor', made); call('aclrtFree', memory)
print({name: count for name, count in pyaclnn.mock.calls().items() if count})
call('aclrtResetDevice', 0)
""")
    assert result.stdout == (
        "{'aclrtFree': 1, 'aclCreateTensor': 1, 'aclCreateScalar': 1, 'aclDestroyTensor': 1, "
        "'aclDestroyScalar': 1}\n"
    ), result.stderr


def test_the_binding_still_has_every_function() -> None:
    assert ffi.string(lib.binding_functions[0].name)
