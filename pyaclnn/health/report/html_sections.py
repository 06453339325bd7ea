# SPDX-License-Identifier: Apache-2.0
"""The parts of a report's page about one machine."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Final

from pyaclnn.health.report.figure import Severity
from pyaclnn.health.report.figures_text import figures_by_device
from pyaclnn.health.report.record import Status
from pyaclnn.health.report.verdict import (
    BROKEN,
    GOOD,
    SIMULATED,
    UNCLEAR,
    problems,
    tally,
    wrong_outputs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.report.record import CheckResult, Evidence, Report
    from pyaclnn.health.report.verdict import Verdict

__all__ = [
    "badge",
    "banner",
    "checks_section",
    "environment_section",
    "figures_section",
    "paragraph",
    "problem_card",
    "problems_section",
    "seconds",
    "story_of",
    "verdict_section",
]

_SIGNS: Final = {GOOD: "✓", BROKEN: "✕", UNCLEAR: "?", SIMULATED: "~"}
_MOMENT: Final = 5e-5
_DASH: Final = "\u2013"
_QUIET: Final = frozenset({Status.SKIP, Status.NOT_RUN})
_CALM: Final = frozenset({Status.PASS, Status.SKIP, Status.NOT_RUN})


def badge(status: Status) -> str:
    """Return a status as a coloured word."""
    return f'<span class="badge s-{status.value.lower()}">{status.value.replace("_", " ")}</span>'


def seconds(value: float) -> str:
    """Return a duration in words; nothing for less than a moment."""
    if math.isnan(value):
        return _DASH
    if value < _MOMENT:
        return ""
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"


def banner(chip: str | None) -> str:
    """Return the strip that says that nothing here is about hardware."""
    return (
        '<div class="simulated">SIMULATED NPU — not a chip. '
        f"Everything below is about a simulated {escape(chip or 'NPU')}; "
        "it says nothing about this machine.</div>"
    )


def verdict_section(verdict: Verdict, results: Iterable[CheckResult]) -> str:
    """Return the verdict: a sentence, the next step, and how many checks ended how."""
    tone = "simulated-tone" if verdict.tone == SIMULATED else verdict.tone
    counts = "".join(
        f"<li>{badge(status)} {count}</li>" for status, count in tally(results).items()
    )
    return (
        f'<section class="card verdict {tone}"><div class="what">'
        f'<div class="sign" aria-hidden="true">{_SIGNS.get(verdict.tone, _DASH)}</div><div>'
        f"<h1>{escape(verdict.headline)}</h1>"
        f"{paragraph(verdict.detail)}</div></div>{_next(verdict.next_step)}"
        f'<ul class="tally">{counts}</ul></section>'
    )


def problems_section(results: Iterable[CheckResult]) -> str:
    """Return everything that went wrong, each with its evidence, causes and next step."""
    cards = "".join(problem_card(result, story_of(result)) for result in problems(results))
    return f"<h2>What is wrong</h2>{cards}" if cards else ""


def problem_card(result: CheckResult, story: str) -> str:
    """Return what went wrong with a check, as a card."""
    return (
        f'<article class="card problem{"" if result.status.broken else " mild"}">'
        f"<h3>{badge(result.status)} <span>{escape(result.title)}</span> "
        f'<span class="soft mono">{escape(result.id)}</span></h3>{story}</article>'
    )


def figures_section(report: Report) -> str:
    """Return the figures of a machine: a line for each, a column for each device."""
    figures = figures_by_device(report)
    if not figures:
        return ""
    devices = list(dict.fromkeys(device for row in figures.values() for device in row))
    heads = "".join(f'<th class="n">device {escape(device)}</th>' for device in devices)
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(unit)}</td>"
        + "".join(
            f'<td class="n">{row[device].value:.4g}</td>' if device in row else "<td></td>"
            for device in devices
        )
        + "</tr>"
        for (name, unit), row in figures.items()
    )
    whose = " of the simulation" if report.simulated else ""
    return (
        f'<h2>Figures{whose}</h2><div class="card scroll"><table><thead><tr><th>figure</th>'
        f"<th>unit</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def environment_section(report: Report) -> str:
    """Return the host, the installation and the variables."""
    host = {str(key).replace("_", " "): _word(value) for key, value in report.host.items()}
    examined = {
        "backend": "simulated NPU" if report.simulated else report.backend,
        "chip": report.soc_name or _DASH,
        "CANN": report.cann_version or _DASH,
        "libraries": report.directory or _DASH,
        "level": report.level,
        "pyaclnn": report.version,
    }
    variables = report.environment or {"": "none of the variables that matter is set"}
    return (
        '<h2>Environment</h2><div class="two">'
        f'<div class="card">{_facts(examined)}</div><div class="card">{_facts(host)}</div>'
        f'<div class="card wide">{_facts(variables, mono=True)}</div></div>'
    )


def checks_section(results: Sequence[CheckResult], heading: str = "Every check") -> str:
    """Return checks by category; each opens to show what it rests on."""
    longest = max((r.seconds for r in results), default=0.0)
    categories: dict[str, list[CheckResult]] = {}
    for result in results:
        categories.setdefault(result.category, []).append(result)
    groups = []
    for category, members in categories.items():
        calm = all(r.status in _CALM for r in members)
        rows = "".join(_check(result, longest) for result in members)
        groups.append(
            f'<section class="card group{" calm" if calm else ""}"><h3>{escape(category)}</h3>'
            f"{rows}</section>"
        )
    return (
        f'<div class="headed"><h2>{heading}</h2><div class="filter">'
        '<button type="button" data-only="all" aria-pressed="true">All</button>'
        '<button type="button" data-only="problems" aria-pressed="false">Problems</button>'
        f'</div></div><div class="checks">{"".join(groups)}</div>'
    )


def _check(result: CheckResult, longest: float) -> str:
    calm = " calm" if result.status in _CALM else ""
    calm += " quiet" if result.status in _QUIET else ""
    bar = (
        f'<i style="width:{max(100 * result.seconds / longest, 1):.0f}%"></i>'
        if result.seconds >= _MOMENT
        else ""
    )
    inner = story_of(result, summary=False) or '<p class="soft small">Nothing more to tell.</p>'
    return (
        f'<details class="check{calm}"><summary>{badge(result.status)}'
        f'<span class="mono soft">{escape(result.id)}</span>'
        f'<span class="name">{escape(result.title)}<span class="say">{escape(result.summary)}'
        f'</span></span><span class="time">{seconds(result.seconds)}{bar}</span></summary>'
        f'<div class="inner">{inner}</div></details>'
    )


def story_of(result: CheckResult, *, summary: bool = True) -> str:
    """Return all that a result rests on."""
    parts = [paragraph(result.summary)] if summary else []
    if result.code is not None:
        name = f" {escape(result.code_name)}" if result.code_name else ""
        parts.append(f'<p class="mono">{escape(str(result.code))}{name}</p>')
    if result.severity is not Severity.NONE:
        parts.append(f'<p class="mono">severity {result.severity.value}</p>')
    if result.causes:
        causes = "".join(f"<li>{escape(cause)}</li>" for cause in result.causes)
        parts.append(f'<div class="cap">Likely causes</div><ol>{causes}</ol>')
    parts.append(_next(result.next_step))
    if result.evidence:
        parts.append('<div class="cap">Evidence</div>' + "".join(map(_evidence, result.evidence)))
    lines = "\n".join(wrong_outputs(result))
    if lines:
        parts.append(f'<div class="cap">Outputs that failed</div><pre>{escape(lines)}</pre>')
    return "".join(parts)


def _evidence(evidence: Evidence) -> str:
    kind = f'<span class="soft small">{escape(evidence.kind)}</span>'
    return (
        f"<div>{kind} <code>{escape(evidence.label)}</code><pre>{escape(evidence.text)}</pre></div>"
    )


def _next(step: str | None) -> str:
    return f'<div class="next"><b>Next</b><span>{escape(step)}</span></div>' if step else ""


def paragraph(text: str) -> str:
    """Return a text as a paragraph; nothing if there is none."""
    return f"<p>{escape(text)}</p>" if text else ""


def _facts(facts: dict[str, str], *, mono: bool = False) -> str:
    kind = ' class="mono"' if mono else ""
    rows = "".join(
        f"<dt{kind}>{escape(name)}</dt><dd{kind}>{escape(value)}</dd>"
        for name, value in facts.items()
    )
    return f"<dl>{rows}</dl>"


def _word(value: str | int | bool) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
