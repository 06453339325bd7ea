# SPDX-License-Identifier: Apache-2.0
"""The site is not built where a link leads nowhere, by the settings that it is built with."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from .commands import ROOT, run, script
from .pages import blocks

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("mkdocs", reason="the tools of the documentation are not installed")

INDEX = ROOT / "build/site/search/search_index.json"
"""The index of the site that was built last."""
OPERATORS = "reference/operators.html#pyaclnn."
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
KEPT = ("strict", "validation", "use_directory_urls", "markdown_extensions")
PAGE = "# Title\n\n## Part\n\n[there](other.md#there), [here](#part)\n"
OTHER = "# Other\n\n## There\n"


def build(folder: Path, page: str) -> tuple[int, str]:
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(page, encoding="utf-8")
    (folder / "docs" / "other.md").write_text(OTHER, encoding="utf-8")
    settings = {"site_name": "it", "plugins": [], **{name: SETTINGS[name] for name in KEPT}}
    settings["nav"] = ["index.md", "other.md"]
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    done = run(sys.executable, "-m", "mkdocs", "build", cwd=folder)
    return done.returncode, done.stderr


def test_links_that_lead_somewhere_pass(tmp_path: Path) -> None:
    status, said = build(tmp_path, PAGE)
    assert status == 0, said


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("[a page](nowhere.md)", "'nowhere.md', but the target is not found"),
        ("[a heading](other.md#nowhere)", "'#nowhere'"),
        ("[a heading of its own](#nowhere)", "'#nowhere'"),
        ("[a folder](/somewhere)", "an absolute link '/somewhere'"),
        ("![a picture](nowhere.svg)", "'nowhere.svg', but the target is not found"),
    ],
)
def test_a_link_that_leads_nowhere_fails(link: str, told: str, tmp_path: Path) -> None:
    status, said = build(tmp_path, f"{PAGE}\n{link}\n")
    assert status == 1
    assert told in said
    assert said.count("WARNING") == 1


def test_what_the_programs_of_rules_call_is_of_c_or_stands_on_their_page() -> None:
    page = "".join(script(ROOT / "docs/pages/facts.py").rules())
    *programs, header = blocks(page, "c")
    called = set(re.findall(r"\b(?!acl|Hccl)(\w+)\(", " ".join(programs)))
    declared = set(re.findall(r"^static .*?(\w+)\(", header, re.MULTILINE))
    assert {"stage_close", "collective_open", "phase_1"} <= called
    assert called - declared <= {"memset", "getpid"}


# ---- the search ---------------------------------------------------------------------------------


def search(*, boosted: bool) -> Any:
    """Return an index of the site that was built, as the theme makes it, with or without boosts."""
    builder = pytest.importorskip("lunr.builder", reason="the tools of the site are not installed")
    if not INDEX.is_file():
        pytest.skip("the site was not built")
    index = json.loads(INDEX.read_text(encoding="utf-8"))
    made = builder.Builder()
    made.ref("location")
    for name in ("title", "text"):
        made.field(name, boost=index["config"]["fields"][name]["boost"])
    for section in index["docs"]:
        words = {name: re.sub("<.*?>", " ", section[name]) for name in ("title", "text")}
        boost = section.get("boost", 1.0) if boosted else 1.0
        made.add({"location": section["location"], **words}, {"boost": boost})
    return made.build()


def operators_found(index: Any, word: str) -> list[str]:
    """Search any word with this beginning, as the theme does; return operators, best first."""
    places = [result["ref"] for result in index.search(f"{word}*")]
    return [p.removeprefix(OPERATORS) for p in places if p.startswith(OPERATORS)]


def test_the_search_finds_an_operator_before_those_that_begin_with_its_name() -> None:
    index = search(boosted=True)
    for name in ("layer_norm", "rms_norm", "batch_norm", "group_norm", "add_rms_norm_quant"):
        first, *others = operators_found(index, name)
        assert first == name
        assert any(other.startswith(f"{name}_") for other in others)


def test_without_its_boost_it_would_not_be_found_first() -> None:
    assert operators_found(search(boosted=False), "layer_norm")[0] != "layer_norm"
