# SPDX-License-Identifier: Apache-2.0
"""The suite itself: every warning is an error, but for those of what reports a failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUITE = Path(__file__).parents[1]

# Hypothesis does this: to report a failure it loads what patches sources, which may warn.
REPORTER = f"""
import importlib, importlib.util, sys, warnings
import pytest

spec = importlib.util.spec_from_file_location("tests", {str(SUITE / "__init__.py")!r})
sys.modules["tests"] = importlib.util.module_from_spec(spec)
sys.modules["tests"].__path__ = [{str(SUITE)!r}]
from tests import conftest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    report = yield
    warnings.warn("what is loaded to report it is old", DeprecationWarning)
    return report

def pytest_terminal_summary(terminalreporter):
    warnings.warn("and what tells of it", DeprecationWarning)
    terminalreporter.write_line("how to mend it")

class Suite:
    pytest_runtest_makereport = staticmethod(conftest.pytest_runtest_makereport)
    pytest_terminal_summary = staticmethod(conftest.pytest_terminal_summary)

def pytest_configure(config):
    config.pluginmanager.register(Suite())
"""


TESTS = """
import warnings

def test_that_fails():
    assert 1 == 2

def test_that_warns():
    warnings.warn("of the test's own")
"""


def test_failures_are_reported_whatever_warns_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(REPORTER, encoding="utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    done = subprocess.run(  # our own interpreter
        [
            *(sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider"),
            *("-c", SUITE.parent / "pyproject.toml", f"--rootdir={tmp_path}", tmp_path),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert "2 failed" in done.stdout, done.stdout + done.stderr
    assert "assert 1 == 2" in done.stdout
    assert "how to mend it" in done.stdout
    assert "UserWarning: of the test's own" in done.stdout
