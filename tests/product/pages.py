# SPDX-License-Identifier: Apache-2.0
"""The pages that are written by hand, and the code in them."""

from __future__ import annotations

import re

from .commands import ROOT

__all__ = ["PAGES", "SCRIPTS", "blocks", "languages", "outputs"]

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}


def blocks(text: str, language: str) -> list[str]:
    """The blocks of a page in one language, whatever their titles."""
    return re.findall(rf"^```{language}(?: [^\n]*)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def outputs(text: str) -> list[str]:
    """The lines that the Python of a page is said to print."""
    found = re.findall(r'^```text title="Output"\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    return "".join(found).splitlines()


def languages(text: str) -> set[str]:
    """The languages of a page's blocks."""
    return {*re.findall(r"^```(\S+)", text, re.MULTILINE)}


SCRIPTS = {name: "\n".join(blocks(text, "python")) for name, text in PAGES.items()}
"""The Python of each page, which is one script."""
