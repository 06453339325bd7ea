# SPDX-License-Identifier: Apache-2.0
"""Every operator of CANN 8.1 can be called by name, and its arguments arrive as they were given."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from tests.calling import everyone
from tests.calling.telling import build
from tests.releases import OLDEST

OLD = [name for name, entry in catalogue().items() if OLDEST in entry.releases]
SAMPLE = sorted(
    {
        *OLD[::60],
        *("aclnnAdd", "aclnnInplaceFillScalar", "aclnnCat", "aclnnSplitTensor", "aclnnTopk"),
        *("aclnnForeachAddScalarList", "aclnnResize", "aclnnNonzero", "aclnnFlashAttentionScore"),
        *("aclnnFusedInferAttentionScoreV3", "aclnnCast", "aclnnConvolution", "aclnnIndex"),
    }
)
A_PROCESS = 200


EVERY = pytest.mark.parametrize("start", range(0, len(OLD), A_PROCESS))
VARIABLE = "PYACLNN_TEST_AARCH64"
"""An aarch64 Debian in a folder, whose Python has the package: what ``nox -s emulated`` makes."""
CROSS = "aarch64-linux-gnu-gcc"
ENTER = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" "$@"'
INSIDE = """
import shutil, sys
from pathlib import Path
from pyaclnn import mock
from pyaclnn.cann.simulator import simulator
shutil.copy(simulator(), sys.argv[1])
shutil.copy(mock.libdir() / "libascendcl.so", sys.argv[1])
Path(sys.argv[1], "device-python").write_text(sys.executable)
sys.argv[:2] = ["everyone.py", sys.argv[1]]
exec(Path(sys.argv[1], "everyone.py").read_text())
"""


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.stderr == ""
    return done.stdout


def call(folder: Path, names: list[str]) -> str:
    libraries = build(folder, names)
    return output(sys.executable, "-W", "error", everyone.__file__, str(libraries), *names)


def test_the_arguments_of_operators_of_all_kinds_arrive(tmp_path: Path) -> None:
    assert call(tmp_path, SAMPLE) == f"{len(SAMPLE)}\n"


@pytest.mark.exhaustive
@EVERY
def test_the_arguments_of_every_operator_arrive(start: int, tmp_path: Path) -> None:
    names = OLD[start : start + A_PROCESS]
    assert call(tmp_path, names) == f"{len(names)}\n"


@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no aarch64 Debian")
@pytest.mark.exhaustive
@EVERY
def test_they_arrive_on_aarch64(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names, root = OLD[start : start + A_PROCESS], Path(os.environ[VARIABLE]).absolute()
    monkeypatch.setenv("CC", CROSS)
    with tempfile.TemporaryDirectory(dir=root / "tmp") as text:
        folder = build(Path(text), names)
        shutil.copy(everyone.__file__, folder)
        inside = ["env", "-i", "/usr/bin/python3", "-W", "error", "-c", INSIDE]
        enter = ["unshare", "--mount", "sh", "-ec", ENTER, str(root), *inside]
        assert output(*enter, f"/{folder.relative_to(root)}", *names) == f"{len(names)}\n"


LISTS = """
import sys
import numpy as np
import pyaclnn
from pyaclnn.base.errors import InvalidArgumentError

