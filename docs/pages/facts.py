# SPDX-License-Identifier: Apache-2.0
"""Pages of what is known: operators, C functions, commands, variables, rules, status codes."""

from __future__ import annotations

import argparse
import inspect
import os
import re
import textwrap
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import griffe

import pyaclnn
from pyaclnn import cli
from pyaclnn.cann import raw
from pyaclnn.cann.signatures import signatures
from pyaclnn.cann.status import code_named, names
from pyaclnn.facts.chips import FAMILIES, all_chips
from pyaclnn.facts.explanations import STATUS
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.types import TYPES
from pyaclnn.facts.releases import DEFAULT, NEWEST
from pyaclnn.facts.variables import VARIABLES
from pyaclnn.health.installed.listing import category_of, declared_operators, in_one_line
from pyaclnn.mock import contract
from pyaclnn.mock.contract import RULES
from pyaclnn.mock.control.functions import functions as exported
from pyaclnn.mock.operators.graph_table import graph_expressions
from pyaclnn.reference import implementation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyaclnn.facts.explanations import Explanation
    from pyaclnn.facts.operators import Operator
    from pyaclnn.mock.contract import Rule

__all__ = ["catalogued", "codes", "commands", "functions", "operators", "rules", "variables"]

STAR = re.compile(r"(`+[^`]*`+)|\*")
"""A star that is no markup: one beside what is code."""

STAGE = Path(__file__).parents[2] / "tests/mock_contract/c/stage.h"
"""Common header of the rules' programs."""

# As wide as a help text is shown, without colours, wherever the site is built; and of the release
# that has all functions.
os.environ |= {"COLUMNS": "92", "NO_COLOR": "1", "PYACLNN_MOCK_CANN": NEWEST}


def operators() -> Iterator[str]:
    """Which operators there are, on which chips with which types; then each with its arguments."""
    yield "# Operators\n\n"
    yield (
        "Types of the first array on each family of chips; a dash where CANN has no kernels. "
        "The types of the others follow from it; each operator lists them. The column CANN has the "
        "first release that is known to have it.\n\n"
    )
    families = {chip.family: chip.product for chip in all_chips()}
    yield from _table(
        ["operator", "CANN", *families.values()],
        (
            [
                f"[`{name}`](#pyaclnn.{name})",
                min(catalogue()[operator.c_name].releases),
                *(_leading(operator, family) for family in families),
            ]
            for name, operator in all_operators().items()
        ),
    )
    yield "## Chips\n\nAny of these can be simulated, by its name in `PYACLNN_MOCK_SOC`, "
    yield "with a release of CANN that knows it in `PYACLNN_MOCK_CANN`.\n\n"
    yield from _table(
        ["chip", "family", "CANN", "AI cores", "vector cores", "memory", "bfloat16"],
        (
            [
                f"`{chip.soc_name}`",
                chip.product,
                FAMILIES[chip.family].since or DEFAULT,
                str(chip.ai_cores),
                str(chip.vector_cores or "—"),
                f"{chip.memory_bytes >> 30} GiB",
                "yes" if chip.bfloat16 else "—",
            ]
            for chip in all_chips()
        ),
    )
    for name in all_operators():
        yield from _operator(name)


def _leading(operator: Operator, family: str) -> str:
    rows = operator.types.families.get(family)
    if rows is None:
        return "—"
    allowed = operator.types.allowed(operator.primary.type, {}, rows)
    return "<br>".join(TYPES[word].numpy for word in allowed)


def _operator(name: str) -> Iterator[str]:
    function = getattr(pyaclnn, name)
    yield f"## `{name}` {{ #pyaclnn.{name} }}\n\n"
    signature = f"{name}{inspect.signature(function)}"
    yield f"```py\n{textwrap.fill(signature, 76, subsequent_indent='    ')}\n```\n\n"
    for section in griffe.Docstring(inspect.getdoc(function) or "").parse("google", warnings=False):
        if section.kind is griffe.DocstringSectionKind.text:
            yield f"{section.value}\n\n"
            continue
        if section.kind is griffe.DocstringSectionKind.examples:
            session = "\n".join(text for _, text in section.value)
            yield f"**Example**\n\n```pycon\n{session}\n```\n\n"
            continue
        yield f"**{section.kind.value.capitalize()}**\n\n"
        for item in section.value:
            title = getattr(item, "name", "") or str(item.annotation)
            text = STAR.sub(lambda found: found[1] or r"\*", " ".join(item.description.split()))
            yield f"`{title}`\n:   {text}\n\n"


