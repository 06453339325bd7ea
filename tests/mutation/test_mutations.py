# SPDX-License-Identifier: Apache-2.0
"""Controls of the mutations: what is changed, what is left alone, and what the tables name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .__main__ import ROOT, chosen, sources
from .covering import Covering
from .equivalent import EQUIVALENT
from .mutations import mutations_of
from .rooms import ROOMS

if TYPE_CHECKING:
    from pathlib import Path

    from .rooms import Room

# Rooms of few lines that need a host of their own, or only name what others compute.
UNTRIED = {"ops", "pytest_plugin", "torch"}


def changed(file: str, source: str) -> set[str]:
    return {mutation.apply(source) for mutation in mutations_of(file, source)}


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("a < b", ["a <= b"]),
        ("a >= b", ["a > b"]),
        ("0 < a <= b", ["1 < a <= b", "0 <= a <= b", "0 < a < b"]),
        ("a is None", ["a is not None"]),
        ("a not in b", ["a in b"]),
        ("a and b or c", ["a or b or c", "a and b and c"]),
        ("not a", ["a"]),
        ("(a + b) * c", ["(a - b) * c", "(a + b) + c"]),
        ("a ** b // c", ["a * b // c", "a ** b * c"]),
        ("f(7)", ["f(8)"]),
        ("x = True", ["x = False"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("a = (  # é <\n    b\n    < c\n)", ["a = (  # é <\n    b\n    <= c\n)"]),
    ],
)
def test_a_change_of_python_is_one_token(source: str, mutants: list[str]) -> None:
    assert changed("a.py", source) == set(mutants)


@pytest.mark.parametrize(
    "source",
    [
        '"""1 < 2"""',
        "x: int | None",
        "def f(a: A | B) -> C | D: ...",
        "if TYPE_CHECKING:\n    a = 1 < 2",
        "raise E(1 < 2)",
        "a = f'{1 < 2}'",
        "a = 'x' + b",
        "@f(1)\ndef g(): ...",
        "def f():\n    return None",
    ],
)
def test_texts_and_types_are_left_alone(source: str) -> None:
    assert changed("a.py", source) == set()


@pytest.mark.parametrize(
    ("line", "mutants"),
    [
        ("if (a < b && !c) {", ["if (a <= b && !c) {", "if (a < b || !c) {", "if (a < b && c) {"]),
        ("return 0;", ["return 1;"]),
        ("x = a->b + 1;", ["x = a->b - 1;", "x = a->b + 2;"]),
        ("found = true;", ["found = false;"]),
        ("struct a *b;", []),
        ('call("a < b"); /* c < d */', []),
        ("// a < b", []),
    ],
)
def test_a_change_of_c_is_one_token_of_a_body(line: str, mutants: list[str]) -> None:
    body = "#if A < B\nint f(void)\n{{\n    {}\n}}\n"
    assert changed("a.c", body.format(line)) == {body.format(mutant) for mutant in mutants}


def test_the_choice_follows_the_seed_and_not_the_numbers_of_lines() -> None:
    room = next(room for room in ROOMS if room.name == "base")
    first, again, other = (list(chosen(room, seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert sorted(first) == sorted(other)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("room", ROOMS, ids=[room.name for room in ROOMS])
def test_a_room_has_more_mutations_than_are_tried_and_tests_that_exist(room: Room) -> None:
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in sources(room)}
    assert sum(1 for file in texts for _ in mutations_of(file, texts[file])) > room.number
    assert [test for test in room.tests if not (ROOT / test).exists()] == []


def test_every_room_is_tried() -> None:
    files = {file for room in ROOMS for file in sources(room)}
    rooms = {path.parent.name for path in ROOT.glob("pyaclnn/*/__init__.py")}
    assert {file.split("/")[1] for file in files if file.startswith("pyaclnn/")} == rooms - UNTRIED
    assert any(file.startswith("mock_libs/model") for file in files)


def test_what_is_listed_as_equivalent_is_there_and_has_a_reason() -> None:
    there = {
        (file, *mutation.lines(source)[1:])
        for file in {file for file, *_ in EQUIVALENT}
        for source in [(ROOT / file).read_text(encoding="utf-8")]
        for mutation in mutations_of(file, source)
    }
    assert EQUIVALENT.keys() - there == set()
    assert all(EQUIVALENT.values())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return the root of a tree with two functions, and tests of one of them."""
    pytest.importorskip("coverage")
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    (tmp_path / "tried.py").write_text("def f(x):\n    return x\n\ndef g():\n    return 1\n")
    (tmp_path / "tests/test_f.py").write_text(
        "import tried\n\ndef test_a():\n    assert tried.f(1)\n\n"
        "class TestB:\n    def test_b(self):\n        assert tried.f(2)\n"
    )
    return tmp_path


def test_tests_that_run_a_line_are_known(tree: Path) -> None:
    covering = Covering(tree, ["tests"])
    named = ["tests/test_f.py::TestB::test_b", "tests/test_f.py::test_a"]
    assert covering.of("tried.py", 2) == named
    assert covering.of("tried.py", 5) == []


def test_functions_that_are_named_like_tests_are_none(tree: Path) -> None:
    (tree / "tried.py").write_text("def test_of(x):\n    return x\n")
    (tree / "tests/test_f.py").write_text(
        "import pytest\nimport tried\n\n"
        "@pytest.fixture\ndef made():\n    return tried.test_of(1)\n\n"
        "def test_a(made):\n    assert made\n"
    )
    assert Covering(tree, ["tests"]).of("tried.py", 2) == []


def test_tests_that_fail_without_a_mutation_are_shown(tree: Path) -> None:
    (tree / "tried.py").write_text("def f(x):\n    return 0\n")
    with pytest.raises(SystemExit, match=r"assert 0"):
        Covering(tree, ["tests"])
