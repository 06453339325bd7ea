# SPDX-License-Identifier: Apache-2.0
"""The C side under AddressSanitizer, UBSan, LeakSanitizer and ThreadSanitizer, and valgrind.

What is built for ThreadSanitizer is built in the second stage alone.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import ldflags

from .programs import BLEND, HERE
from .sanitized import OPTIONS, build_libraries, flags_of, start

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from tests.kept import Keep

    from .programs import Programs

    Run = Callable[..., subprocess.CompletedProcess[str]]

PROGRAMS = [
    *("lifecycle.c", "misuse.c", "operators.c", "threads.c", "graphs.c", "forks.c"),
    *("fork_storm.c", "crowd.c", "packages.cpp"),
]
RULE_BREAKERS = {"misuse.c", "crowd.c"}
STRESS = str(HERE.parent / "mock_contract" / "c" / "stress.c")
STRESS_CALLS = 8000
needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not installed"
)


@pytest.fixture(scope="module", params=["address", "thread"])
def kind(request: pytest.FixtureRequest) -> str:
    """A way to build the libraries and the programs."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def run(kind: str, programs: Programs, keep: Keep) -> Run:
    """Run a program that was built that way."""
    libraries = build_libraries(keep, kind)

    def run(source: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        program = programs.build(source, *flags_of(kind), link=libraries)
        return programs.run([*start(), program, *arguments], {**OPTIONS, **environment})

    return run


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PROGRAMS)
def test_sanitizers_find_nothing(run: Run, name: str) -> None:
    result = run(name, PYACLNN_MOCK_OPERATORS=str(BLEND))
    assert (result.returncode, _unexpected(name, result.stderr)) == (0, "")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("kind", "mode"),
    [("address", "deferred"), ("thread", "deferred"), ("thread", "eager")],
    indirect=["kind"],
)
def test_sanitizers_find_nothing_under_load(run: Run, mode: str) -> None:
    result = run(STRESS, str(STRESS_CALLS), PYACLNN_MOCK_MODE=mode)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("kind", "flaw", "words", "place"),
    [
        ("address", "overflow", "heap-buffer-overflow", " impl_aclrtGetRunMode"),
        ("address", "misaligned", "store to misaligned address", " impl_aclrtGetRunMode"),
        ("address", "leak", "detected memory leaks", " impl_aclGetViewShape"),
        ("thread", "race", "data race", " impl_aclrtGetRunMode"),
    ],
    indirect=["kind"],
)
def test_sanitizers_find_a_flaw_of_the_library(run: Run, flaw: str, words: str, place: str) -> None:
    result = run("flaws.c", flaw)
    assert result.returncode != 0
    assert words in result.stderr
    assert place in result.stderr


def test_arrays_of_getters_are_deleted_in_cpp(programs: Programs) -> None:
    link = [*ldflags(), "-lstdc++"]
    program = programs.build("getters.cpp", *flags_of("address"), link=link)
    result = programs.run([*start(), program], OPTIONS)
    assert (result.returncode, result.stderr) == (0, "")


def _unexpected(name: str, text: str) -> str:
    """Return unexpected output of a program."""
    if name not in RULE_BREAKERS:
        return text
    lines = text.splitlines()
    return "\n".join(x for x in lines if not x.startswith(("simulated NPU: [", "    ")))


def _under_valgrind(
    programs: Programs, source: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    command = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"]
    # Valgrind has too little address space for a chip with 64 GiB.
    environment = {"PYACLNN_MOCK_SOC": "Ascend310P3"}
    return programs.run([*command, programs.build(source, "-g"), *arguments], environment)


@pytest.mark.exhaustive
@needs_valgrind
@pytest.mark.parametrize("name", PROGRAMS[:3])
def test_valgrind_finds_nothing(programs: Programs, name: str) -> None:
    result = _under_valgrind(programs, name)
    assert (result.returncode, _unexpected(name, result.stderr)) == (0, "")


@pytest.mark.exhaustive
@needs_valgrind
def test_valgrind_finds_a_flaw_of_the_library(programs: Programs) -> None:
    result = _under_valgrind(programs, "flaws.c", "overflow")
    assert result.returncode == 9
    assert "Invalid write" in result.stderr
