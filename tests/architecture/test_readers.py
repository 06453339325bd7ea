# SPDX-License-Identifier: Apache-2.0
"""Files are opened in one way, except those that are known before the program starts."""

from __future__ import annotations

import ast

import pytest

from .import_graph import MODULES, tree_of

OPENER = "pyaclnn.base.files"
CALLS = {"open", "read_text", "read_bytes", "fromfile", "load_module", "getline", "getlines"}
"""Functions and methods that open a file for reading, in any module."""

OWN = {
    "pyaclnn.base.toml": "tables of the package",
    "pyaclnn.facts.explanations.table": "tables of the package",
    "pyaclnn.facts.chips": "a table of the package",
    "pyaclnn.facts.interface": "a table of the package",
    "pyaclnn.facts.releases": "a table of the package",
    "pyaclnn.facts.operators.call_rules": "a table of the package",
    "pyaclnn.facts.operators.catalogue": "a table of the package",
    "pyaclnn.facts.operators.array_functions": "a table of the package",
    "pyaclnn.facts.operators.torch_functions": "a table of the package",
    "pyaclnn.mock.control.home": "a file of the package",
    "pyaclnn.mock.operators.graph_table": "a table of the package",
    "pyaclnn.mock.operators.unread": "a table of the package",
    "pyaclnn.reference.kernels.rows": "a table of the package",
    "pyaclnn.mock.protocol.headers": "headers of the package",
    "pyaclnn.mock.protocol.fault_functions": "headers of the package",
    "pyaclnn.mock.contract": "tables of the package",
    "pyaclnn.mock.python.acl.declared": "headers of the package",
    "pyaclnn.mock.control.include_folder": "headers of the package",
    "pyaclnn.mock.control.missing_symbols": "libraries of the package",
    "pyaclnn.health.report.template": "a page of the package",
    "pyaclnn.runtime.configuration": "the package's own entry among the installed ones",
    "pyaclnn.base.limits": "/proc",
    "pyaclnn.mock.control.tools": "/proc",
    "pyaclnn.mock.device.fork_server": "/proc",
    "pyaclnn.mock.protocol.mapping": "/proc, for memory that another process shares",
    "pyaclnn.pytest_plugin": "/proc",
    "pyaclnn.health.child.steps.soak": "/proc",
    "pyaclnn.health.child.processes": "/proc",
    "pyaclnn.health.child.traces": "/proc, and files in a folder that the parent has made",
    "pyaclnn.health.child.isolation": "files in a folder that it has made",
    "pyaclnn.health.child.journal": "a file in a folder that the parent has made",
    "pyaclnn.ascendc.builds": "files that it, or the compiler for it, has written",
    "pyaclnn.ascendc.diagnostics": "a file that it has written, and sources for the compiler",
    "pyaclnn.ascendc.fault": "sources that were compiled",
    "pyaclnn.cann.faults": "written, not read",
    "pyaclnn.base.outputs": "/dev/null",
    "pyaclnn.health.command.explain": "standard input",
    "pyaclnn.health.command.output": "written, not read",
}
"""Modules that open files in another way: which files these are."""

METHODS_OF_OTHERS = {
    "pyaclnn.cann.library": "opens libraries: see the loader",
    "pyaclnn.runtime.device": "opens devices",
    "pyaclnn.mock.control.report": "reads records of the simulated NPU",
    "pyaclnn.health.report.bundle": "writes an archive",
}
"""Modules with methods of such a name that open no file by a path."""


def opened_in(tree: ast.Module) -> list[str]:
    """List the calls in a source that open files, each with its line."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in CALLS and not is_of_the_opener(called, tree):
                found.append(f"{node.lineno}: {ast.unparse(called)}")
    return found


def is_of_the_opener(called: ast.expr, tree: ast.Module) -> bool:
    """Report if a function was imported from the opener."""
    return isinstance(called, ast.Name) and any(
        isinstance(node, ast.ImportFrom)
        and node.module == OPENER
        and called.id in {alias.asname or alias.name for alias in node.names}
        for node in ast.walk(tree)
    )


def readers() -> dict[str, list[str]]:
    """Return every module that opens files by itself, without those that run at build time."""
    return {
        name: found
        for name, path in MODULES.items()
        if not name.startswith("pyaclnn.bindgen") and name != OPENER
        if (found := opened_in(tree_of(path)))
    }


def test_files_of_users_and_installations_are_opened_in_one_way() -> None:
    there = readers()
    unknown = {name: found for name, found in there.items() if name not in OWN | METHODS_OF_OTHERS}
    assert unknown == {}, f"these open files without {OPENER}"
    assert sorted(OWN.keys() - there) == [], "these open no files any more"
    assert sorted(METHODS_OF_OTHERS.keys() - there) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("with open(path) as file: pass", ["1: open"]),
        ("text = Path(path).read_text()", ["1: Path(path).read_text"]),
        ("def f(path):\n    return os.open(path, 0)", ["2: os.open"]),
        (f"from {OPENER} import read_text\nread_text(path)", []),
        ("from elsewhere import read_text\nread_text(path)", ["2: read_text"]),
        ("read_file(path)", []),
    ],
)
def test_the_check_sees_each_way_to_open_a_file(source: str, found: list[str]) -> None:
    assert opened_in(ast.parse(source)) == found
