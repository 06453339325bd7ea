# SPDX-License-Identifier: Apache-2.0
"""Functions of the runtime that are host arithmetic, called under their C names.

Each piece of ``small_functions.txt`` is a part of a program. All of them run in one process for
each order of streams.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.releases import NEWEST

from .raw_calls import HEAD

if TYPE_CHECKING:
    from .programs import Programs

_PROGRAM = """
import json, traceback
results = {}
for name, code in %r.items():
    try:
        exec(code, dict(globals()))
        results[name] = ''
    except BaseException:
        results[name] = traceback.format_exc()
expect(0, ('aclrtDestroyStream', stream[0]), ('aclrtResetDevice', 0))
print(json.dumps(results))
"""
_SET = """
expect(0, ('aclrtSetDevice', 0))
stream = pointer('aclrtStream')
expect(0, ('aclrtCreateStream', stream))
def new(kind, function, *arguments):
    made = pointer(kind)
    expect(0, (function, made, *arguments))
    return made[0]
def memory(size):
    return new('void *', 'aclrtMalloc', size, 0)
def text(characters):
    return ffi.new('char[]', characters.encode())
def write(at, values):
    data = ffi.new('int32_t[]', values)
    expect(0, ('aclrtMemcpy', at, 4 * len(values), data, 4 * len(values), 1))
def read(at, count):
    data = ffi.new('int32_t[]', count)
    expect(0, ('aclrtSynchronizeDevice',), ('aclrtMemcpy', data, 4 * count, at, 4 * count, 2))
    return list(data)
"""
_PIECES = "\n" + (Path(__file__).parent / "small_functions.txt").read_text("utf-8")
ROWS = {
    name: piece for part in _PIECES.split("\n== ")[1:] for name, _, piece in [part.partition("\n")]
}
"""The name of a piece -> its lines."""
MODES = [
    "deferred",
    *(pytest.param(m, marks=pytest.mark.exhaustive) for m in ("eager", "shuffled:5")),
]


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest, programs: Programs) -> dict[str, str]:
    done = programs.python(
        HEAD + _SET + _PROGRAM % ROWS,
        PYACLNN_MOCK_CANN=NEWEST,
        PYACLNN_MOCK_DEVICES="2",
        PYACLNN_MOCK_MODE=request.param,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("results", MODES, indirect=True)
@pytest.mark.parametrize("row", ROWS)
def test_it_works(row: str, results: dict[str, str]) -> None:
    assert not results[row], results[row]
