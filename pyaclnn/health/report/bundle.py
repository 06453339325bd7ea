# SPDX-License-Identifier: Apache-2.0
"""Bundle for a bug report: every format in one archive, without private data.

Lists name everything that may stay: the variables, the facts about the host, the roots of paths and
the names of folders. From texts, whose form nobody guarantees, names, secrets and addresses are
removed as well, by the patterns in `redaction.toml`.
"""

from __future__ import annotations

import contextlib
import functools
import getpass
import gzip
import io
import os
import re
import socket
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.toml import read_toml
from pyaclnn.facts.variables import PUBLIC
from pyaclnn.health.report.fleet import Fleet, merge
from pyaclnn.health.report.pages import as_html, as_junit
from pyaclnn.health.report.record import Report, host_name
from pyaclnn.health.report.text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["as_bundle", "names_of_this_machine", "redact", "without_private"]

HIDDEN: Final = "<private>"
"""Replacement of removed text."""

TOO_SHORT: Final = 3
"""Shortest length of a name that is removed."""

_LONGEST_PART: Final = 100


class _Patterns:
    """Compiled patterns of ``redaction.toml``."""

    def __init__(self) -> None:
        self._table = table = read_toml(Path(__file__).with_name("redaction.toml"))
        self.roots = frozenset(table["public_roots"])
        self.own_roots = tuple(map(tuple, table["own_roots"]))
        self.folder = self._compiled(table["public_folders"])
        self.host = re.compile(rf"(?:[\w-]+\.)*(?:{'|'.join(table['public_hosts'])})")
        self.place = self._compiled(table["places"])
        self.key_block, self.header, self.opaque = (
            self._compiled([table[name]]) for name in ("key_block", "header", "opaque")
        )
        self.secrets = [
            (self._compiled([one]), f"{kept}{HIDDEN}") for one, kept in table["secrets"]
        ]
        self.address = self._compiled(table["addresses"])

    def _compiled(self, patterns: Iterable[str]) -> re.Pattern[str]:
        whole = "|".join(patterns)
        for name in ("word", "quoted", "top"):
            whole = whole.replace(f"<{name}>", self._table[name])
        return re.compile(whole)


@functools.cache
def _patterns() -> _Patterns:
    return _Patterns()


def without_private(text: str) -> str:
    """Return a text without secrets, addresses and private paths.

    Args:
        text: Any text, e.g. of a log.
    """
    known = _patterns()
    text = known.key_block.sub(HIDDEN, text)
    text = known.header.sub(_header, text)
    text = known.place.sub(_place, text)  # before addresses, which look like parts of it
    for pattern, instead in known.secrets:
        text = pattern.sub(instead, text)
    text = known.opaque.sub(_opaque, text)
    return known.address.sub(_address, text)


def _header(match: re.Match[str]) -> str:
    return f"{match[1].rstrip()} {HIDDEN}"


def _opaque(match: re.Match[str]) -> str:
    """Keys are made of letters of both cases and digits; prose seldom is."""
    kinds: tuple[Callable[[str], bool], ...] = (str.isupper, str.islower, str.isdigit)
    return HIDDEN if all(any(map(kind, match[0])) for kind in kinds) else match[0]


def _address(match: re.Match[str]) -> str:
    return match[0] if _patterns().host.fullmatch(match[0]) else HIDDEN


def _place(match: re.Match[str]) -> str:
    """Return an address of a public site, and the public parts of a path."""
    if match["scheme"] is not None:
        public = _patterns().host.fullmatch(match["host"])
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
    public = absolute and parts[0] in _patterns().roots
    own = next(
        (len(root) for root in _patterns().own_roots if tuple(parts[: len(root)]) == root), None
    )
    if public and own is None:
        return path
    kept = parts[:own] if public and own else []
    for part in parts[len(kept) :]:
        short = public and len(part) < TOO_SHORT
        if short or (len(part) < _LONGEST_PART and _patterns().folder.fullmatch(part.rstrip("."))):
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
    forbidden = _forbidden(hidden)
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


def _forbidden(names: Iterable[str]) -> re.Pattern[str]:
    words = sorted((name for name in names if len(name) >= TOO_SHORT), key=len, reverse=True)
    return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words) or "(?!)")


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


_LATEST: Final = 2**32 - 1
_FOLDER: Final = "pyaclnn-doctor"

_READ_ME: Final = """\
What `pyaclnn doctor` found, for a bug report.

    report.txt     to read
    report.html    to look at; opens without a network
    report.json    for programs
    report.xml     for continuous integration (JUnit)
    machine/       what support asks for: logs, lines of dmesg, versions, PCIe links, npu-smi,
                   and the processes that hold devices; only of a report of one machine

Taken out: names of users and machines, folders that are not part of a usual installation, network
addresses, whatever looks like a password or token, and every environment variable that neither CANN
nor pyaclnn reads. Please look through report.txt and machine/ before you hand this on.
"""


def as_bundle(given: Sequence[Report] | Fleet, beside: Mapping[str, str] | None = None) -> bytes:
    """Return a gzipped tar archive of the reports, without what is private.

    The same reports and texts make the same bytes.

    Args:
        given: The reports of one or more machines.
        beside: Further texts about the machine, by the names of their files.
    """
    reports = given.reports if isinstance(given, Fleet) else given
    whole = map(given.reports.whole, range(len(reports))) if isinstance(given, Fleet) else reports
    names = names_of_this_machine() | {host_name(report) for report in reports}
    redacted = (redact(report, number, names) for number, report in enumerate(whole, 1))
    shared = list(redacted) if len(reports) == 1 else merge(redacted)
    files = {
        "README.txt": _READ_ME,
        "report.txt": as_text(shared),
        "report.html": as_html(shared),
        "report.json": shared.to_text() if isinstance(shared, Fleet) else shared[0].to_text(),
        "report.xml": as_junit(shared),
    }
    forbidden = _forbidden(names - _NOBODY)
    for name, text in (beside or {}).items():
        files[f"machine/{name}"] = _text(text, forbidden)
    # An archive holds fewer dates than Python does.
    started = reports[0].moment
    when = min(max(int(started.timestamp()), 0), _LATEST) if started else 0
    packed = io.BytesIO()
    # gzip would write the file's name and the time of packing into its header.
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=when) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"{_FOLDER}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), when, 0o644
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
