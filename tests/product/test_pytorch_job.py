# SPDX-License-Identifier: Apache-2.0
"""The job that compares with PyTorch: it has all comparisons, and skips none."""

from __future__ import annotations

import re
import sys

import pytest

from .commands import ROOT, run

PYTEST = (sys.executable, "-m", "pytest", "-q", "-n0")
WITHOUT = "import sys, pytest; sys.modules['torch'] = None; sys.exit(pytest.main(sys.argv[1:]))"


@pytest.mark.exhaustive
def test_the_job_has_hundreds_of_tests() -> None:
    listed = run(*PYTEST, "--collect-only", "-m", "torch", cwd=ROOT).stdout
    [count] = re.findall(r"^(\d+)/\d+ tests collected", listed, re.MULTILINE)
    assert int(count) >= 450


def test_no_test_leaves_itself_out_of_the_job() -> None:
    # Programs of others have a job of their own, which has PyTorch with torch-npu.
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if "clients" not in path.parts]
    skipping = re.compile(r"""importorskip\(\s*['"]torch['"]""")
    assert [path for path in files if skipping.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("options", "outcome"), [(["-m", "torch"], r"4 errors"), ([], r"\d+ passed, 4 skipped")]
)
def test_without_pytorch_the_job_fails_and_the_default_run_skips(
    options: list[str], outcome: str
) -> None:
    file = ROOT / "tests" / "reference" / "test_instance_norm.py"
    output = run(sys.executable, "-c", WITHOUT, "-q", "-n0", *options, file, cwd=ROOT).stdout
    assert re.search(outcome, output.splitlines()[-1]), output
