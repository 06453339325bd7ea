# SPDX-License-Identifier: Apache-2.0
"""Graph functions of a simulated CANN 9.1 beyond 8.1: waiting, and names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.releases import NEWEST

if TYPE_CHECKING:
    from .programs import Programs

_PROGRAM = """
import json
import pyaclnn.mock

told = {}
call("aclrtSetDevice", 0)
one, memory, graphs = stream(), device_memory(64), []
for number in (3, 4):
    call("aclmdlRICaptureBegin", one, 0)
    call("aclrtMemsetAsync", memory, 64, number, 64, one)
    graphs.append(ffi.new("aclmdlRI *"))
    call("aclmdlRICaptureEnd", one, graphs[-1])
first, second = (graph[0] for graph in graphs)

def execute(graph, timeout):
    call("aclrtMemset", memory, 64, 0, 64)
    return [lib.aclmdlRIExecute(graph, timeout), read(memory, 1)[0]]

told["waits"] = [execute(first, timeout) for timeout in (-1, 5000)]
told["limits"] = [execute(first, timeout) for timeout in (0, -2)]
told["null"] = execute(NULL, -1)
with pyaclnn.mock.faults("aclmdlRIExecute=hang"):
    told["late"] = [*execute(second, 3), lib.aclmdlRIDestroy(second)]
call("aclrtSynchronizeDevice")
with pyaclnn.mock.faults("aclmdlRIExecute=async:507015"):
    told["failed"] = execute(second, -1)

ids, name = [ffi.new("uint32_t *") for _ in graphs], ffi.new("char[]", 8)
for graph, number in zip((first, second), ids):
    call("aclmdlRIGetId", graph, number)
told["ids"] = ids[0][0] != ids[1][0]
call("aclmdlRISetName", first, b"forward")
told["room"] = [lib.aclmdlRIGetName(first, room, name) for room in (7, 8)]
told["name"] = ffi.string(name).decode()
told["long"] = [lib.aclmdlRISetName(first, text) for text in (b"x" * 128, NULL)]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(programs: Programs) -> dict[str, Any]:
    result = programs.python(_PROGRAM, PYACLNN_MOCK_CANN=NEWEST)
    assert result.stdout, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("waits", [[0, 3], [0, 3]]),
        ("limits", [[107000, 0], [107000, 0]]),
        ("null", [100000, 0]),
        ("late", [507046, 0, 107037]),
        ("failed", [507015, 0]),
        ("ids", True),
        ("room", [107000, 0]),
        ("name", "forward"),
        ("long", [107000, 100000]),
    ],
)
def test_it_answers(told: dict[str, Any], what: str, expected: Any) -> None:
    assert told[what] == expected
