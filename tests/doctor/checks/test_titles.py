# SPDX-License-Identifier: Apache-2.0
"""A title names what a check is about: a result of any kind can stand behind it."""

from __future__ import annotations

import re

from pyaclnn.health.checks.catalogue import checks

VERBS = re.compile(
    r"\b(is|are|was|were|has|have|exists?|agrees?|fits?|loads|opens|ends|works|initiali[sz]es|"
    r"counted|sourced|complete)\b"
)


def test_a_title_asserts_nothing() -> None:
    assert [check.title for check in checks() if VERBS.search(check.title)] == []


def test_an_assertion_would_be_seen() -> None:
    assert VERBS.search("the process ends")
    assert VERBS.search("CANN is installed")
