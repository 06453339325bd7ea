# SPDX-License-Identifier: Apache-2.0
"""Type checkers, and so editors, accept what the documents show, and refuse what cannot work."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pyaclnn

from .commands import ROOT
from .pages import SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# What a user types, and behind "# refused" what a checker must not let pass.
CASES = """\
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pyaclnn
from pyaclnn import DeviceArray, SupportsDLPack, aclnn

host = np.ones((2, 8), np.float32)
gamma = np.ones(8, np.float32)
dx, dgamma = pyaclnn.to_device(host), pyaclnn.to_device(gamma)


class Tensor:
    def __dlpack__(self, *, stream: int | None = None) -> Any: ...


tensor: SupportsDLPack = Tensor()

# ---- modules and their operators
for module in (pyaclnn.mock, pyaclnn.ops, pyaclnn.reference, pyaclnn.raw, pyaclnn.accuracy):
    print(module.__name__)
one: NDArray[Any] = aclnn.add(host, host, 1)
two: DeviceArray = aclnn.add(dx, dx, np.float32(1), pyaclnn.Empty(3, "float32"))
three: DeviceArray = pyaclnn.aclnn.max_dim(dx, 1, False)[0]
wrong_kind: DeviceArray = aclnn.add(host, host, 1)  # refused
aclnn.add(host, dx, 1)  # refused
aclnn.add(dx, dx, "1")  # refused
aclnn.add(dx)  # refused
aclnn.ad(dx, dx, 1)  # refused

# ---- operators of Python
twelve: DeviceArray = (2 * dx + dgamma) / -dx
thirteen: DeviceArray = (dx == 0) | (dx != dgamma) | (dx < np.float32(1))
dx += 1
fourteen: DeviceArray = abs(dx) @ dx.T
fifteen: float = float(dx[0, 0]) + sum(float(row[0]) for row in dx)
dx + "1"  # refused
dx + [1.0]  # refused

# ---- tensors of other libraries
four: NDArray[Any] = aclnn.add(tensor, host, 1)
five: NDArray[Any] = pyaclnn.rms_norm(tensor, gamma).y
six: DeviceArray = pyaclnn.to_device(tensor)
seven: DeviceArray = pyaclnn.from_dlpack(tensor)
aclnn.add(tensor, dx, 1)  # refused
pyaclnn.rms_norm([1.0], gamma)  # refused

# ---- gradients
forward = pyaclnn.layer_norm(dx, 8, dgamma)
saved = (forward.mean, forward.rstd)
some = pyaclnn.layer_norm_backward(dx, dx, 8, *saved, dgamma, output_mask=(True, True, False))
print(some.grad_input.shape, pyaclnn.layer_norm(dx, 8, eps=np.float32(1e-6)).out.shape)
pyaclnn.layer_norm_backward(dx, dx, 8, *saved, dgamma, output_mask=(True, True))  # refused
pyaclnn.layer_norm(dx, 8, epsylon=1e-6)  # refused

# ---- plans and operators by name
ready = pyaclnn.plan(pyaclnn.rms_norm, dx, dgamma, epsilon=1e-6)
eight: DeviceArray = ready.run(x=dx).y
nine: DeviceArray = ready.results.rstd
ten: DeviceArray = pyaclnn.plan(aclnn.add, dx, dx, 1).run()
by_name = pyaclnn.op("aclnnAdd")
eleven: DeviceArray = by_name(dx, dx, 1)
kept: pyaclnn.Plan = pyaclnn.plan(by_name, dx, dx, 1)
sixteen: NDArray[Any] = pyaclnn.op("aclnnAdd")(tensor, host, alpha=1)
seventeen: DeviceArray = pyaclnn.plan(by_name, dx, dx, 1).run()
of_the_installation = pyaclnn.op("aclnnOfAnInstallation")(dx, 1, stream=None)
print(by_name.declared.names, by_name.prepare(dx, dx, 1), of_the_installation)
by_name(dx, host, 1)  # refused
by_name(dx, dx, alfa=1)  # refused
wrong_result: str = pyaclnn.op("aclnnAdd")(dx, dx, 1)  # refused
not_an_array: str = ready.run()  # refused
ready.run(x=host)  # refused
pyaclnn.plan(pyaclnn.rms_norm, dx, dgamma, epsylon=1e-6)  # refused
pyaclnn.plan(aclnn.add, dx)  # refused
by_name.prepar  # refused
pyaclnn.op(7)  # refused
"""
REFUSED = [number for number, line in enumerate(CASES.splitlines(), 1) if "# refused" in line]
# An editable installation is found by a hook, which checkers do not know; others they find.
PACKAGE = Path(pyaclnn.__file__).parents[1]
IS_EDITABLE = not PACKAGE.name.endswith("-packages")


def lines_by_mypy(folder: Path) -> dict[str, set[int]]:
    """The lines of the scripts in a folder that mypy refuses, by script."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--hide-error-context", "--no-error-summary"]
    path = {"MYPYPATH": str(PACKAGE)} if IS_EDITABLE else {}
    files = sorted(path.name for path in folder.glob("*.py"))
    done = subprocess.run(
        [*command, *files], cwd=folder, env=path, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, set[int]] = {name: set() for name in files}
    for line in done.stdout.splitlines():
        name, number, kind, *_ = line.split(":")
        if kind == " error":
            found[name].add(int(number))
    return found


def lines_by_pyright(folder: Path) -> dict[str, set[int]]:
    """The same by pyright, of the package basedpyright, which has its own Node.js."""
    pytest.importorskip("basedpyright")
    settings: dict[str, Any] = {
        "typeCheckingMode": "standard",
        "reportMissingImports": False,  # PyTorch, which is not installed everywhere
        "reportMissingModuleSource": False,
        "extraPaths": [str(PACKAGE)] if IS_EDITABLE else [],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, set[int]] = {path.name: set() for path in folder.glob("*.py")}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        if one["severity"] == "error":
            line = one["range"]["start"]["line"] + 1
            found.setdefault(Path(one["file"]).name, set()).add(line)
    return found


CHECKERS = [lines_by_mypy, lines_by_pyright]


@pytest.mark.exhaustive
@pytest.mark.parametrize("lines_of", CHECKERS)
def test_types_accept_what_works_and_refuse_what_does_not(
    lines_of: Callable[[Path], dict[str, set[int]]], tmp_path: Path
) -> None:
    (tmp_path / "cases.py").write_text(CASES, encoding="utf-8")
    assert sorted(lines_of(tmp_path)["cases.py"]) == REFUSED


def shown() -> Sequence[tuple[str, str]]:
    """The name and the text of each script of the documents and examples."""
    pages = [(name.replace("/", "_").replace("-", "_"), text) for name, text in SCRIPTS.items()]
    programs = sorted((ROOT / "examples").rglob("*.py"))
    return [
        *((name.replace(".md", ".py"), text) for name, text in pages if text),
        *((f"example_{path.name}", path.read_text(encoding="utf-8")) for path in programs),
    ]


@pytest.mark.exhaustive
def test_an_editor_marks_nothing_in_documents_and_examples(tmp_path: Path) -> None:
    scripts = shown()
    assert len(scripts) > 20
    for name, text in scripts:
        (tmp_path / name).write_text(text, encoding="utf-8")
    for notebook in (ROOT / "examples").rglob("*.ipynb"):
        shutil.copy(notebook, tmp_path)
    found = lines_by_pyright(tmp_path)
    assert {name: sorted(lines) for name, lines in found.items() if lines} == {}
