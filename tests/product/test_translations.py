# SPDX-License-Identifier: Apache-2.0
"""README and tour in Chinese are in step with the English ones: the same headings and code."""

from __future__ import annotations

import re

import pytest

from .commands import ROOT

TRANSLATED = {"README.md": "README.zh.md", "docs/start/tour.md": "docs/zh/tour.md"}
"""Pages, and the same pages in Chinese."""
CHINESE = re.compile("[\u4e00-\u9fff]")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def code(text: str) -> list[str]:
    """Return the blocks of code and the indented commands of a page, without comments."""
    parts = re.findall(r"^```(?s:(.*?))^```|^((?:    \S.*\n)+)", text, re.MULTILINE)
    lines = ["".join(one).splitlines() for one in parts]
    stripped = [[re.sub(r"(^|  +)\s*# .*$", "", line).rstrip() for line in one] for one in lines]
    return ["\n".join(filter(None, one)) for one in stripped]


def headings(text: str) -> list[str]:
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^(#+) ", plain, re.MULTILINE)


@pytest.mark.parametrize(("page", "translation"), TRANSLATED.items())
def test_the_code_is_that_of_the_english_page(page: str, translation: str) -> None:
    assert len(code(text_of(page))) > 8
    assert code(text_of(translation)) == code(text_of(page))


@pytest.mark.parametrize(("page", "translation"), TRANSLATED.items())
def test_the_parts_are_those_of_the_english_page(page: str, translation: str) -> None:
    assert headings(text_of(translation)) == headings(text_of(page))


@pytest.mark.parametrize("translation", TRANSLATED.values())
def test_each_paragraph_and_comment_is_translated(translation: str) -> None:
    text = text_of(translation)
    plain = re.sub(r"^```(?s:.*?)^```|^    .*$", "", text, flags=re.MULTILINE)
    paragraphs = [part for part in re.split(r"\n\s*\n", plain) if part.strip()]
    assert len(paragraphs) > 20
    own = {"# pyaclnn", "English: `README.md`"}
    assert [p for p in paragraphs if not CHINESE.search(p) and p.strip() not in own] == []
    comments = re.findall(
        r"(?:^|  ) *# (.*)$", "\n".join(re.findall(r"```.*?```", text, re.DOTALL))
    )
    assert [c for c in comments if not CHINESE.search(c) and c != "PyTorch"] == []


def test_other_code_is_noticed_and_another_comment_is_not() -> None:
    assert code("```sh\na  # one\n```\n") == code("```sh\na  # 一\n```\n")
    assert code("```sh\na\n```\n") != code("```sh\nb\n```\n")
    assert code("    pip install .   # x\n") == ["    pip install ."]
    assert code("    pip install .\n") != code("    pip install x\n")


def test_the_pages_name_each_other() -> None:
    assert "`README.zh.md`" in text_of("README.md")
    assert "(../zh/tour.md)" in text_of("docs/start/tour.md")
