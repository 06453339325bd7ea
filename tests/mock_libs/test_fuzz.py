# SPDX-License-Identifier: Apache-2.0
"""Whatever is called with whatever: no crash, and nothing for the sanitizers to find.

``corpus/seeds.txt`` keeps the seeds that have found something; they run first, every time.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from pyaclnn.bindgen.reader import read
from tests.releases import OLDEST

from .fuzzing import WAITS_FOR_A_THREAD, write_program
from .programs import HERE
from .sanitized import OPTIONS, build_libraries, flags_of, start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kept import Keep

    from .programs import Programs

STUBS = HERE.parents[1] / "include_stubs"
SEEDS = (HERE / "corpus" / "seeds.txt").read_text(encoding="utf-8").split()
# Records of broken rules, and the sanitizer's word that it has given NULL for a size.
_EXPECTED = re.compile(r"simulated NPU: |    |==\d+==WARNING: \w+Sanitizer failed to allocate")
CALLS = 20_000
"""A run of a second or two; the marked ones are as many as --fuzz-seeds says."""

THREADS = "4"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "marked_seed" in metafunc.fixturenames:
        first, _, last = metafunc.config.getoption("--fuzz-seeds").partition("-")
        metafunc.parametrize("marked_seed", range(int(first), int(last or first) + 1))


@pytest.fixture(scope="module", params=["address"])
def fuzz(
    request: pytest.FixtureRequest,
    programs: Programs,
    keep: Keep,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    kind = request.param
    source = tmp_path_factory.mktemp("fuzz") / "fuzz.c"
    source.write_text(write_program(read(STUBS)), encoding="utf-8")
    libraries = build_libraries(keep, kind)
    shutil.copy(HERE / "c" / "fuzz.h", source.parent)
    return programs.build(str(source), *flags_of(kind), link=libraries)


def run(programs: Programs, fuzz: Path, seed: str, calls: int, threads: str = "1") -> None:
    environment = {
        **OPTIONS,
        # Lists that a call has allocated for its caller, who here forgets them; and a size that
        # is too large gives NULL, as it does without a sanitizer.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "TSAN_OPTIONS": f"{OPTIONS['TSAN_OPTIONS']}:allocator_may_return_null=1",
        "PYACLNN_MOCK_SOC": "Ascend310P3",
        "HCCL_CONNECT_TIMEOUT": "1",
        "HCCL_EXEC_TIMEOUT": "1",
    }
    result = programs.run([*start(), fuzz, seed, str(calls), threads], environment)
    lines = result.stderr.splitlines()
    found = [x for x in lines if not _EXPECTED.match(x)]
    assert (result.returncode, found) == (0, []), f"seed {seed}"
    assert int(result.stdout) > calls * int(threads) // 20, "hardly any call got beyond its checks"


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [*SEEDS, "1", "2", "3"])
def test_random_calls(programs: Programs, fuzz: Path, seed: str) -> None:
    run(programs, fuzz, seed, CALLS)


@pytest.mark.exhaustive
@pytest.mark.long
def test_many_random_calls(programs: Programs, fuzz: Path, marked_seed: int) -> None:
    run(programs, fuzz, str(marked_seed), CALLS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("fuzz", ["address", "thread"], indirect=True)
@pytest.mark.parametrize("seed", ["1", "2"])
def test_random_calls_by_several_threads(programs: Programs, fuzz: Path, seed: str) -> None:
    """Threads share handles, which each of them may close while others use them."""
    run(programs, fuzz, seed, CALLS // 2, THREADS)


def test_every_function_that_can_be_called_is_called() -> None:
    declarations = read(STUBS)
    program = write_program(declarations)
    missing = {
        function.name
        for function in declarations.functions
        if function.since == OLDEST
        and function.library != "operators"
        and not function.variadic
        and not re.search(rf"\b{function.name}\(", program)
    }
    assert missing == WAITS_FOR_A_THREAD
