# SPDX-License-Identifier: Apache-2.0
"""Generated functions show their source to inspect, to debuggers and to tracebacks."""

from __future__ import annotations

import importlib
import inspect
import io
import linecache
import pdb  # noqa: T100  # the debugger is what is tested
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "layer_norm": (lambda: pyaclnn.layer_norm, "pyaclnn.facts.operators.norm.layer_norm"),
    "add": (lambda: pyaclnn.aclnn.add, "aclnnop/aclnn_add.h"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.usefixtures("device")
def test_inspect_shows_the_generated_function_and_its_origin(name: str) -> None:
    function, origin = FUNCTIONS[name]
    for _ in range(2):
        source = inspect.getsource(function())
        assert source.startswith(f"def {name}(")
        assert f"from {origin}." in source.splitlines()[1]
        linecache.checkcache()
    assert inspect.unwrap(function()).__globals__["__name__"] == function().__module__


@pytest.mark.usefixtures("device")
def test_the_docstring_names_the_module_of_the_description() -> None:
    _, origin = FUNCTIONS["layer_norm"]
    assert f"Described in ``{origin}``" in str(inspect.getdoc(pyaclnn.layer_norm))
    assert importlib.import_module(origin).LAYER_NORM.name == "layer_norm"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_debugger_steps_into_a_generated_function(name: str, device: object) -> None:
    x = np.ones((2, 4), np.float32)
    function: Callable[..., Any] = FUNCTIONS[name][0]()
    output = io.StringIO()
    commands = io.StringIO("list\nnext\nnext\nnext\nwhere\ncontinue\n")
    debugger: Any = pdb.Pdb(stdin=commands, stdout=output, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    assert debugger.runcall(function, x, *([4] if name == "layer_norm" else [x, 1.0])) is not None
    shown = output.getvalue()
    assert f"def {name}(" in shown
    assert "key_ = (" in shown
    assert device is not None
