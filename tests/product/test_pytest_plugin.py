# SPDX-License-Identifier: Apache-2.0
"""What a stranger's test suite gets by having pyaclnn installed, as the README shows it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from .commands import ROOT, run, silent_environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")
[EXAMPLE] = re.findall(r"^```py\n(.*?)^```", README, re.MULTILINE | re.DOTALL)

HEAD = """\
import numpy as np
import pyaclnn
import pytest

"""


# Other plugins that are installed here take longer to load than a test to run.
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pyaclnn.pytest_plugin"}


def suite(
    folder: Path, text: str, *options: str, environment: Mapping[str, str] = ALONE
) -> tuple[int, str]:
    """Run ``text`` as a test file in an empty project."""
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options)
    done = run(*command, cwd=folder, environment={**silent_environment(), **environment})
    return done.returncode, done.stdout


def test_the_example_of_the_readme_passes(tmp_path: Path) -> None:
    status, output = suite(tmp_path, EXAMPLE, environment={})  # the plugin is found by itself
    assert status == 0, output


def test_what_a_test_leaves_on_the_device_fails_it(tmp_path: Path) -> None:
    body = "kept = []\ndef test_it(npu):\n    kept.append(pyaclnn.raw.ffi.new('void **'))\n"
    body += "    assert pyaclnn.raw.aclrtMalloc(kept[0], 64, 0) == 0\n"
    status, output = suite(tmp_path, HEAD + body)
    assert status == 1
    assert "created in aclrtMalloc" in output, output


def test_what_a_failed_test_holds_is_no_leak(tmp_path: Path) -> None:
    body = "def test_it(npu):\n    x = pyaclnn.to_device(np.ones(8, np.float32), npu)\n"
    status, output = suite(tmp_path, HEAD + body + "    assert x is None\n")
    assert status == 1
    assert "1 failed in" in output
    assert "left this on the NPU" not in output


def test_looking_at_a_result_too_early_fails_the_test(tmp_path: Path) -> None:
    early = EXAMPLE.replace("    npu.synchronize()\n", "", 1)
    assert early != EXAMPLE
    status, output = suite(tmp_path, early)
    assert status == 1
    assert "memory-used-before-synchronize" in output


BREAKS_A_RULE = """\
def test_it(npu):
    x = pyaclnn.to_device(np.ones((2, 8), np.float32), npu)
    y = pyaclnn.rms_norm(x, x[0]).y
    y.numpy()
    npu.synchronize()
"""


def test_a_test_may_break_rules_on_purpose(tmp_path: Path) -> None:
    marked = HEAD + "@pytest.mark.npu(contract=False)\n" + BREAKS_A_RULE
    assert suite(tmp_path, HEAD + BREAKS_A_RULE)[0] == 1
    assert suite(tmp_path, marked)[0] == 0


@pytest.mark.parametrize(
    ("marker", "condition"),
    [
        ("soc='Ascend310P3'", "npu.soc_name == 'Ascend310P3'"),
        ("mode='eager'", "bool(np.isfinite(y.numpy()).all())"),
    ],
)
def test_a_marker_chooses_the_chip_and_the_mode(
    tmp_path: Path, marker: str, condition: str
) -> None:
    body = BREAKS_A_RULE.replace("y.numpy()\n", f"assert {condition}\n")
    status, output = suite(tmp_path, HEAD + f"@pytest.mark.npu({marker})\n" + body)
    assert status == 0, output


def test_a_mistyped_marker_is_explained(tmp_path: Path) -> None:
    status, output = suite(tmp_path, HEAD + "@pytest.mark.npu(chip='x')\n" + BREAKS_A_RULE)
    assert status == 1
    assert "the marker npu takes soc=, mode= and contract=, not {'chip': 'x'}" in output


def test_faults_are_set_for_one_test(tmp_path: Path) -> None:
    body = """
def test_fault(npu, npu_faults):
    npu_faults("aclrtMalloc:1=207001")
    with pytest.raises(pyaclnn.OutOfMemoryError):
        pyaclnn.to_device(np.ones(4, np.float32), npu)

def test_no_fault(npu):
    pyaclnn.to_device(np.ones(4, np.float32), npu)
"""
    status, output = suite(tmp_path, HEAD + body)
    assert status == 0, output


def test_without_cann_the_backend_cann_is_an_error(tmp_path: Path) -> None:
    status, output = suite(tmp_path, HEAD + BREAKS_A_RULE, "--npu-backend=/nonexistent")
    assert status == 1
    assert "/nonexistent" in output
