# SPDX-License-Identifier: Apache-2.0
"""A package with an operator that takes everything, and programs that call it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from pyaclnn.ascendc.package import build_package
from tests.fork_server import run_program

HERE = Path(__file__).parent
Run: TypeAlias = Callable[[str], str]

PROGRAM = """
import sys
import numpy as np
import pyaclnn
from pyaclnn import mock
from pyaclnn.ascendc.custom import CustomOperators
from pyaclnn.calling.operator import Operator

f32 = np.float32
device = pyaclnn.Device(0)
stream = pyaclnn.Stream(device)
package = CustomOperators(sys.argv[1])
everything = package.operator("aclnnEverything")

def array(*values):
    return pyaclnn.to_device(np.array(values, f32), device)

GIVEN = {
    "xs": (), "biasOptional": None, "alpha": 2.0, "weights": (), "counts": None, "shifts": None,
    "flags": None, "mode": "run", "on": False, "small": 0, "medium": 0, "large": 0, "huge": 0,
    "narrow": 0.0, "wide": 0.0, "kind": 0, "selfRef": array(1, 2), "outs": (),
}

def launch(**others):
    package.launch("aclnnEverything", *{**GIVEN, **others}.values(), stream=stream)

"""


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("everything")
    return build_package(folder, headers=[HERE / "everything.h"], operators=HERE / "everything.py")


@pytest.fixture(scope="session")
def run(package: Path) -> Run:
    """Run a program after the lines above, and return what it prints."""

    def run(code: str) -> str:
        variables = {"PYACLNN_BACKEND": "mock", "ASCEND_CUSTOM_OPP_PATH": str(package)}
        end = "\nassert not mock.violations(), mock.violations()\nstream.close(); device.close()"
        command = (sys.executable, "-W", "error", "-c", PROGRAM + code + end, package)
        done = run_program(command, {**os.environ, **variables})
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
