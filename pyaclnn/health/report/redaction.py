# SPDX-License-Identifier: Apache-2.0
"""Redaction of a report: removal of private data.

Lists name everything that may stay: the variables, the facts about the host, the roots of paths and
the names of folders. From texts, whose form nobody guarantees, names, secrets and addresses are
removed as well.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.facts.variables import PUBLIC
from pyaclnn.health.report.record import Report
from pyaclnn.health.report.secrets import HIDDEN, TOO_SHORT, without_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["names_of_this_machine", "redact"]

_PATHS: Final = frozenset({"ASCEND_CUSTOM_OPP_PATH", "LD_LIBRARY_PATH"})
"""Lists of paths; of the other variables, those whose name does not end so are short words."""

_LONGEST_WORD: Final = 16
_PUBLIC_FACTS: Final = ("os", "kernel", "machine", "python", "cpu_count", "in_container")
_NOBODY: Final = frozenset({"root", "user", "localhost", "HwHiAiUser", "nobody"})


def names_of_this_machine() -> frozenset[str]:
    """Return the names of the user and of the machine that must not appear in a bundle."""
    names = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER", "HOSTNAME")}
    with contextlib.suppress(KeyError, OSError):  # a user that no database knows
        names.add(getpass.getuser())
    names.add(os.path.basename(os.path.expanduser("~")))  # noqa: PTH111, PTH119  # never raises
    names |= {socket.gethostname(), socket.gethostname().partition(".")[0]}
    return frozenset(names)


def redact(report: Report, number: int, names: Iterable[str]) -> Report:
    """Return a report without user names, machine names, private paths, addresses and secrets.

    Args:
        report: The report of one machine.
        number: The number by which the machine goes instead of its name.
        names: Names that must not appear, such as those of the user and of the machine.
    """
    environment = report.environment.items()
    # A check quotes a variable that makes no sense.
    unfit = {value for name, value in environment if _variable(name, value) == HIDDEN}
    hidden = {*names, *unfit, str(report.host.get("name", ""))} - _NOBODY
    words = sorted((name for name in hidden if len(name) >= TOO_SHORT), key=len, reverse=True)
    forbidden = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words) or "(?!)")
    data = report.to_json()
    facts = {name: data["host"][name] for name in _PUBLIC_FACTS if name in data["host"]}
    data["environment"] = {
        name: _variable(name, value)
        for name, value in data["environment"].items()
        if name in PUBLIC
    }
    data = _changed(data, lambda text: _text(text, forbidden))
    data["host"] = {
        "name": f"machine {number}",
        **_changed(facts, lambda text: _text(text, forbidden)),
    }
    return Report.from_json(data)


def _variable(name: str, value: str) -> str:
    """Return the part of a variable that has the form that CANN expects."""
    if name in _PATHS:
        entries = re.split("([: ])", value)
        return "".join(e if e in {"", ":", " "} or e[0] in "/~" else HIDDEN for e in entries)
    if name.endswith(("_PATH", "_HOME", "_BACKEND")):
        return value
    return value if re.fullmatch(r"[\w,. -]*", value) and len(value) <= _LONGEST_WORD else HIDDEN


def _text(text: str, forbidden: re.Pattern[str]) -> str:
    return forbidden.sub(HIDDEN, without_private(text))


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON's own types with every text changed, those that are keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _changed(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    return value