pyaclnn.select_backend(sys.argv[1])
aclnn = pyaclnn.aclnn
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    xs = [pyaclnn.to_device(np.zeros(n, np.float32), device) for n in (1, 2, 3)]
"""

PROGRAMS = {
    "a list of results is made by a rule": """
    outs = aclnn.foreach_abs(xs, stream=stream)
    assert [out.shape for out in outs] == [(1,), (2,), (3,)], outs
    mine = pyaclnn.DeviceArray.empty(2, np.float32, device)
    outs = aclnn.foreach_abs(xs, [pyaclnn.Empty(1, np.float32), mine, None])
    assert outs[1] is mine
    assert outs[0].shape == (1,) and outs[2] is None""",
    "a list of results is made as it is asked for": """
    x = xs[2]
    halves = [pyaclnn.Empty(2, np.float32), pyaclnn.Empty(1, np.float32)]
    out = aclnn.split_tensor(x, 2, 0, halves, stream=stream)
    assert [o.shape for o in out] == [(2,), (1,)], out""",
    "lists of NumPy arrays come back as such": """
    given = [np.ones(2, np.float32), np.ones((2, 2), np.float16)]
    out = aclnn.foreach_abs(given)
    assert [type(o) for o in out] == [np.ndarray] * 2
    assert [(o.shape, str(o.dtype)) for o in out] == [((2,), "float32"), ((2, 2), "float16")]
    mine = [np.empty(2, np.float32), np.empty((2, 2), np.float16)]
    out = aclnn.foreach_abs(given, mine)
    assert out[0] is mine[0] and out[1] is mine[1]""",
    "what is updated in place is returned": """
    x = np.ones(3, np.float32)
    assert aclnn.inplace_fill_scalar(x, 7) is x and x.tolist() == [1, 1, 1]
    assert aclnn.inplace_fill_scalar(xs[0], 7, stream=stream) is xs[0]""",
    "a shape that only the operator knows is told after it has run": """
    x = pyaclnn.to_device(np.zeros((3, 2), np.float32), device)
    found = aclnn.nonzero(x, pyaclnn.Empty((6, 2), np.int64), stream=stream)
    assert found.array.shape == (6, 2) and found.actual().shape == (2, 2), found
    assert found.actual().address == found.array.address
    whole = pyaclnn.DeviceArray.empty((2, 2), np.int64, device)
    assert aclnn.nonzero(x, whole, stream=stream).actual() is whole
    small = aclnn.nonzero(x, pyaclnn.Empty((1, 2), np.int64), stream=stream)
    try:
        small.actual()
    except InvalidArgumentError as error:
        assert "a contiguous array of at least 4 elements, for (2, 2)" in str(error), error
    else:
        raise AssertionError
    host = aclnn.nonzero(np.ones((3, 2), np.float32), pyaclnn.Empty((6, 2), np.int64))
    assert type(host) is np.ndarray and host.shape == (2, 2)""",
    "a plan of lists repeats and keeps its arrays": """
    plan = pyaclnn.plan(aclnn.foreach_abs, xs, stream=stream)
    assert plan.repeatable and [o.shape for o in plan.run()] == [(1,), (2,), (3,)]
    try:
        plan.run(x=xs)
    except InvalidArgumentError as error:
        assert "such a plan keeps the arrays it was made with" in str(error), error
    else:
        raise AssertionError
    plan.close()""",
    "an array of another format is told so": """
    try:
        xs[0].with_format("ABCD")
    except InvalidArgumentError as error:
        assert "'form' is 'ABCD'; it must be one of" in str(error), error
    else:
        raise AssertionError
    try:
        xs[0].with_format("NCHW", (10**6, 2))
    except InvalidArgumentError as error:
        assert "'storage' is (1000000, 2); it must be of at most" in str(error), error
    else:
        raise AssertionError""",
    "a type is taken where a number means one": """
    x = pyaclnn.to_device(np.zeros((2, 2), np.int8), device)
    out, scale = pyaclnn.Empty((2, 2), np.float16), pyaclnn.Empty(2, np.float32)
    for dtype in ("float16", np.float16, 1):
        aclnn.ascend_anti_quant(x, xs[1], None, dtype, False, out)
    try:
        aclnn.ascend_anti_quant(x, xs[1], None, "float1", False, out)
    except InvalidArgumentError as error:
        assert "'dstType' is 'float1'; it must be one of" in str(error), error
    else:
        raise AssertionError""",
    "lists that are wrong are refused by their items": """
    for given, words in (
        (xs[0], "'x' is a DeviceArray; it must be a sequence"),
        ([xs[0], 1.0], "'x[1]' is a float; it must be a NumPy array or a DeviceArray"),
        ([xs[0], np.ones(1, np.float32)], "'x[1]' is a NumPy array, while others are device"),
    ):
        try:
            aclnn.foreach_abs(given, stream=stream)
        except InvalidArgumentError as error:
            assert words in str(error), error
        else:
            raise AssertionError(given)
    try:
        aclnn.foreach_abs(xs, [xs[0], xs[1][:1], xs[2]])
    except InvalidArgumentError as error:
        assert "'out[0]' is an array that shares memory with 'x[0]'" in str(error), error
    else:
        raise AssertionError""",
}
USED = [
    f"aclnn{n}"
    for n in ["ForeachAbs", "SplitTensor", "InplaceFillScalar", "Nonzero", "AscendAntiQuant"]
]


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("telling"), USED)


def test_lists_results_and_shapes_are_as_they_are_described(telling: Path) -> None:
    code = LISTS + "".join(f"    # {name}{code}\n" for name, code in PROGRAMS.items())
    command = [sys.executable, "-W", "error", "-c", code, str(telling)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert (done.stderr, done.returncode) == ("", 0)
