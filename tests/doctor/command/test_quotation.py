# SPDX-License-Identifier: Apache-2.0
"""Quotation of the statement of a line."""

from __future__ import annotations

import pytest

from pyaclnn.health.explain.quotation import filled

STATEMENTS = [
    ("ValueError: a_b exceeds 512", "a_b exceeds 512", "a_b"),
    (
        "(EngineCore_0 pid=12) ERROR 05-21 08:30:00 [core.py:1] AssertionError: only one of `x`.",
        "only one of `x`",
        "x",
    ),
    ("EZ9999: [PID: 9] 2025-05-27-06:52:12.455.807 numHeads is 8[FUNC:Check][FILE:a.cc]",
     "numHeads is 8", "numHeads"),
    ("pydantic.ValidationError: Value error, --dtype is wrong", "--dtype is wrong", "--dtype"),
    ("call aclnnAdd failed: too long", "call aclnnAdd failed: too long", "what it names"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "statement", "name"), STATEMENTS)
def test_a_statement_is_quoted_without_what_stands_before_it(
    line: str, statement: str, name: str
) -> None:
    assert filled("It says: %q. Change %n.", line) == f"It says: {statement}. Change {name}."


def test_a_long_statement_is_cut() -> None:
    assert len(filled("%q", "x " * 1000)) < 210
