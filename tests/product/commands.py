# SPDX-License-Identifier: Apache-2.0
"""Running the product as a user does: as a process, in an environment that says nothing."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyaclnn.mock import cflags, ldflags
from tests.fork_server import run_program

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]

FORKS = "PYACLNN_MOCK_FORK_SERVER"
"""Set by pytest for all programs that tests start."""

_SPEAKING = ("PYACLNN_", "ASCEND_", "LD_LIBRARY_PATH", "ACLNN_", "DISABLE_L2_CACHE", "COLUMNS")


def silent_environment(**extra: str) -> dict[str, str]:
    """The environment without anything that CANN or pyaclnn read, plus ``extra``."""
    kept = {k: v for k, v in os.environ.items() if k == FORKS or not k.startswith(_SPEAKING)}
    return {**kept, **extra}


def run(
    *command: str | Path, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command and return what it printed and its exit status."""
    return run_program(command, silent_environment() if environment is None else environment, cwd)


def pyaclnn(
    *arguments: str | Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command ``pyaclnn`` of this interpreter's environment."""
    return run(sys.executable, "-m", "pyaclnn", *arguments, environment=environment)


def script(path: Path) -> Any:
    """Load a script of the project, which is in no package, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_program(source: Path, program: Path) -> None:
    """Compile a C++ program with the arguments that the product names."""
    compiler = os.environ.get("CXX", "c++")
    done = run(compiler, "-std=c++17", source, *cflags(), *ldflags(), "-o", program)
    assert done.returncode == 0, done.stderr
