# SPDX-License-Identifier: Apache-2.0
"""Each public callable has an example in its docstring, which runs on the simulated NPU."""

from __future__ import annotations

import inspect
import re
import sys
from doctest import DocTestParser
from typing import TYPE_CHECKING

import pytest

import pyaclnn
from pyaclnn.facts.operators import all_operators

from .commands import run, silent_environment

if TYPE_CHECKING:
    from collections.abc import Iterable

CALLABLES = [name for name in pyaclnn.__all__ if callable(getattr(pyaclnn, name))]
SETTINGS = re.compile(r"# on the simulated NPU:((?: PYACLNN_\w+=\S+)+)")
RUNNER = """
import doctest, sys
import numpy as np
import pyaclnn
pyaclnn.select_backend("mock")
for name in sys.argv[1:]:
    text = getattr(pyaclnn, name).__doc__
    test = doctest.DocTestParser().get_doctest(text, {"np": np, "pyaclnn": pyaclnn}, name, None, 0)
    doctest.DocTestRunner(verbose=False).run(test)
"""
"""Program that runs the examples of the named callables, and prints those that fail."""


def text_of(name: str) -> str:
    return inspect.getdoc(getattr(pyaclnn, name)) or ""


def without_example(names: Iterable[str]) -> list[str]:
    return [name for name in names if not DocTestParser().get_examples(text_of(name))]


def settings(name: str) -> str:
    """Return the variables of the environment that an example names."""
    found = SETTINGS.search(text_of(name))
    return found[1].strip() if found else ""


def output(names: Iterable[str], variables: str) -> str:
    """Run the examples of some callables in one process; return what it prints."""
    environment = silent_environment(**dict(pair.split("=") for pair in variables.split()))
    options = ("-W", "error", "-X", "dev", "-c", RUNNER)
    done = run(sys.executable, *options, *names, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_each_public_callable_has_an_example() -> None:
    assert len(CALLABLES) > 90
    assert without_example(CALLABLES) == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("variables", sorted({settings(name) for name in CALLABLES}))
def test_the_examples_run(variables: str) -> None:
    assert output([name for name in CALLABLES if settings(name) == variables], variables) == ""


def test_a_callable_without_an_example_and_a_wrong_one_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pyaclnn.device_count, "__doc__", "Return how many NPUs there are.")
    assert without_example(["device_count"]) == ["device_count"]
    broken = RUNNER.replace("__doc__\n", '__doc__.replace("ones", "zeros")\n')
    assert broken != RUNNER
    monkeypatch.setattr(sys.modules[__name__], "RUNNER", broken)
    assert "Failed example" in output(["rms_norm"], "")


@pytest.mark.parametrize("name", all_operators())
def test_the_example_of_an_operator_is_short(name: str) -> None:
    examples = text_of(name).partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
    assert 4 <= len(examples) <= 15
    assert max(map(len, examples)) <= 105