def catalogued() -> Iterator[str]:
    """Every operator of CANN by category: how it is called, and who computes it without an NPU."""
    declared = declared_operators(None)
    yield (
        f"# All operators of CANN\n\nThe {len(declared)} operators that are known, as functions of "
        "`pyaclnn.aclnn`, whose `dir` lists those of an installation. "
        "[Call any operator by name](../how-to/any-operator.md) describes how they are called. On "
        "the simulated NPU, *own* is a kernel that it has itself; any other can be "
        "[given one](../how-to/teach.md).\n\n"
    )
    groups: dict[str, list[list[str]]] = {}
    for name, signature in declared.items():
        entry = catalogue().get(name)
        releases = ", ".join(entry.releases) if entry else signature.since
        row = [
            f"`{name}`<br>`{in_one_line(name, signature)}`",
            releases,
            "own" if implementation(name) else "—",
        ]
        groups.setdefault(category_of(name), []).append(row)
    for category in sorted(groups, key=lambda category: (category == "others", category)):
        yield f"## {category[0].upper()}{category[1:]}\n\n"
        yield from _table(["in C, and in Python", "CANN", "simulated"], groups[category])
    yield (
        "## Single operators\n\nThe simulated NPU executes these by their names in graphs as well: "
        "torch-npu calls them by `aclopCompileAndExecute`, most on an Ascend 910A or 310P, and "
        "after `torch.npu.set_compile_mode(jit_compile=True)`. Any other is refused with 999001, "
        "and so is an attribute that a kernel does not heed.\n\n"
    )
    table = Path(__file__).with_name("torch_npu_operators.txt").read_text(encoding="utf-8")
    named = table.partition("\n")[2].split()
    absent = ", ".join(f"`{name}`" for name in named if name not in graph_expressions())
    yield f"torch-npu 2.13.0 names {len(named)} of them. These have no kernel: {absent}.\n\n"
    single = sorted(graph_expressions().items())
    rows = [[f"`{n}`", ", ".join(re.findall(r"aclnn\w+", r.text)) or "NumPy"] for n, r in single]
    yield from _table(["in graphs", "computed by"], rows)


def functions() -> Iterator[str]:
    """Every C function that is not a phase of an operator, and the constants."""
    yield (
        "# Functions of C\n\nThese and the two phases of [each operator](catalogue.md) are in "
        "[`pyaclnn.raw`](pyaclnn.raw.md). The column CANN has the first release that has "
        "it. A function that refuses on the simulated NPU can be linked, and returns 999001."
        "\n\n"
    )
    states = {function.name: function.state for function in exported()}
    groups: dict[str, list[list[str]]] = {}
    for name, known in sorted(signatures().items()):
        if known.library != "operators":
            line = f"`{name}`<br>`({', '.join(known.parameters)})`"
            groups.setdefault(known.header, []).append([line, known.since, states[name]])
    for header, rows in groups.items():
        yield f"## {header}\n\n"
        yield from _table(["function", "CANN", "simulated"], rows)
    yield "## Constants\n\n"
    constants = [name for name in dir(raw) if name.startswith("ACL")]
    yield from _table(["name", "value"], ([f"`{n}`", str(getattr(raw, n))] for n in constants))


def commands() -> Iterator[str]:
    """Yield the help of each command."""
    yield "# Commands\n\nThe `--help` of each.\n\n"
    yield from _command(cli.parser())


def _command(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## {parser.prog}\n\n```text\n{parser.format_help()}```\n\n"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part in action.choices.values():
                yield from _command(part)


def variables() -> Iterator[str]:
    """Every variable of the environment that is read."""
    yield "# Environment variables\n\n`pyaclnn env --variables` prints them too.\n\n"
    yield from _table(
        ["variable", "meaning"],
        ([f"`{name}`", meaning] for name, meaning in VARIABLES.items()),
    )


def rules() -> Iterator[str]:
    """Every rule of CANN's contract, with a wrong program and a right one."""
    yield f"# Rules of the contract\n\n{len(RULES)} rules to which the simulated NPU holds programs"
    yield (
        ", each with a program that breaks it and one that is right. What they use and do not "
        "declare, such as `stream`, `x`, `BYTES` or `phase_1()`, is in the [header that all of "
        "them include](#what-all-of-them-include), at the end of this page.\n\n"
    )
    for path in sorted(Path(contract.__file__).parent.glob("*.toml")):
        first, _, tables = path.read_text(encoding="utf-8").partition("\n")
        ids = re.findall(r"^\[([\w-]+)\]$", tables, re.MULTILINE)
        yield f"## {first.strip('# .')}\n\n"
        for rule in RULES:
            yield from _rule(rule) if rule.id in ids else ()
    yield "## What all of them include\n\nWith it each of them is compiled, run and judged by the "
    yield "tests: between `stage_open` and `stage_close`, unless it calls that itself.\n\n"
    header = STAGE.read_text(encoding="utf-8").partition("*/\n")[2]
    yield f'```c title="{STAGE.name}"\n{header}```\n'


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}\n\n**{rule.title[0].upper()}{rule.title[1:]}.** {rule.explanation}\n\n"
    yield f"Do this: {rule.fix}.\n\n"
    for title, program in (("Wrong", rule.wrong), ("Right", rule.right)):
        yield f'```c title="{title}"\n{program.strip()}\n```\n\n'
    yield f"Source: {rule.source}.\n\n"


def codes() -> Iterator[str]:
    """Every status code with its explanation."""
    yield (
        f"# Status codes\n\n{len(STATUS)} codes in words. `pyaclnn explain` knows, besides these, "
        "those of the driver, of collective communication, of torch-npu and of the loader, and "
        "lines of logs.\n\n"
    )
    numbers = {name: code for code, name in names().items()}
    for title, entries in STATUS.groups.items():
        yield f"## {title}\n\n"
        for name, entry in entries.items():
            yield from _code(numbers.get(name) or code_named(name), name, entry)


def _code(code: int, name: str, entry: Explanation) -> Iterator[str]:
    yield f"### {code} `{name}`\n\n{entry.meaning}\n\n"
    yield "Likely causes:\n\n" if entry.causes else ""
    yield from (f"{number}. {escape(cause)}\n" for number, cause in enumerate(entry.causes, 1))
    step = entry.next_step
    yield f"\nNext: {step[0].lower()}{step[1:]} In Python: [`{entry.exception.__name__}`]"
    yield f"[pyaclnn.{entry.exception.__name__}].\n\n"


def _table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n"
    yield from (f"| {' | '.join(row)} |\n" for row in rows)
    yield "\n"
