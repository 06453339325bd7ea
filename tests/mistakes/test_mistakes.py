# SPDX-License-Identifier: Apache-2.0
"""Messages of mistakes that users make, row by row."""

from __future__ import annotations

import dataclasses
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import aclnn, array_api, cli, select_backend
from pyaclnn.runtime.device import default_device
from tests.product.commands import run, silent_environment

from .mistake import Mistake, all_mistakes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

MISTAKES = all_mistakes()
PROGRAM = """
import numpy as np, pyaclnn
pyaclnn.rms_norm(np.ones((2, 8), np.float32), np.ones(8, np.float32))
"""
PLUGIN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pyaclnn.pytest_plugin"}


def rows(kind: str) -> pytest.MarkDecorator:
    """Parametrize a test with the rows of a kind."""
    found = [mistake for mistake in MISTAKES if getattr(mistake, kind)]
    return pytest.mark.parametrize("mistake", found, ids=[mistake.title for mistake in found])


class Tensor:
    """Stand-in for a tensor of PyTorch, which is not installed everywhere."""

    def __init__(self, array: NDArray[Any], refusal: str = "", **attributes: object) -> None:
        """Hold an array; with a refusal, no export succeeds."""
        self._array = array
        self._refusal = refusal
        vars(self).update(attributes)

    def __dlpack__(self, **_: object) -> object:
        """Export the array."""
        if self._refusal:
            raise BufferError(self._refusal)
        return self._array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the host."""
        return 1, 0


Tensor.__module__ = "torch"


@pytest.fixture(autouse=True)
def _nothing_is_left(leak_check: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    assert select_backend("mock").name == "mock"
    default_device()
    with leak_check():
        yield


def raised_by(code: str) -> tuple[str, str, int]:
    """Return class, message and frames of the exception that code of a user raises."""
    x, w = np.ones((4, 8), np.float32), np.ones(8, np.float32)
    names: dict[str, Any] = {"np": np, "pyaclnn": pyaclnn, "aclnn": aclnn, "xp": array_api}
    names |= {"x": x, "w": w, "dx": pyaclnn.to_device(x), "dw": pyaclnn.to_device(w)}
    names["Tensor"] = Tensor
    default_device().synchronize()
    try:
        exec(code, names)  # noqa: S102  # the rows are this project's own
    except Exception as error:  # noqa: BLE001  # the row names its class
        frames = len(traceback.extract_tb(error.__traceback__)) - 2
        return type(error).__name__, str(error), frames
    finally:
        names.clear()
    return "", "", 0


def faults(mistake: Mistake) -> list[str]:
    """Make the mistake of a row with code, and list the faults of its message."""
    kind, message, frames = raised_by(mistake.code)
    found = mistake.faults_of(message)
    if kind != mistake.raises:
        found.append(f"it is of class {kind!r}")
    if frames > mistake.frames:
        found.append(f"it has {frames} frames")
    return [f"{fault}: {message}" for fault in found]


@rows("code")
def test_a_mistake_in_python(mistake: Mistake) -> None:
    assert faults(mistake) == []


@rows("command")
def test_a_mistake_on_the_command_line(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in os.environ.keys() - silent_environment().keys():
        monkeypatch.delenv(name)
    try:
        status = cli.main(mistake.command)
    except SystemExit as exited:
        status = int(exited.code or 0)
    assert (mistake.faults_of(capfd.readouterr().err), status) == ([], mistake.status)


@pytest.mark.sampled(2)
@rows("environment")
def test_a_mistake_in_the_environment(mistake: Mistake) -> None:
    variables = {"PYACLNN_BACKEND": "mock", **mistake.environment}
    done = run(sys.executable, "-c", PROGRAM, environment=silent_environment(**variables))
    assert (mistake.faults_of(done.stderr), done.returncode) == ([], 1), done.stderr


@pytest.mark.sampled(2)
@rows("test")
def test_a_mistake_with_the_plugin(mistake: Mistake, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(f"import pyaclnn\nimport pytest\n{mistake.test}", encoding="utf-8")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *mistake.options)
    done = run(*command, cwd=tmp_path, environment=silent_environment(**PLUGIN))
    said = done.stdout + done.stderr
    assert (mistake.faults_of(said), done.returncode) == ([], mistake.status), said


def test_the_table_covers_every_way_of_typing() -> None:
    assert len(MISTAKES) >= 100
    assert len({mistake.title for mistake in MISTAKES}) == len(MISTAKES)
    for mistake in MISTAKES:
        ways = (mistake.code, mistake.command, mistake.environment, mistake.test)
        assert sum(map(bool, ways)) == 1, mistake.title
        assert mistake.says, mistake.title


@pytest.mark.parametrize(
    "change",
    [
        {"says": ["another text"]},
        {"never": ["'gamma'"]},
        {"raises": "TypeError"},
        {"frames": 0},
        {"code": "x"},
    ],
    ids=str,
)
def test_another_message_is_noticed(change: dict[str, Any]) -> None:
    right = Mistake(
        "control", ["'gamma' is of shape (5,)"], code="pyaclnn.rms_norm(x, np.ones(5, 'f4'))"
    )
    assert faults(right) == []
    assert faults(dataclasses.replace(right, **change))
