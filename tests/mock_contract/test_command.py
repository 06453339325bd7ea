# SPDX-License-Identifier: Apache-2.0
"""`pyaclnn mock rules` and `pyaclnn mock faults`."""

from __future__ import annotations

import argparse

import pytest

from pyaclnn.cli import add_to
from pyaclnn.mock.contract import RULES, Rule


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers(required=True), "mock")
    options = parser.parse_args(["mock", *arguments])
    return int(options.action(options))


def test_every_rule_is_listed_with_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in RULES]
    assert all(rule.title in line for rule, line in zip(RULES, lines, strict=True))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_explained_in_full(rule: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules", "--explain", rule.id) == 0
    text = capsys.readouterr().out
    for line in (*rule.wrong.splitlines(), *rule.right.splitlines()):
        assert f"    {line}\n" in text
    assert "what they do not declare is its own: a stream, tensors x, g" in " ".join(text.split())
    assert rule.source in text
    assert " ".join(rule.explanation.split()) in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100


def test_a_rule_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules", "--explain", "no-such-rule") == 2
    assert "there is no rule 'no-such-rule'" in capsys.readouterr().err


def test_a_mistyped_rule_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules", "--explain", "handle-unknwn") == 2
    assert "did you mean 'handle-unknown'?" in capsys.readouterr().err
    assert run("rules", "--explain", "Handle-Unknown") == 0


def test_the_grammar_of_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("faults") == 0
    text = capsys.readouterr().out
    for word in ("after:", "async:", "hang", "wrong", "lost", "memory=", "seed=", "*3", "3+"):
        assert word in text
