# SPDX-License-Identifier: Apache-2.0
"""Large results, which are computed where they belong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn import reference
from pyaclnn.mock.operators import kernel
from pyaclnn.mock.protocol.batch import Batch, Run
from pyaclnn.mock.protocol.values import Call, Tensor
from pyaclnn.mock.protocol.wire import Check, Kind, Reply, decode_request

from .bench import WORKSPACE, Bench, numbers
from .host_wire import encode_request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.values import Value

ROWS, COLUMNS = 96, 1024


class Known:
    """A call that phase 1 has accepted, run as often as one likes."""

    def __init__(self, bench: Bench, operator: str, arguments: dict[str, Value]) -> None:
        self.bench, self.call = bench, Call(operator, 0, arguments)
        request = decode_request(Kind.CHECK, encode_request(Check(self.call))[16:])
        assert isinstance(request, Check)
        self.number = bench.device.check(request.call).number
        assert self.number

    def run(self, **moved: Tensor) -> None:
        call = replace(self.call, arguments={**self.call.arguments, **moved})
        frame = encode_request(Run(WORKSPACE, 16 << 20, call, self.number))
        batch = decode_request(Kind.RUN, frame[16:])
        assert isinstance(batch, Batch)
        assert self.bench.device.run_batch(batch) == [Reply(0, "")]


@pytest.fixture(name="written")
def fixture_written(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What `kernel` finds of each result: whether it was computed in its place."""
    found: list[bool] = []
    original = kernel._is_written

    def is_written(target: NDArray[np.float32], result: NDArray[np.float32]) -> bool:
        found.append(original(target, result))
        return found[-1]

    monkeypatch.setattr(kernel, "_is_written", is_written)
    return found


def matrix(seed: int) -> NDArray[np.float32]:
    return numbers(seed, ROWS, COLUMNS).astype(np.float32)


def test_a_result_is_computed_in_its_place(bench: Bench, written: list[bool]) -> None:
    gamma = numbers(5, COLUMNS).astype(np.float32)
    x, y = bench.put(matrix(1)), bench.empty(ROWS, COLUMNS)
    rstd, scale = bench.empty(ROWS, 1), bench.put(gamma)
    arguments: dict[str, Value] = {"x": x, "gamma": scale, "epsilon": 1e-6}
    known = Known(bench, "aclnnRmsNorm", {**arguments, "yOut": y, "rstdOut": rstd})
    other = bench.put(matrix(2))

    for given, out in [(x, y), (other, y), (other, bench.empty(ROWS, COLUMNS)), (x, x)]:
        expected = reference.rms_norm(bench.array(given), gamma, 1e-6)
        known.run(x=given, yOut=out)
        np.testing.assert_array_equal(bench.array(out), expected.y)
        np.testing.assert_array_equal(bench.array(rstd), expected.rstd)

    # The first run finds the sizes; the last one would read what it has written.
    assert written[::2] == [False, True, True, False]


def test_results_of_one_size_do_not_take_each_others_place(bench: Bench) -> None:
    x1, x2 = matrix(1), matrix(2)
    gamma = np.ones(COLUMNS, np.float32)
    outputs = [bench.empty(ROWS, COLUMNS), bench.empty(ROWS, 1), bench.empty(ROWS, COLUMNS)]
    given: dict[str, Value] = {
        "x1": bench.put(x1),
        "x2": bench.put(x2),
        "gamma": bench.put(gamma),
        "epsilonOptional": 1e-6,
    }
    known = Known(
        bench,
        "aclnnAddRmsNorm",
        {**given, **dict(zip(("yOut", "rstdOut", "xOut"), outputs, strict=True))},
    )
    expected = reference.add_rms_norm(x1, x2, gamma, 1e-6)

    for _ in range(3):
        known.run()
        for place, result in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(bench.array(place), result)


_FAULTS = """
import resource
import numpy as np
from pyaclnn.mock.device import process

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        results = [np.zeros(1 << 17, np.uint8) + 1 for _ in range(4)]
        del results
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults())
process._keep_freed_memory()
faults()
print(faults())
"""


def test_results_of_some_hundred_kib_fault_in_no_pages_again() -> None:
    done = subprocess.run([sys.executable, "-c", _FAULTS], capture_output=True, check=True)

    usual, kept = map(int, done.stdout.split())

    assert usual > 1000
    assert kept < 100
