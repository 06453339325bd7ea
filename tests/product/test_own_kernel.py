# SPDX-License-Identifier: Apache-2.0
"""A kernel written as the documentation writes it runs in Python and in a C++ program."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from .commands import compile_program, run, script, silent_environment
from .pages import PAGES, blocks

PYTHON = {"PYTHON": sys.executable}
SECTION = PAGES["docs/how-to/teach.md"]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("host") / "host"
    compile_program(Path(__file__).with_name("own_kernel.cpp"), program)
    return program


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    block, *_ = blocks(SECTION, "py")
    path = tmp_path / "kernels.py"
    path.write_text(block, encoding="utf-8")
    return path


def test_it_is_ten_lines(kernels: Path) -> None:
    assert len(kernels.read_text(encoding="utf-8").splitlines()) <= 10


def test_that_for_a_package_is_a_kernel_too(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("\n".join(blocks(SECTION, "py")), encoding="utf-8")
    rows = script(path).scale_rows(np.ones((2, 3)), np.array([2, 3]), 2)
    assert rows.tolist() == [[4, 4, 4], [9, 9, 9]]
    rows = script(path).scaled_rows(np.ones((2, 3)), np.array([2, 3]), times=2, outputs=[])
    assert rows.tolist() == [[4, 4, 4], [9, 9, 9]]


def test_without_one_an_operator_says_how_to_give_it_one(tmp_path: Path) -> None:
    call = (
        "import numpy, pyaclnn; x = numpy.ones(3, 'f'); "
        "pyaclnn.aclnn.precision_compare(x, x, pyaclnn.Empty(3, 'uint32'))"
    )
    done = run(sys.executable, "-c", call, environment=silent_environment(PYACLNN_BACKEND="mock"))
    assert done.returncode == 1
    assert "999001" in done.stderr
    assert "the simulated NPU has aclnnPrecisionCompare, but no kernel for it" in done.stderr
    outline = done.stderr.partition("names, with\n")[2].partition("\nor a package")[0]
    path = tmp_path / "outline.py"
    path.write_text(textwrap.dedent(outline).replace("return out", "return golden"), "utf-8")
    kernel = script(path).kernel
    assert kernel(golden=7, realdata=8) == 7
    assert kernel.__aclnn__[0].name == "aclnnPrecisionCompare"
    assert "PYACLNN_MOCK_OPERATORS" in done.stderr
    assert "ASCEND_CUSTOM_OPP_PATH" in done.stderr


def test_a_program_in_c_has_it(host: Path, kernels: Path) -> None:
    done = run(host, environment=silent_environment(PYACLNN_MOCK_OPERATORS=str(kernels)))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "0.6931 1.3133 30.0000\n"


@pytest.mark.exhaustive
def test_the_line_for_python_prints_it(kernels: Path) -> None:
    [line] = re.findall(r"^PYACLNN_BACKEND=mock python (-c .*)$", SECTION, re.MULTILINE)
    environment = silent_environment(PYACLNN_MOCK_OPERATORS=str(kernels), PYACLNN_BACKEND="mock")
    done = run("/bin/sh", "-c", f'exec "$PYTHON" {line}', environment={**environment, **PYTHON})
    assert done.stdout.startswith("[1.3132"), done.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("self.astype('f8')", "out is float32; the result is float64"),
        ("self[:2]", "out has shape (3,); the result has (2,)"),
        ("(self, self)", "its kernel gives 2 results; it writes 1: out"),
        ("None", "its kernel returns None; it writes out"),
    ],
)
def test_a_result_that_does_not_fit_is_refused_and_both_are_named(
    body: str, text: str, host: Path, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(
        "import pyaclnn.mock\n"
        "@pyaclnn.mock.operator('aclnnSoftplus')\n"
        f"def softplus(self):\n    return {body}\n",
        encoding="utf-8",
    )
    done = run(host, environment=silent_environment(PYACLNN_MOCK_OPERATORS=str(path)))
    assert done.stdout.startswith("161002 "), done.stdout
    assert text in done.stdout


LATE = """
import numpy, pyaclnn

ones = numpy.ones(3, numpy.float32)
for _ in range(2):
    try:
        pyaclnn.aclnn.softplus(ones, 1.0, 20.0, pyaclnn.Empty(3, numpy.float32))
    except pyaclnn.AclError as error:
        print(type(error).__name__, "Silent: its __str__ raised LookupError" in str(error))
"""


def test_an_exception_whose_text_raises_fails_the_call_and_not_the_device(tmp_path: Path) -> None:
    path = tmp_path / "silent.py"
    path.write_text(
        "import pyaclnn.mock\n"
        "class Meta(type):\n"
        "    @property\n    def __name__(cls):\n        raise LookupError('no name')\n"
        "class Silent(Exception, metaclass=Meta):\n"
        "    def __str__(self):\n        raise LookupError('no text')\n"
        "@pyaclnn.mock.operator('aclnnSoftplus')\n"
        "def softplus(self):\n    raise Silent\n",
        encoding="utf-8",
    )
    settings = silent_environment(PYACLNN_MOCK_OPERATORS=str(path), PYACLNN_BACKEND="mock")
    done = run(sys.executable, "-c", LATE, environment=settings)
    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["True", "True"]
    assert "DeviceLostError" not in done.stdout


def test_a_file_that_fails_is_named(host: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("raise LookupError('not today')\n", encoding="utf-8")
    done = run(host, environment=silent_environment(PYACLNN_MOCK_OPERATORS=str(path)))
    assert done.returncode == 1
    assert "LookupError: not today" in done.stdout
