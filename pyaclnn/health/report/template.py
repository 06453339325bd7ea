# SPDX-License-Identifier: Apache-2.0
"""Jinja2 environment of the report's templates, which escapes every text."""

from __future__ import annotations

import functools
import re
from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Final

from rich.text import Text

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["DASH", "MARKS", "draw", "environment", "styled"]

DASH: Final = "\u2013"
_MOMENT: Final = 5e-5
MARKS: Final = {"~": "\x01", "=": "\x02"}
"""Marks at the beginnings of lines of ``report.txt``, and what stands for them."""
_MARK: Final = re.compile("(?m)^[~=]")
_SPECIAL: Final = "\\[~="
"""Characters with a meaning in Rich's markup or in the template; values have others meanwhile."""
_STAND_INS: Final = "\x03\x04\x05\x06"
_HIDDEN: Final = str.maketrans(_SPECIAL, _STAND_INS, f"{_STAND_INS}\x01\x02")
_SHOWN: Final = str.maketrans(_STAND_INS, _SPECIAL)


@functools.cache
def environment(*, markup: bool = False) -> Environment:
    """Return the environment.

    Args:
        markup: True if texts are escaped for Rich's markup, instead of for HTML.
    """
    import jinja2  # noqa: PLC0415  # most commands make no report

    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=True,
        finalize=_in_markup if markup else None,
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


def _in_markup(value: object) -> object:
    from jinja2.filters import do_mark_safe  # noqa: PLC0415  # as above

    is_macro = hasattr(value, "__html__")
    return value if is_macro else do_mark_safe(str(value).expandtabs().translate(_HIDDEN))


def styled(text: str) -> Text:
    """Return a text of ``report.txt`` with its styles, and `MARKS` at its lines.

    Args:
        text: The rendered template.
    """
    found = Text.from_markup(_MARK.sub(lambda mark: MARKS[mark[0]], text), emoji=False)
    found.plain = found.plain.translate(_SHOWN)
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
