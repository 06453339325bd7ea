# SPDX-License-Identifier: Apache-2.0
"""C++ programs, written against the headers of a release, print what was worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.facts.releases import RELEASES, VARIABLE
from tests.conftest import COUNTED
from tests.operators.npu import numpy_type
from tests.operators.results import TOLERANCE
from tests.operators.words import SOC_NAMES, Array

from .commands import compile_program, run, silent_environment
from .worked_examples import Example, examples, program_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def printed(chosen: list[Example], release: str, folder: Path) -> dict[tuple[str, str], bytes]:
    """Compile one program for all, and run it on each chip; the bytes of results."""
    source, program = folder / "program.cpp", folder / "program"
    source.write_text(program_text(chosen), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, release)
        compile_program(source, program)
    environment = silent_environment(**{VARIABLE: release})
    found = {}
    for chip in dict.fromkeys(example.chip for example in chosen):
        names = [example.table.name for example in chosen if example.chip == chip]
        done = run(
            program, *names, environment={**environment, "PYACLNN_MOCK_SOC": SOC_NAMES[chip]}
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        for line in done.stdout.splitlines():
            name, tensor, content = line.split(" ")
            found[name, tensor] = bytes.fromhex(content)
    return found


def hold(example: Example, tensor: str, content: bytes) -> None:
    """Hold a result against what was worked out; None there stands for what is not known."""
    argument = example.arguments[tensor]
    assert isinstance(argument, Array)
    ours = np.frombuffer(content, numpy_type(argument.dtype)).astype(np.float64)
    wanted = np.array(example.case.gives[tensor], np.float64).ravel()
    known = ~np.isnan(wanted) | np.isnan(ours)
    rtol = max(example.case.rtol, TOLERANCE[argument.dtype] / 4)
    np.testing.assert_allclose(ours[known], wanted[known], rtol, rtol, err_msg=example.table.name)


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", RELEASES)
def test_a_program_prints_what_was_worked_out(
    release: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    chosen = examples(release)
    found = printed(chosen, release, tmp_path)
    for example in chosen:
        for tensor in example.printed:
            hold(example, tensor, found[example.table.name, tensor])
    assert len(found) == sum(len(example.printed) for example in chosen) > 0
    record_property(COUNTED, ["operators called by C++ programs", len(chosen)])
