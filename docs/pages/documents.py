# SPDX-License-Identifier: Apache-2.0
"""Documents at the top of the tree, and the examples, as pages of the site."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["pages"]

ROOT = Path(__file__).parents[2]
EXAMPLES = "start/examples.md"
PLACES = {
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CHANGELOG.md": "explanation/changes.md",
    "CONTRIBUTING.md": "how-to/contributing.md",
    "README.zh.md": "zh/index.md",
    "SECURITY.md": "explanation/security.md",
    "examples/": EXAMPLES,
}
"""Where links into the tree lead on the site."""
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
_END = "\x1e"
"""Between what two cells print."""
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def pages() -> Mapping[str, str]:
    """Return what is shown, by the name of the page."""
    whole = {
        place: _moved((ROOT / name).read_text(encoding="utf-8"), place)
        for name, place in PLACES.items()
        if name.endswith(".md")
    }
    notebooks = {f"start/{path.stem}.md": _notebook(path) for path in NOTEBOOKS}
    return {**whole, **notebooks, EXAMPLES: _examples()}


def _moved(text: str, page: str) -> str:
    """Have links lead to where their targets are on the site, for a page that was moved."""

    def link(match: re.Match[str]) -> str:
        target = match[1]
        place = PLACES.get(target) or (EXAMPLES if target.startswith("examples/") else None)
        if target.startswith("docs/"):
            place = target.removeprefix("docs/")
        if place is None:
            return match[0]  # mkdocs says what is wrong with it
        return f"]({os.path.relpath(place, Path(page).parent)}"

    return LINK.sub(link, text)


def _notebook(path: Path) -> str:
    """A notebook as a page: its text, its cells of code, and what each of these prints."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    printed = iter(_printed(code))
    parts = []
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            said = next(printed)
            text = f"```python\n{text}\n```"
            text += f'\n\n```text title="Output"\n{said}```' if said else ""
        parts.append(text)
    told = f"*This page is a notebook: `examples/notebooks/{path.name}` in the source tree.*"
    return "\n\n".join([parts[0], told, *parts[1:]])


def _printed(code: list[str]) -> list[str]:
    """Return the output of each of several pieces of code that run in sequence."""
    end = f"\nprint({_END!r}, end='')\n"
    done = subprocess.run(  # noqa: S603  # the project's own
        [sys.executable, "-c", end.join(code)],
        cwd=NOTEBOOKS[0].parent,  # the package is the installed one, not that of the source tree
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.split(_END)


def _examples() -> str:
    parts = ["# Examples\n\nEach is run by the tests.\n\n"]
    for path in sorted((ROOT / "examples").glob("[0-9]*")):
        language = {".py": "py", ".cpp": "cpp"}[path.suffix]
        parts.append(f"## {path.stem[3:].replace('_', ' ').capitalize()}\n\n")
        text = path.read_text(encoding="utf-8").partition("\n")[2].strip()
        parts.append(f'```{language} title="examples/{path.name}"\n{text}\n```\n\n')
    return "".join(parts)
