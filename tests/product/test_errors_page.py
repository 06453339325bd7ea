# SPDX-License-Identifier: Apache-2.0
"""The page of errors shows messages that its code raises."""

from __future__ import annotations

import json
import re
import sys

import pytest

from .commands import run, silent_environment
from .pages import PAGES

PAGE = PAGES["docs/how-to/errors.md"]
SECTION = re.compile(
    r'^```py\n(?P<code>.*?)^```\n(?:\n^```text title="(?P<kind>\w+)"\n(?P<message>.*?)^```)?',
    re.MULTILINE | re.DOTALL,
)
RUNNER = """
import json, sys
found, names = [], {}
for code in json.loads(sys.argv[1]):
    try:
        exec(code, names)
    except Exception as error:
        found.append([type(error).__name__, str(error)])
    else:
        found.append(["", ""])
print(json.dumps(found))
"""
"""Program that runs pieces of code one after the other, and prints the errors they raise."""


def errors(page: str) -> list[tuple[str, str, str, str]]:
    """Return the shown and the raised kind and message of each section of a page."""
    sections = [*SECTION.finditer(page)]
    codes = json.dumps([section["code"] for section in sections])
    done = run(sys.executable, "-c", RUNNER, codes, environment=silent_environment())
    assert done.returncode == 0, done.stderr
    shown = [(section["kind"] or "", section["message"] or "") for section in sections]
    raised = json.loads(done.stdout)
    return [(*one, *other) for one, other in zip(shown, raised, strict=True)]


def agrees(shown: str, raised: str) -> bool:
    """Compare a message with the shown one, where ``...`` is any text."""
    parts = [re.escape(part.rstrip("\n")) for part in shown.rstrip("\n").split("...")]
    return re.fullmatch(".*?".join(parts), raised, re.DOTALL) is not None


def test_each_message_is_the_one_that_the_code_raises() -> None:
    found = errors(PAGE)
    assert sum(bool(kind) for kind, *_ in found) > 15
    wrong = [one for one in found if one[0] != one[2] or not agrees(one[1], one[3])]
    assert wrong == []


def test_each_question_has_code_a_message_and_a_remedy() -> None:
    for section in PAGE.split("\n## ")[1:]:
        text = section.partition("The examples below")[0]
        assert text.count("```") == 4, section
        assert len(text.rpartition("```")[2].split()) > 8, section


@pytest.mark.parametrize(("message", "same"), [("is of ...", True), ("is as", False)])
def test_another_message_is_noticed(message: str, same: bool) -> None:
    page = (
        f'```py\nraise ValueError("is of 5")\n```\n\n```text title="ValueError"\n{message}\n```\n'
    )
    [(shown, text, kind, raised)] = errors(page)
    assert (shown, kind) == ("ValueError", "ValueError")
    assert agrees(text, raised) is same
