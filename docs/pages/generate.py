# SPDX-License-Identifier: Apache-2.0
"""The pages that nobody writes: of the package, and of documents at the top of the tree.

A hook of mkdocs. Public names, the commands, variables, rules, codes, chips and operators are
asked of the package itself.
"""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))

import documents
import facts
import interfaces

from pyaclnn.facts.operators import all_operators

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

__all__ = ["on_config", "on_files", "on_page_content", "on_post_build", "on_post_template"]

INLINE = re.compile(r"(?<!<span></span>)<code>([^<]*)</code>")
OPTION = re.compile(r"(?<!\S)--?\w[\w-]*|-&gt;")

CHINESE = re.compile("[\u4e00-\u9fff]")
OPERATORS = "reference/operators.html#pyaclnn."

REFERENCE = {
    "Operators": ("operators", facts.operators),
    "All operators of CANN": ("catalogue", facts.catalogued),
    "Functions of C": ("functions", facts.functions),
    "Commands": ("commands", facts.commands),
    "Environment variables": ("variables", facts.variables),
    "Rules of the contract": ("rules", facts.rules),
    "Status codes": ("codes", facts.codes),
    **{name: (name, page) for name, page in interfaces.pages().items()},
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the reference where the navigation has its name."""
    pages = [{title: f"reference/{name}.md"} for title, (name, _) in REFERENCE.items()]
    config.nav = [{"Reference": pages} if part == "Reference" else part for part in config.nav]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to those that are written."""
    written = {f"reference/{name}.md": "".join(page()) for name, page in REFERENCE.values()}
    for name, text in {**written, **documents.pages()}.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_content(html: str, **_: object) -> str:
    """Keep options and arrows in one piece: browsers break lines at any dash."""
    option = partial(OPTION.sub, r'<span class="option">\g<0></span>')
    return INLINE.sub(lambda code: f"<code>{option(code[1])}</code>", html)


def on_post_template(output: str, *, template_name: str, config: MkDocsConfig) -> str:
    """Leave out the page of missing pages while no address of the site is known.

    It is shown under any address, so that without that one it would find neither styles nor pages.
    """
    return output if config.site_url or template_name != "404.html" else ""


def on_post_build(config: MkDocsConfig) -> None:
    """Have the search find the shortest name first, and Chinese, which has no spaces.

    A rare word counts more than a common one, so that ``layer_norm`` would find
    ``layer_norm_quant`` first.
    """
    for path in Path(config.site_dir, "search").glob("search_index.*"):
        text = path.read_text(encoding="utf-8")
        start = text.index("{")
        index, end = json.JSONDecoder().raw_decode(text, start)
        for section in index["docs"]:
            for name in ("title", "text"):
                section[name] = CHINESE.sub("\\g<0>\u200b", section[name])
            if section["location"].startswith(OPERATORS):
                section["boost"] = _boost(section["location"].removeprefix(OPERATORS))
        made = json.dumps(index, sort_keys=True, separators=(",", ":"))
        path.write_text(f"{text[:start]}{made}{text[end:]}", encoding="utf-8")


def _boost(name: str) -> float:
    """Return how much more an operator counts: four times those that begin with its name."""
    longer = (other for other in all_operators() if other.startswith(f"{name}_"))
    return 4 * max(map(_boost, longer), default=1.0)
