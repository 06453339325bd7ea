# SPDX-License-Identifier: Apache-2.0
"""PYACLNN_LOG=calls: every C call is a line of the log, whoever makes it; without it none is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.product.commands import silent_environment

MOCK = {"PYACLNN_BACKEND": "mock"}
PROGRAM = """
import json
import sys
import numpy as np
import pyaclnn
from pyaclnn import raw

pyaclnn.select_backend("mock")
x = np.ones((2, 8), np.float32)
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    array = pyaclnn.to_device(x, device)
    pyaclnn.rms_norm(array, array[0], stream=stream)
    pyaclnn.aclnn.cumsum(array, -1, 0, stream=stream)
    with pyaclnn.plan(pyaclnn.linalg_vector_norm, array, 2.0, (1,), stream=stream) as plan:
        plan.run()
        stream.synchronize()
    assert raw.aclrtSetDevice(77) == 107001
    size, executor = raw.ffi.new("uint64_t *"), raw.ffi.new("aclOpExecutor **")
    missing = [raw.NULL] * 2
    raw.aclnnSiluGetWorkspaceSize(*missing, size, executor)
    array.close()
print(json.dumps(+pyaclnn.mock.calls()))
print(" pyaclnn.calls: counted", file=sys.stderr)
"""


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env=silent_environment(**variables),
    )


@pytest.fixture(scope="module")
def traced() -> tuple[list[str], Counter[str]]:
    """The lines of a traced program, and how often the simulated NPU says it was called."""
    done = run(PROGRAM, PYACLNN_LOG="calls")
    assert done.returncode == 0, done.stderr
    lines = [line.partition(" pyaclnn.calls: ")[2] for line in done.stderr.splitlines()]
    assert all(lines), done.stderr
    return lines, Counter(json.loads(done.stdout))


def test_every_call_that_the_simulated_npu_counts_is_a_line(
    traced: tuple[list[str], Counter[str]],
) -> None:
    lines, counted = traced
    # Calls at process exit follow the counting.
    named = Counter(line.partition("(")[0] for line in lines[: lines.index("counted")])
    assert named == counted
    assert named >= Counter(["aclCreateTensor", "aclnnRmsNorm", "aclnnSiluGetWorkspaceSize"])


@pytest.mark.parametrize(
    "pattern",
    [
        r"aclrtMalloc\(devPtr=0x\w+ -> 0x\w+, size=64, policy=\d\) = 0",
        r"aclrtSetDevice\(deviceId=77\) = 107001 ACL_ERROR_RT_INVALID_DEVICEID",
        r"aclCreateTensor\(viewDims=0x\w+ -> 2, viewDimsNum=2, dataType=0, .*\) = 0x\w+",
        r"aclnnRmsNormGetWorkspaceSize\(x=0x\w+, gamma=0x\w+, epsilon=1e-06, yOut=0x\w+, .*\) = 0",
        r"aclnnRmsNorm\(workspace=0x\w+, workspaceSize=\d+, executor=0x\w+, stream=0x\w+\) = 0",
        r"aclnnCumsumGetWorkspaceSize\(self=0x\w+, dim=-1, dtype=0, out=0x\w+, .*\) = 0",
        r"aclnnSiluGetWorkspaceSize\(self=NULL, out=NULL, .*\) = 161001 ACLNN_ERR_PARAM_NULLPTR",
    ],
)
def test_a_line_has_arguments_by_their_names_and_the_answer(
    traced: tuple[list[str], Counter[str]], pattern: str
) -> None:
    assert any(re.fullmatch(pattern, line) for line in traced[0]), "\n".join(traced[0])


def test_lines_go_where_the_program_logs() -> None:
    own = "import logging, sys; logging.basicConfig(stream=sys.stdout, format='mine %(message)s')\n"
    done = run(f"{own}import pyaclnn; pyaclnn.device_count()", PYACLNN_LOG="calls", **MOCK)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mine aclrtGetDeviceCount(count=" in done.stdout


def test_nothing_is_logged_unless_it_is_wanted() -> None:
    program = "import pyaclnn, sys; pyaclnn.device_count(); print('logging' in sys.modules)"
    done = run(program, **MOCK)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_what_cannot_be_logged_is_refused() -> None:
    done = run("import pyaclnn; pyaclnn.device_count()", PYACLNN_LOG="call", **MOCK)
    assert "PYACLNN_LOG is 'call'; it must be 'calls', or not set at all." in done.stderr
