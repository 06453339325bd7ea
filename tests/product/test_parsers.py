# SPDX-License-Identifier: Apache-2.0
"""Parsers of the command line: which of them a command makes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pyaclnn import cli

if TYPE_CHECKING:
    import pytest


def test_a_command_makes_its_own_parsers_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = argparse.ArgumentParser.__init__

    def noted(parser: argparse.ArgumentParser, **given: Any) -> None:
        make(parser, **given)
        made.append(parser.prog)

    monkeypatch.setattr(argparse.ArgumentParser, "__init__", noted)
    assert cli.main(["mock", "chips"]) == 0
    assert made == ["pyaclnn", "pyaclnn mock", "pyaclnn mock chips"]
    assert capsys.readouterr().out.startswith("Ascend")
