# SPDX-License-Identifier: Apache-2.0
"""A kernel as an operator of the simulated NPU: a package is built, found, called and judged.

The programs run in processes of their own: a device process reads where packages are when it
starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyaclnn.ascendc import CompileError
from pyaclnn.ascendc.package import build_package
from pyaclnn.bindgen.reader import HeaderError
from pyaclnn.cann.signatures import read_operators

SOURCES = Path(__file__).parents[2] / "examples" / "custom_operator"
NAME = "aclnnAddLayerNormCustom"

_PROGRAM = f"""
import numpy as np, sys, pyaclnn
from pyaclnn.ascendc.custom import CustomOperators
operators = CustomOperators(sys.argv[1])
rng = np.random.default_rng(0)
x = rng.normal(size=(3, 5, 37)).astype(np.float32)
weights = rng.normal(size=(2, 37)).astype(np.float32)
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    made = [pyaclnn.to_device(array, device) for array in (x, x * 0.5, *weights, x * 0)]
    *inputs, y = made
    def launch(*arguments, operator={NAME!r}):
        operators.launch(operator, *arguments, stream=stream)
    def work():
        %s
    try:
        work()
    finally:
        for array in made:
            array.close()
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("package"))


def build(folder: Path, operators: Path = SOURCES / "operators.py") -> Path:
    return build_package(
        folder,
        headers=[SOURCES / "aclnn_add_layer_norm_custom.h"],
        operators=operators,
        sources=[SOURCES / "add_layer_norm_custom.cpp"],
    )


def run(package: Path, cache: Path, work: str) -> subprocess.CompletedProcess[str]:
    variables = {
        "PYACLNN_BACKEND": "mock",
        "ASCEND_CUSTOM_OPP_PATH": f"/no/such/package:{package}",
        "XDG_CACHE_HOME": str(cache),
    }
    code = _PROGRAM % work.replace("\n", "\n        ")
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(package)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.exhaustive
def test_the_package_has_the_layout_of_canns(package: Path) -> None:
    found = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    assert found == {
        "mock/add_layer_norm_custom.cpp",
        "mock/operators.py",
        "op_api/include/aclnn_add_layer_norm_custom.h",
        "op_api/lib/libcust_opapi.so",
    }
    declared = read_operators(package / "op_api" / "include" / "aclnn_add_layer_norm_custom.h")
    assert list(declared) == [f"{NAME}GetWorkspaceSize", NAME]


@pytest.mark.exhaustive
def test_an_operator_is_called_in_two_phases(package: Path, cache_dir: Path) -> None:
    work = """
launch(*inputs, 1e-5, y)
launch(*inputs, 1e-5, y)
stream.synchronize()
expected = pyaclnn.layer_norm(x * 1.5, 37, *weights).out
np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-5)
print("right")"""
    done = run(package, cache_dir, work)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "right\n"


@pytest.mark.exhaustive
def test_its_operators_are_counted_and_can_be_made_to_fail(package: Path, cache_dir: Path) -> None:
    work = f"""
import pyaclnn.mock
pyaclnn.mock.reset_calls()
launch(*inputs, 1e-5, y)
stream.synchronize()
print(*(pyaclnn.mock.calls()[name] for name in ({NAME!r} + 'GetWorkspaceSize', {NAME!r})))
for name in ({NAME!r} + 'GetWorkspaceSize', {NAME!r}):
    with pyaclnn.mock.faults(name + '=161002'):
        try:
            launch(*inputs, 1e-5, y)
        except pyaclnn.AclError as error:
            print(str(error).splitlines()[0])"""
    done = run(package, cache_dir, work)
    assert done.returncode == 0, done.stderr
    said = "failed with 161002 (ACLNN_ERR_PARAM_INVALID)."
    assert done.stdout == f"1 1\n{NAME}GetWorkspaceSize {said}\n{NAME} {said}\n", done.stderr


WRONG = {
    "launch(*inputs[:3], None, 1e-5, y)": "161001",
    "launch(*inputs[:3], inputs[0], 1e-5, y)": "must be [37]",
    "launch(*inputs, 1e-5)": "is 5 values; it must be 6",
    "launch(*inputs, operator='aclnnOther')": f"it must be one of {NAME}",
}


@pytest.mark.exhaustive
def test_wrong_calls_are_refused(package: Path, cache_dir: Path) -> None:
    attempt = "try:\n    {}\nexcept pyaclnn.InvalidArgumentError as error:\n    print([str(error)])"
    done = run(package, cache_dir, "\n".join(map(attempt.format, WRONG)))
    assert done.returncode == 0, done.stderr
    for text, words in zip(done.stdout.splitlines(), WRONG.values(), strict=True):
        assert words in text


@pytest.mark.exhaustive
def test_a_fault_of_the_kernel_is_a_failed_kernel_that_names_the_line(
    tmp_path: Path, cache_dir: Path
) -> None:
    package = build(tmp_path)
    kernel = package / "mock" / "add_layer_norm_custom.cpp"
    text = kernel.read_text(encoding="utf-8")
    kernel.write_text(text.replace("in2_.FreeTensor(x2);", ""), encoding="utf-8")
    done = run(package, cache_dir, "launch(*inputs, 1e-5, y)\nstream.synchronize()")
    assert done.returncode == 1
    assert "KernelFault" in done.stderr
    assert "FreeTensor" in done.stderr
    assert f"{kernel}:" in done.stderr


@pytest.mark.exhaustive
def test_a_package_that_cannot_be_loaded_does_not_stop_the_device(
    tmp_path: Path, cache_dir: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import no_such_module\n", encoding="utf-8")
    work = """
try:
    launch(*inputs, 1e-5, y)
except pyaclnn.AclError as error:
    print("no_such_module" in str(error))
pyaclnn.layer_norm(x, 37)"""
    done = run(build(tmp_path / "package", broken), cache_dir, work)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_a_header_that_cannot_be_an_operators_is_refused(tmp_path: Path) -> None:
    header = tmp_path / "aclnn_half.h"
    header.write_text(
        '#include "aclnn/acl_meta.h"\n'
        "aclnnStatus aclnnHalfGetWorkspaceSize(const aclTensor *x, uint64_t *workspaceSize,\n"
        "    aclOpExecutor **executor);\n",
        encoding="utf-8",
    )
    with pytest.raises(HeaderError, match="has no second phase"):
        build_package(tmp_path / "p", headers=[header], operators=SOURCES / "operators.py")


@pytest.mark.exhaustive
def test_a_missing_c_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(CompileError, match="no C compiler 'no-such-compiler'"):
        build(tmp_path)
