# SPDX-License-Identifier: Apache-2.0
"""Lookup of codes of CANN, of its driver and of this program: the command ``pyaclnn explain``."""

from __future__ import annotations

import contextlib
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from pyaclnn.base.spelling import nearest
from pyaclnn.cann import status as codes
from pyaclnn.cann.signatures import signatures
from pyaclnn.facts.explanations import (
    CLUSTER,
    COLLECTIVE,
    DEVICE_MANAGEMENT,
    DRIVER,
    LOADER,
    MESSAGES,
    STATUS,
    TORCH_KINDS,
    TORCH_MODULES,
)
from pyaclnn.health.checks import catalogue
from pyaclnn.health.report.text import emit, numbered, open_console

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from rich.console import Console, RenderableType

    from pyaclnn.facts.explanations import Explanation

__all__ = ["look_up", "of_check", "show_entries", "suggestions"]

_ORIGINS: Final = {
    "1": "what the caller did, or the environment",
    "2": "a resource or a feature that is not there",
    "3": "a call inside that failed",
    "5": "inside CANN, the driver or the device",
    "9": "the simulated NPU's own",
}
_PREFIXES: Final = ("", "ACL_ERROR_", "ACL_ERROR_RT_", "ACLNN_ERR_", "ACLNN_ERR_INNER_", "ACLNN_")
_LONG_PREFIX: Final = re.compile("ACL_ERROR_RT_|ACL_ERROR_|ACLNN_ERR_INNER_|ACLNN_ERR_|DRV_ERROR_")
_CHECK: Final = re.compile(r"[A-Z]+-\w+(?:@\d+)?")
_TORCH: Final = re.compile(r"\bERR(\d{2})(\d{3})\b")
_MESSAGE: Final = re.compile(r"\bE[A-Z]?\d{4,5}\b")
_HEX: Final = re.compile(r"0[xX][0-9a-fA-F]{4,16}\b")
_NUMBER: Final = re.compile(r"(?<![\w.])-?[0-9]+(?![\w.]*\d)")
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]{5,}")
_PART: Final = re.compile("|".join(p.pattern for p in (_TORCH, _MESSAGE, _HEX, _NUMBER, _WORD)))
_INTEGER: Final = re.compile("-?[0-9]+")
_STATUS: Final = re.compile(r"\d{6}|-8\d*")
_SIGN_BIT: Final = 1 << 31
_LAST_DIGITS: Final = 10
_MOST: Final = 5


@dataclass(frozen=True)
class Entry:
    """One answer.

    Attributes:
        heading: The code and its name.
        meaning: The meaning of the code.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next, or None.
        notes: Further remarks, a line each.
    """

    heading: str
    meaning: str
    causes: tuple[str, ...] = ()
    next_step: str | None = None
    notes: tuple[str, ...] = ()


def look_up(text: str) -> list[Entry]:
    """Explain a code, a name, a check, or every code in a line of a log.

    Args:
        text: A status code such as ``507033``; a name, also without its prefix and in any case; a
            code of the driver (``17``) or of device management (``-8020``); the beginning of a
            message (``EE1015``); the id of a check, of a machine or a cluster; or a text that
            contains some of these.

    Returns:
        The answers; none if nothing in it is known.
    """
    found = _exactly(text.strip()) or _function(text.strip())
    if found is not None:
        return [found]
    entries = {entry.heading: entry for entry in _loader(text)}
    for match in _PART.finditer(text):
        entry = _exactly(match[0]) if _may_be_code(match[0]) else None
        if entry is not None:
            entries.setdefault(entry.heading, entry)
    return list(entries.values())


