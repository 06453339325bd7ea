# SPDX-License-Identifier: Apache-2.0
"""Explanations of every code of CANN and of what surrounds it: meaning, causes, next step.

Each TOML file beside this module is a group of codes: its ``title``, its ``codes``, and under
``texts`` what several of them share; ``shared.toml`` has the texts that several files share.
``{name}`` in a text is replaced by one of these; a brace itself is written twice, but in a pattern
once, where it counts repetitions. `STATUS` is keyed by the names in CANN's headers;
`pyaclnn.cann.status` joins these with their numbers. Codes with one sentence and one step are lines
of tables with tabs; the folder ``lines`` has texts without a code.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.facts.explanations.explanation import (
    DriverCode,
    Explanation,
    Line,
    Message,
    Wording,
    Writer,
)
from pyaclnn.facts.explanations.table import Table, Texts, lines_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CLUSTER",
    "DEVICE_MANAGEMENT",
    "DRIVER",
    "FAMILIES",
    "LINES",
    "STATUS",
    "TORCH_KINDS",
    "TORCH_MODULES",
    "WORDINGS",
    "WRITERS",
    "DriverCode",
    "Explanation",
    "Line",
    "Message",
    "Wording",
    "Writer",
    "internal_codes",
    "messages",
]


def _explanation(key: str, row: dict[str, Any]) -> tuple[str, Explanation]:
    return key, Explanation.of(row)


def _numbered(key: str, row: dict[str, Any]) -> tuple[int, Explanation]:
    return int(key), Explanation.of(row)


def _driver_code(key: str, row: dict[str, Any]) -> tuple[int, DriverCode]:
    return int(key), DriverCode(row.pop("name"), row.pop("becomes"), Explanation.of(row))


def _module(key: str, row: str) -> tuple[int, str]:
    return int(key), row


def _component(key: str, row: str) -> tuple[str, str]:
    return key, row


def _line(key: str, row: dict[str, Any]) -> tuple[str, Line]:
    pattern, kind, outer = re.compile(row.pop("pattern")), row.pop("kind"), row.pop("outer", None)
    return key, Line(pattern, kind, outer, Explanation.of(row))


def _wording(key: str, row: dict[str, str]) -> tuple[str, Wording]:
    return key, Wording(re.compile(row["pattern"]), row["text"])


def _writer(key: str, row: dict[str, Any]) -> tuple[str, Writer]:
    return key, Writer(re.compile(row["pattern"]), frozenset(row["kinds"]))


STATUS: Final = Table("status/*.toml", _explanation)
"""Status codes of the C interface by name; a group a file."""
DRIVER: Final = Table("driver.toml", _driver_code)
"""Codes of the driver that the runtime makes others of, by number."""
DEVICE_MANAGEMENT: Final = Table("device_management.toml", _numbered)
"""Codes of the device management interface by number."""
FAMILIES: Final = Table("families.toml", _component)
"""Components by the beginnings of their messages' codes; the longest that fits counts."""
LINES: Final = Texts("lines/*.toml", _line)
"""Texts without a code by an id; the first that fits a line counts."""
WORDINGS: Final = Texts("wordings.toml", _wording)
"""Patterns of what is said in several ways, by an id, each with the usual words for it."""
WRITERS: Final = Texts("writers.toml", _writer)
"""Patterns of lines that one writer prints, by an id, each with the kinds of texts in them."""
CLUSTER: Final = Table("cluster.toml", _explanation)
"""Findings about a cluster by their ids."""
TORCH_KINDS: Final = Table("torch_kinds.toml", _numbered)
"""Kinds of errors of torch_npu: the last three digits after ``ERR``."""
TORCH_MODULES: Final = Table("torch_modules.toml", _module)
"""Origins of errors of torch_npu: the first two digits after ``ERR``."""


@functools.cache
def messages() -> Mapping[str, Message]:
    """Return the codes of CANN's messages (``EE1001``), of HCCL (``HCCL 7``) and of the driver."""
    found = {}
    for code, name, component, whose, meaning, step, *status in lines_of("codes.tsv"):
        numbers = tuple(int(number) for number in " ".join(status).split())
        found[code] = Message(code, name, component, whose, meaning, step, numbers)
    return found


@functools.cache
def internal_codes() -> Mapping[int, tuple[str, int]]:
    """Return name and status code of the runtime's internal numbers (``retCode=0x7020011``)."""
    return {
        int(number, 16): (name, int(code)) for number, name, code in lines_of("internal_codes.tsv")
    }
