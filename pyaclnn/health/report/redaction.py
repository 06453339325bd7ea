# SPDX-License-Identifier: Apache-2.0
"""Redaction of a report: removal of private data.

Lists name everything that may stay: the variables, the facts about the host, the roots of paths and
the names of folders. From texts, whose form nobody guarantees, names, secrets and addresses are
removed as well. Every pattern takes time in proportion to the text: repetitions before a required
part are bounded.
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["names_of_this_machine", "redact", "without_private"]

HIDDEN: Final = "<private>"
"""Replacement of removed text."""

TOO_SHORT: Final = 3
"""Shortest length of a name that is removed."""

_PUBLIC_ROOTS: Final = ("usr", "opt", "etc", "dev", "proc", "sys", "lib", "lib64", "bin", "sbin")
_OWN_ROOTS: Final = (("opt",), ("usr", "local"))
"""Public roots below which administrators name folders."""

_LONGEST_PART: Final = 100
_PUBLIC_FOLDER: Final = re.compile(
    r"(?:Ascend|ascend\w*|ascend-toolkit|cann|cann-[\w.]+|CANN-[\w.]+|latest|\d+\.\d+[\w.]*|opp|"
    r"nnae|nnrt|lib|lib64|devlib|stub|driver|firmware|common|runtime|compiler|toolkit|share|info|"
    r"vendors|built-in|op_impl|op_api|ai_core|tbe|kernel|config|include|aclnnop|site-packages|"
    r"pyaclnn|mock_libs|libs|bin|python3?(?:\.\d+)?|linux|(?:aarch64|x86_64)(?:-linux)?|log|debug|"
    r"plog|dcmi|sbin|[\w+-]+\.(?:so(?:\.[\d.]+)?|py|pyc|h|json|info|cfg|ini|log|sh|o))"
)
_PLACE: Final = re.compile(
    r"(?<![\w+.-])(?P<scheme>[A-Za-z][\w+.-]{0,30})://(?P<host>[^/\s:\"'<>]*)[^\s\"'<>]*"
    r"|(?<![\w\\])(?:[A-Za-z]:)?\\\\?[^\s\"'<>|]+\\[^\s\"'<>|]*"  # Windows
    r"|(?<![\w./>])(?P<path>(?:~\w{0,32}|\.{1,2})?/(?:\\ |[^\s:,;'\"()<>|])+"
    r"(?:[ ][^\s:,;'\"()<>|/]+/[^\s:,;'\"()<>|]*)*)"  # a folder with a space in its name
)
_PUBLIC_HOST: Final = re.compile(
    r"(?:[\w-]+\.)*(?:hiascend\.com|huawei\.com|gitee\.com|gitcode\.com|github\.com|python\.org)"
)

_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)", re.DOTALL
)
_HEADER: Final = re.compile(
    r"(?im)((?:authorization|cookie)[\"']?\s*[:=][ \t]*(?:(?:bearer|basic|digest|token|\w{0,8}key)"
    r"(?=[ \t]))?)[^\r\n]+"
)
_WORD: Final = (
    r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"credential|(?<![A-Za-z])(?:pass|pwd)(?![A-Za-z]))[\w-]{0,40}"
)
_QUOTED: Final = r"\"[^\"\n]*\"?|'[^'\n]*'?"
_SECRETS: Final = (
    # A value after a colon ends with the line, after an equals sign with the word.
    (re.compile(rf"(?i)({_WORD}[\"']?\s*:\s*)(?:{_QUOTED}|[^\n,;]+)"), rf"\1{HIDDEN}"),
    (re.compile(rf"(?i)({_WORD}[\"']?\s*=\s*)(?:{_QUOTED}|[^\s;&]+)"), rf"\1{HIDDEN}"),
    (re.compile(rf"(?i)((?<![\w-])--?[\w-]{{0,40}}?{_WORD}\s+)\S+"), rf"\1{HIDDEN}"),
    (re.compile(rf"(?i)({_WORD}(?<=\w)\s+)(?=\S*[\d_]\S*(?:\s|$))\S+"), rf"\1{HIDDEN}"),
    (re.compile(r"((?<!\S)-p)(?=\S*\d)[^\s-]\S{3,}"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    # Prefixes of the services' own keys.
    (
        re.compile(
            r"\b(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|pypi-|dckr_pat_|xox[abprs]-|sk-|AIza|"
            r"(?:AKIA|ASIA)(?=[A-Z0-9]{8}))[\w-]{6,}"
        ),
        HIDDEN,
    ),
    (re.compile(r"\beyJ[\w-]{6,}(?:\.[\w-]+){1,2}"), HIDDEN),
)
_OPAQUE: Final = re.compile(r"(?<![\w/+.~-])(?!_Z)[A-Za-z0-9][A-Za-z0-9+/]{35,}=*(?![\w+/-])")
_UUID: Final = r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"
_TOP: Final = (
    "com|net|org|edu|gov|io|ai|cn|de|jp|uk|eu|fr|ru|kr|tw|hk|sg|ch|internal|intern|local|"
    "localdomain|lan|corp|example|invalid|cluster"
)
_ADDRESS: Final = re.compile(
    rf"{_UUID}"
    r"|[\w.+-]{1,64}@(?!\d+\b|@|[A-Z]+_)[A-Za-z0-9][\w.-]*(?::[\w./~-]*)?"  # mail, a login
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)"  # IPv4
    r"|\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b"  # MAC
    r"|\b(?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f]{1,4}\b"  # IPv6
    r"|(?<![\w:])(?=[0-9A-Fa-f:]*\d)(?:[0-9A-Fa-f]{1,4}:){1,7}(?::[0-9A-Fa-f]{1,4}){1,7}(?![\w:])"
    rf"|(?<![\w.-])(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}(?:{_TOP})(?![\w-]|\.\w)"  # a machine's name
)


def without_private(text: str) -> str:
    """Return a text without secrets, addresses and private paths.

    Args:
        text: Any text, e.g. of a log.
    """
    text = _KEY_BLOCK.sub(HIDDEN, text)
    text = _HEADER.sub(_header, text)
    text = _PLACE.sub(_place, text)  # before addresses, which look like parts of it
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    text = _OPAQUE.sub(_opaque, text)
    return _ADDRESS.sub(_address, text)


def _header(match: re.Match[str]) -> str:
    return f"{match[1].rstrip()} {HIDDEN}"


def _opaque(match: re.Match[str]) -> str:
    """Keys are made of letters of both cases and digits; prose seldom is."""
    kinds: tuple[Callable[[str], bool], ...] = (str.isupper, str.islower, str.isdigit)
    return HIDDEN if all(any(map(kind, match[0])) for kind in kinds) else match[0]


def _address(match: re.Match[str]) -> str:
    return match[0] if _PUBLIC_HOST.fullmatch(match[0]) else HIDDEN


def _place(match: re.Match[str]) -> str:
    """Return an address of a public site, and the public parts of a path."""
    if match["scheme"] is not None:
        public = _PUBLIC_HOST.fullmatch(match["host"])
        return match[0] if public else f"{match['scheme']}://{HIDDEN}"
    if match["path"] is None:
        return HIDDEN
    return _path(match["path"])


def _path(path: str) -> str:
    """Return the parts of a path that the system names, or that every installation has."""
    words = path.split(" ")
    if len(words) > 1 and _public_part(words[0]) == words[0]:
        return " ".join([words[0], *words[1:]])
    return _public_part(path)


def _public_part(path: str) -> str:
    parts = [part for part in path.split("/") if part]
    if not parts:
        return path
    absolute = path.startswith("/")
    public = absolute and parts[0] in _PUBLIC_ROOTS
    own = next((len(root) for root in _OWN_ROOTS if tuple(parts[: len(root)]) == root), None)
    if public and own is None:
        return path
    kept = parts[:own] if public and own else []
    for part in parts[len(kept) :]:
        short = public and len(part) < TOO_SHORT
        if short or (len(part) < _LONGEST_PART and _PUBLIC_FOLDER.fullmatch(part.rstrip("."))):
            kept.append(part)
        elif not kept or kept[-1] != HIDDEN:
            kept.append(HIDDEN)
    return "/" + "/".join(kept) + ("/" if public and path.endswith("/") else "")


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
