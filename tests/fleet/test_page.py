# SPDX-License-Identifier: Apache-2.0
"""The Python of the page on fleets runs, on a cluster of one node."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.product.commands import run, silent_environment
from tests.product.pages import PAGES, blocks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.fleet

BEFORE = """\
import numpy as np
import ray

ray.init(address="local", num_cpus=1, resources={"NPU": 2}, include_dashboard=False)
rows = list(np.random.default_rng(0).normal(size=(3, 4, 48)).astype(np.float32))
means = [part.mean(1, keepdims=True) for part in rows]
rstds = [1 / part.std(1, keepdims=True) for part in rows]
slopes, weight, bias = rows, np.ones(48, np.float32), np.zeros(48, np.float32)
samples, running_mean, running_var = rows, np.zeros(48, np.float32), np.ones(48, np.float32)
"""
AFTER = """
assert found.grad_weight.shape == (48,)
print("done")
"""
HERE = {'"medium", address="head:6379"': 'only=("DEV-104",)', "1024": "48"}
"""Statement of the page -> measured quantity."""


def test_the_python_of_the_page_runs(tmp_path: Path) -> None:
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    examine, *computed = blocks(PAGES["docs/how-to/fleet.md"], "py")
    text = "\n".join([examine, "assert len(found.reports) == 1", *computed])
    for there, here in HERE.items():
        assert text.count(there) == 1
        text = text.replace(there, here)
    (tmp_path / "page.py").write_text(BEFORE + text + AFTER, encoding="utf-8")
    environment = silent_environment(PYACLNN_BACKEND="mock")
    done = run(sys.executable, tmp_path / "page.py", environment=environment)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr
