# SPDX-License-Identifier: Apache-2.0
"""Controls of the import graph: each way to load a module makes an arrow."""

from __future__ import annotations

import ast

import pytest

from .import_graph import MODULES, imported_by, package_of, tree_of
from .loads import loads

# Names that only the callers of a function know, which have them as text or in a table.
READ_AT_THE_CALLERS = {
    ("pyaclnn.base.lazy", "f'.{home}'"),  # public_names
    ("pyaclnn.health.child.isolation", "module"),
}
FACE = "pyaclnn"


def found_in(source: str, module: str = "pyaclnn.runtime.new") -> set[str]:
    return set(imported_by(ast.parse(source), module, module.rpartition(".")[0]))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pyaclnn", {FACE}),
        ("import pyaclnn.cli", {"pyaclnn.cli"}),
        ("from pyaclnn import DeviceArray", {FACE}),
        ("from pyaclnn import cli, doctor", {"pyaclnn.cli", FACE}),
        ("from pyaclnn.cann.library import Backend", {"pyaclnn.cann.library"}),
        ("from . import array", {"pyaclnn.runtime.array"}),
        ("from ..cann import gate", {"pyaclnn.cann.gate"}),
        ("def f():\n    from pyaclnn import cli", {"pyaclnn.cli"}),
        ("class A:\n    def f(self):\n        import pyaclnn\n", {FACE}),
        ("if TYPE_CHECKING:\n    from pyaclnn import cli", {"pyaclnn.cli"}),
        ("try:\n    pass\nexcept E:\n    import pyaclnn.cli", {"pyaclnn.cli"}),
        ("import pyaclnn.ops\npyaclnn.cli.main()", {"pyaclnn.ops", "pyaclnn.cli"}),
        ("import pyaclnn.ops\npyaclnn.full(1)", {"pyaclnn.ops", FACE}),
        ("import numpy, pyaclnn_other", set()),
    ],
)
def test_an_import_is_seen_wherever_it_is(source: str, found: set[str]) -> None:
    assert found_in(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("importlib.import_module('pyaclnn.cli')", {"pyaclnn.cli"}),
        ("import_module('pyaclnn')", {FACE}),
        ("__import__('pyaclnn.cli')", {"pyaclnn.cli"}),
        ("find_spec('pyaclnn.cli')", {"pyaclnn.cli"}),
        ("runpy.run_module('pyaclnn.cli')", {"pyaclnn.cli"}),
        ("import_module('.cli', 'pyaclnn')", {"pyaclnn.cli"}),
        ("import_module('.array', __package__)", {"pyaclnn.runtime.array"}),
        ("import_module('..cli', __package__)", {"pyaclnn.cli"}),
        ("import_module(f'{__package__}.array')", {"pyaclnn.runtime.array"}),
        ("import_module('pyaclnn' + '.cli')", {"pyaclnn.cli"}),
        ("ROOM = 'pyaclnn'\nimport_module(f'{ROOM}.cli')", {"pyaclnn.cli"}),
        (
            "import_module('pyaclnn.cli' if x else 'pyaclnn.aclnn')",
            {"pyaclnn.cli", "pyaclnn.aclnn"},
        ),
        ("import_module(f'pyaclnn.c{rest}')", {m for m in MODULES if m.startswith("pyaclnn.c")}),
        ("import_module('torch')", set()),
    ],
)
def test_a_load_by_name_is_an_import(source: str, found: set[str]) -> None:
    assert found_in(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("T = ('cli', 'aclnn')\nfor t in T:\n    import_module(f'pyaclnn.{t}')", {"cli", "aclnn"}),
        ("T = {'a': 'cli', 'b': 'aclnn'}\nimport_module(f'pyaclnn.{T[x]}')", {"cli", "aclnn"}),
        ("[import_module(name) for name in ['pyaclnn.cli']]", {"cli"}),
        ("public_names(__package__, NAMES, ('array', '.cli'))", {"runtime.array", "cli"}),
        ("HOMES = ['array']\na, b = public_names(__name__, NAMES, HOMES)", {"runtime.array"}),
        ("TABLE = {'command': ('pyaclnn.cli', 'main')}", {"cli"}),
        ("load(f'{__package__}.array')", {"runtime.array"}),
    ],
)
def test_names_in_tables_are_seen(source: str, found: set[str]) -> None:
    assert found_in(source) == {f"pyaclnn.{name}" for name in found}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("[sys.executable, '-m', 'pyaclnn.cli']", {"pyaclnn.cli"}),
        ("execl(python, python, '-m', 'pyaclnn')", {FACE, "pyaclnn.__main__"}),
        ("run(f'python -m pyaclnn.cli')", {"pyaclnn.cli"}),
        ("M = 'pyaclnn.cli'\n['python', '-m', M]", {"pyaclnn.cli"}),
    ],
)
def test_a_program_that_is_started_by_name_is_an_import(source: str, found: set[str]) -> None:
    assert found_in(source) == found


@pytest.mark.parametrize(
    "source",
    [
        '"""Run ``python -m pyaclnn.cli``."""',
        "function.__module__ = 'pyaclnn.ops'",  # what people and pickle read
        "raise ValueError('see pyaclnn.cli')",
        "logging.getLogger('pyaclnn.calls')",
    ],
)
def test_a_text_for_people_is_no_import(source: str) -> None:
    assert not found_in(source)


@pytest.mark.parametrize("name", ["name", "f'{name}.cli'", "names[0]", "'py' + name", "f()"])
def test_a_name_that_cannot_be_read_is_reported(name: str) -> None:
    [load] = loads(ast.parse(f"import_module({name})"), "pyaclnn.a", "pyaclnn")
    assert load.is_readable == (name == "'py' + name")


def test_every_name_can_be_read() -> None:
    unread = {
        (module, load.written)
        for module, path in MODULES.items()
        for load in loads(tree_of(path), module, package_of(module))
        if not load.is_readable
    }
    assert unread == READ_AT_THE_CALLERS
