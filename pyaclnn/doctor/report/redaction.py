# SPDX-License-Identifier: Apache-2.0
"""Taking out of a report what is nobody else's business.

What stays is chosen by lists of what may stay: the variables, the facts about the host, the roots
of paths and the names of folders. Of texts, whose form nobody guarantees, what looks like a name, a
secret or an address is taken out as well.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
from typing import TYPE_CHECKING, Final

from pyaclnn.doctor.report.clean import each_text
from pyaclnn.doctor.report.record import Report

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["PUBLIC_VARIABLES", "names_of_this_machine", "redact"]

PUBLIC_VARIABLES: Final = frozenset(
    {
        "ACLNN_CACHE_LIMIT",
        "ASCEND_AICPU_PATH",
        "ASCEND_CUSTOM_OPP_PATH",
        "ASCEND_GLOBAL_LOG_LEVEL",
        "ASCEND_HOME_PATH",
        "ASCEND_LAUNCH_BLOCKING",
        "ASCEND_OPP_PATH",
        "ASCEND_PROCESS_LOG_PATH",
        "ASCEND_RT_VISIBLE_DEVICES",
        "ASCEND_SLOG_PRINT_TO_STDOUT",
        "ASCEND_TOOLKIT_HOME",
        "ASCEND_VISIBLE_DEVICES",
        "ASCEND_WORK_PATH",
        "DISABLE_L2_CACHE",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "PYACLNN_BACKEND",
        "PYACLNN_MOCK_DEVICES",
        "PYACLNN_MOCK_PYTHON",
        "PYACLNN_MOCK_SOC",
        "PYTHONPATH",
        "TOOLCHAIN_HOME",
    }
)
"""The variables that a bundle may contain."""

_PUBLIC_FACTS: Final = ("os", "kernel", "machine", "python", "cpu_count", "in_container")

_PUBLIC_ROOTS: Final = ("usr", "opt", "etc", "dev", "proc", "sys", "lib", "lib64", "bin", "sbin")

_PUBLIC_FOLDER: Final = re.compile(
    r"(?:Ascend|ascend\w*|cann|cann-[\w.]+|CANN-[\w.]+|latest|\d+\.\d+[\w.]*|opp|lib|lib64|devlib|"
    r"stub|driver|firmware|common|runtime|compiler|toolkit|share|info|vendors|built-in|op_impl|"
    r"op_api|ai_core|tbe|kernel|config|include|aclnnop|site-packages|pyaclnn|mock_libs|libs|bin|"
    r"python3?(?:\.\d+)?|linux|(?:aarch64|x86_64)(?:-linux)?|log|debug|plog|"
    r"[\w.+-]+\.(?:so(?:\.[\w.]+)?|py|pyc|h|json|info|cfg|ini|log|sh|o))"
)

_HIDDEN: Final = "<private>"
_PLACE: Final = re.compile(
    r"(?P<scheme>[A-Za-z][\w+.-]*)://(?P<host>[^/\s:\"'<>]*)[^\s\"'<>]*"
    r"|(?<![\w./>~])~?/[^\s:,;'\"()<>|=]+"
)
_PUBLIC_HOST: Final = re.compile(
    r"(?:[\w-]+\.)*(?:hiascend\.com|huawei\.com|gitee\.com|gitcode\.com|github\.com|python\.org)"
)
_SECRET: Final = re.compile(
    r"(?i)([\w-]*(?:passw(?:or)?d|passwd|secret|token|api[_-]?key|access[_-]?key|credential)"
    r"[\w-]*)(\s*[=:]\s*|(?<=\w)\s+(?=\S*[\d_]\S*(?:\s|$)))(\S+)"
)
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}")
_ADDRESS: Final = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)"  # IPv4
    r"|\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b"  # MAC
    r"|\b(?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f]{1,4}\b"  # IPv6
)

_TOO_SHORT: Final = 3
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
    hidden = {*names, str(report.host.get("name", ""))} - _NOBODY
    words = sorted((name for name in hidden if len(name) >= _TOO_SHORT), key=len, reverse=True)
    forbidden = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words) or "(?!)")
    data = report.to_json()
    facts = {name: data["host"][name] for name in _PUBLIC_FACTS if name in data["host"]}
    data["environment"] = {
        name: value for name, value in data["environment"].items() if name in PUBLIC_VARIABLES
    }
    data = each_text(data, lambda text: _text(text, forbidden))
    data["host"] = {
        "name": f"machine {number}",
        **each_text(facts, lambda text: _text(text, forbidden)),
    }
    return Report.from_json(data)


def _text(text: str, forbidden: re.Pattern[str]) -> str:
    text = _PLACE.sub(_place, text)  # first, for addresses of mail look like parts of it
    text = _BEARER.sub(rf"\1 {_HIDDEN}", text)
    text = _SECRET.sub(rf"\1\2{_HIDDEN}", text)
    text = _ADDRESS.sub(_HIDDEN, text)
    return forbidden.sub(_HIDDEN, text)


def _place(match: re.Match[str]) -> str:
    """Keep addresses of public sites, and of paths what `_path` keeps."""
    if match["scheme"] is None:
        return _path(match[0])
    return match[0] if _PUBLIC_HOST.fullmatch(match["host"]) else f"{match['scheme']}://{_HIDDEN}"


def _path(path: str) -> str:
    """Keep a path below public roots; of any other, only the folders that anybody has."""
    parts = [part for part in path.split("/") if part]
    if not parts or parts[0] in _PUBLIC_ROOTS:
        return path
    kept: list[str] = []
    for part in parts:
        if _PUBLIC_FOLDER.fullmatch(part.rstrip(".")):
            kept.append(part)
        elif not kept or kept[-1] != _HIDDEN:
            kept.append(_HIDDEN)
    return "/" + "/".join(kept)