def suggestions(text: str) -> list[str]:
    """Return the few codes and names that are closest to an unknown one.

    Codes that begin with the given digits come first, in order; where only the last digit is open,
    every such code is listed.

    Args:
        text: The unknown code or name.
    """
    words = text.strip().upper()
    names = {name: f"{code} {name}" for code, name in codes.names().items()}
    if words.lstrip("-").isdigit():
        numbers = {str(code): f"{code} {name}" for code, name in codes.names().items()}
        numbers |= {str(code): f"{code} (device management)" for code in DEVICE_MANAGEMENT}
        begun = sorted(number for number in numbers if number.startswith(words))
        near = nearest(words, numbers, _MOST, 0.5)
        room = max(_MOST, len(begun)) if len(begun) <= _LAST_DIGITS else _MOST
        return [numbers[number] for number in dict.fromkeys(begun + near)][:room]
    short = {_short(name): line for name, line in names.items()}
    near = nearest(_short(words), short, _MOST, 0.5)
    near += sorted((n for n in short if _short(words) in n and n not in near), key=len)
    return [short[name] for name in near[:_MOST]]


def of_check(name: str) -> Entry:
    """Explain a check of the doctor.

    Args:
        name: Its id.

    Raises:
        UnknownCheckError: There is no such check.
    """
    check = catalogue.find(name)
    notes = [f"Level: {check.level.name.lower()}"]
    if check.needs:
        notes.append(f"Builds on: {', '.join(check.needs)}")
    if check.group is not None:
        notes.append(f"Runs in a process of its own, for at most {check.seconds:.0f} s")
    return Entry(f"{check.id} {check.title}", check.explanation, notes=tuple(notes))


def _may_be_code(part: str) -> bool:
    """Return whether a part of a text is a code, or a name as the headers write it."""
    forms = (_HEX, _TORCH, _MESSAGE, _STATUS)
    return part in STATUS or any(form.fullmatch(part) for form in forms)


def _exactly(text: str) -> Entry | None:
    name = text.upper()
    forms = ((_TORCH, _torch), (_MESSAGE, _message), (_INTEGER, _number), (_HEX, _hexadecimal))
    for form, explain in forms:
        if form.fullmatch(name):
            return explain(text if form is _HEX else name)
    for prefix in _PREFIXES:
        code = _named(prefix + name)
        if code is not None:
            return _status(code)
    for number, known in DRIVER.items():
        if name in {known.name, _short(known.name)}:
            return _number(number)
    return _check(name) if _CHECK.fullmatch(name) else None


def _check(name: str) -> Entry | None:
    """Explain a check of one machine, or a finding about a cluster."""
    of_cluster = name.partition("@")[0]
    if of_cluster in CLUSTER:
        return _entry(f"{of_cluster} (pyaclnn fleet doctor)", CLUSTER[of_cluster])
    with contextlib.suppress(catalogue.UnknownCheckError):
        return of_check(name)
    return None


def _torch(code: str) -> Entry | None:
    module, kind = int(code[3:5]), int(code[5:])
    if kind not in TORCH_KINDS or module not in TORCH_MODULES:
        return None
    origin = f"Comes from: {TORCH_MODULES[module]}"
    return _entry(f"{code} (torch_npu)", TORCH_KINDS[kind], origin)


def _hexadecimal(text: str) -> Entry | None:
    """Explain a code in hexadecimal; a negative one may be written in 32 bits."""
    number = int(text, 16)
    entry = _number(number)
    if entry is None and number & _SIGN_BIT:
        entry = _number(number - 2 * _SIGN_BIT)
    return entry and replace(entry, notes=(*entry.notes, f"In hexadecimal: {text}"))


def _function(text: str) -> Entry | None:
    """Describe a function of the C interface: its header, and the CANN that has it."""
    known = signatures().get(text.rstrip("()"))
    if known is None:
        return None
    return Entry(
        f"{known.name}({', '.join(known.parameters)})",
        f"A function of the C interface, declared in {known.header}.",
        notes=(
            f"Since CANN {known.since} at the latest, in the group of libraries '{known.library}'",
            "A status code that it returned says more: pyaclnn explain CODE",
        ),
    )


def _loader(text: str) -> Iterator[Entry]:
    for pattern, known in LOADER.values():
        match = pattern.search(text)
        if match is not None:
            name = match[1] or match[0]
            yield _entry(f"{name} (the dynamic loader)", known)
            function = _function(name)
            if function is not None:
                yield function
            return


