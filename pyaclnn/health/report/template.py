# SPDX-License-Identifier: Apache-2.0
"""Jinja2 environment of the report's templates, which escapes every text."""

from __future__ import annotations

import functools
from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["DASH", "draw", "environment"]

DASH: Final = "\u2013"
_MOMENT: Final = 5e-5


@functools.cache
def environment() -> Environment:
    """Return the environment; Jinja2 is imported only when a page is made."""
    import jinja2  # noqa: PLC0415  # most runs make no page

    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "digest": _digest,
        "px": "{:.1f}".format,
        "seconds": _seconds,
        "figure": lambda value: DASH if value is None else f"{value:.2e}",
        "percent": lambda value: DASH if value is None else f"{value:.2%}",
    }
    return found


def draw(chart: str, *args: object, **options: object) -> str:
    """Return inline SVG, which a page does not escape.

    Args:
        chart: A macro of ``chart.svg``.
        args: Its arguments.
        options: Its optional arguments.
    """
    drawn: str = getattr(environment().get_template("chart.svg").module, chart)(*args, **options)
    return drawn


def _source(name: str) -> str:
    return (resources.files("pyaclnn.health.report") / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    """Return the digest by which a content policy allows a script."""
    return b64encode(sha256(script.encode()).digest()).decode()


def _seconds(value: float | None) -> str:
    """Return a duration in words; empty for less than a moment."""
    if value is None:
        return DASH
    if value < _MOMENT:
        return ""
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"