def _named(name: str) -> int | None:
    if name.startswith(codes.PREFIXES):
        with contextlib.suppress(AttributeError):
            return codes.code_named(name)
    return None


def _number(code: int | str) -> Entry | None:
    code = int(code)
    if code in codes.names():
        return _status(code)
    if code in DEVICE_MANAGEMENT:
        return _entry(f"{code} (device management; npu-smi prints it)", DEVICE_MANAGEMENT[code])
    if code not in DRIVER:
        return None
    known = DRIVER[code]
    becomes = f"The runtime makes of it: {codes.code_named(known.becomes)} {known.becomes}"
    return _entry(f"{code} {known.name} (driver)", known.explanation, becomes)


def _status(code: int) -> Entry:
    known = codes.explanation(code)
    notes = []
    if code:
        notes.append(f"Kind: {_ORIGINS[str(code)[0]]}")
        bases = [base.__name__ for base in known.exception.__mro__ if base.__module__ == "builtins"]
        also = f", which is also {bases[0]}" if bases[0] != "Exception" else ""
        notes.append(f"In Python: pyaclnn.{known.exception.__name__}{also}")
    if known.replaced_by:
        now = f"{codes.code_named(known.replaced_by)} {known.replaced_by}"
        notes.append(f"Newer CANN returns instead: {now}")
    return _entry(f"{code} {codes.names()[code]}", known, *notes)


def _message(code: str) -> Entry | None:
    known = {**MESSAGES, **COLLECTIVE}
    start = max((start for start in known if code.startswith(start)), key=len, default=None)
    return _entry(f"{code} (begins a text of CANN)", known[start]) if start else None


def _entry(heading: str, known: Explanation, *notes: str) -> Entry:
    step = known.next_step[0].upper() + known.next_step[1:]
    return Entry(heading, known.meaning, known.causes, step, notes)


def _short(name: str) -> str:
    match = _LONG_PREFIX.match(name)
    return name[match.end() :] if match else name


_UNKNOWN: Final = 1


def show_entries(entries: Sequence[Entry], console: Console) -> None:
    """Print explanations.

    Args:
        entries: The explanations.
        console: The console.
    """
    parts: list[RenderableType] = []
    for entry in entries:
        parts += [Text()] if parts else []
        parts.append(Text(entry.heading, style="bold"))
        parts.append(Padding(Group(*_lines(entry)), (0, 0, 0, 2)))
    emit(parts, console)


def _lines(entry: Entry) -> list[RenderableType]:
    lines: list[RenderableType] = [Text(entry.meaning)]
    if entry.causes:
        lines += [Text("Likely causes:", style="bold"), *numbered(entry.causes)]
    if entry.next_step:
        lines.append(Text.assemble(("Next: ", "bold"), (entry.next_step, "cyan")))
    lines += [Text(note, style="dim") for note in entry.notes]
    return lines


def run(options: argparse.Namespace) -> int:
    """Explain a code, or list them all.

    Args:
        options: The command line.

    Returns:
        The exit status: 0, or 1 for an unknown code.
    """
    console = open_console()
    if options.list:
        _list(console)
        return 0
    asked = " ".join(options.code)
    if not asked.strip():
        options.parser.error("a code, a name or a text is missing after 'explain'")
    entries = look_up(asked)
    if entries:
        show_entries(entries, console)
        return 0
    near = suggestions(asked)
    lines = [f"pyaclnn explain: nothing is known about '{asked}'."]
    lines += ["Did you mean one of these?", *(f"  {line}" for line in near)] if near else []
    lines += [] if near else ["`pyaclnn explain --list` lists every status code."]
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return _UNKNOWN


def _list(console: Console) -> None:
    for code, name in sorted(codes.names().items()):
        known = codes.explanation(code)
        line = Text.assemble((f"{code:>7} {name}", "bold"), f"  {known.meaning}")
        console.print(line, soft_wrap=True)
