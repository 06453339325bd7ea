# SPDX-License-Identifier: Apache-2.0
"""``pyaclnn explain``: a code of CANN, its driver or this program, in words."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.explanations import Explanation

__all__ = ["Entry", "look_up", "of_check", "suggestions"]

_ORIGINS: Final = {
    "1": "what the caller did, or the environment",
    "2": "a resource or a feature that is not there",
    "3": "a call inside that failed",
    "5": "inside CANN, the driver or the device",
    "9": "the simulated NPU's own",
}
_PREFIXES: Final = ("", "ACL_ERROR_", "ACL_ERROR_RT_", "ACLNN_ERR_", "ACLNN_ERR_INNER_", "ACLNN_")
_NUMBER: Final = re.compile(r"(?<![\w.])-?[0-9]+(?![\w.]*\d)")
_MESSAGE: Final = re.compile(r"\bE[A-Z]?\d{4,5}\b")
_CHECK: Final = re.compile(r"[A-Z]+-\w+(?:@\d+)?")
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]{5,}")
_HEX: Final = re.compile(r"0[xX][0-9a-fA-F]{4,16}\b")
_TORCH: Final = re.compile(r"\bERR(\d{2})(\d{3})\b")
_STATUS_DIGITS: Final = 6
_SIGN_BIT: Final = 1 << 31
_LAST_DIGITS: Final = 10
_MOST: Final = 5


@dataclass(frozen=True)
class Entry:
    """One answer.

    Attributes:
        heading: The code and its name.
        meaning: What it says.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next, or None.
        notes: What else there is to say, a line each.
    """

    heading: str
    meaning: str
    causes: tuple[str, ...] = ()
    next_step: str | None = None
    notes: tuple[str, ...] = ()


def look_up(asked: str) -> list[Entry]:
    """Explain a code, a name, a check, or every code in a line of a log.

    Args:
        asked: A status code such as ``507033``; a name, also without its prefix and in any case;
            a code of the driver (``17``) or of device management (``-8020``); the beginning of a
            message (``EE1015``); the id of a check, of a machine or a cluster; or a text in which
            some of these stand.

    Returns:
        The answers; none if nothing in it is known.
    """
    found = _exactly(asked.strip()) or _function(asked.strip())
    if found is not None:
        return [found]
    entries: dict[str, Entry] = {entry.heading: entry for entry in _loader(asked)}
    for part in _parts(asked):
        entry = _exactly(part)
        if entry is not None:
            entries.setdefault(entry.heading, entry)
    return list(entries.values())


def suggestions(asked: str) -> list[str]:
    """Return the few codes and names that are closest to one that is not known.

    Codes that begin with the digits asked for come first, in order; where only the last digit is
    open, every such code is there.

    Args:
        asked: What was asked for.
    """
    words = asked.strip().upper()
    names = {name: f"{code} {name}" for code, name in codes.names().items()}
    if words.lstrip("-").isdigit():
        numbers = {str(code): f"{code} {name}" for code, name in codes.names().items()}
        numbers |= {str(code): f"{code} (device management)" for code in DEVICE_MANAGEMENT}
        begun = sorted(number for number in numbers if number.startswith(words))
        near = difflib.get_close_matches(words, numbers, _MOST, 0.5)
        room = max(_MOST, len(begun)) if len(begun) <= _LAST_DIGITS else _MOST
        return [numbers[number] for number in dict.fromkeys(begun + near)][:room]
    short = {_short(name): line for name, line in names.items()}
    near = difflib.get_close_matches(_short(words), short, _MOST, 0.5)
    held = [name for name in short if _short(words) in name and name not in near]
    near += sorted(held, key=len)
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


def _parts(text: str) -> Iterator[str]:
    """What in a text may be a code: six digits, a message code, a name as the headers write it."""
    every = (_TORCH, _MESSAGE, _HEX, _NUMBER, _WORD)
    for match in re.finditer("|".join(pattern.pattern for pattern in every), text):
        part = match[0]
        if _HEX.fullmatch(part) or _TORCH.fullmatch(part):
            yield part
            continue
        is_status = part.isdigit() and len(part) == _STATUS_DIGITS
        if is_status or part.startswith("-8") or part in STATUS or _MESSAGE.fullmatch(part):
            yield part


def _exactly(asked: str) -> Entry | None:
    wanted = asked.upper()
    if _TORCH.fullmatch(wanted) or _HEX.fullmatch(asked):
        return _torch(wanted) if wanted.startswith("ERR") else _hexadecimal(asked)
    if re.fullmatch("-?[0-9]+", wanted) or _MESSAGE.fullmatch(wanted):
        return _message(wanted) if wanted.startswith("E") else _number(int(wanted))
    for prefix in _PREFIXES:
        code = _named(prefix + wanted)
        if code is not None:
            return _status(code)
    for number, known in DRIVER.items():
        if wanted in {known.name, _short(known.name)}:
            return _number(number)
    return _finding(wanted) if _CHECK.fullmatch(wanted) else None


def _finding(name: str) -> Entry | None:
    """A check of one machine, or what is found out about a cluster."""
    of_cluster = name.partition("@")[0]
    if of_cluster in CLUSTER:
        return _entry(f"{of_cluster} (pyaclnn fleet doctor)", CLUSTER[of_cluster])
    with contextlib.suppress(catalogue.UnknownCheckError):
        return of_check(name)
    return None


def _torch(code: str) -> Entry | None:
    module, kind = (int(part) for part in _TORCH.fullmatch(code).groups())  # type: ignore[union-attr]  # it fits
    known = TORCH_KINDS.get(kind)
    if known is None or module not in TORCH_MODULES:
        return None
    return _entry(f"{code} (torch_npu)", known, f"Comes from: {TORCH_MODULES[module]}")


def _hexadecimal(text: str) -> Entry | None:
    """A code in hexadecimal; a negative one may stand in 32 bits."""
    number = int(text, 16)
    codes_of = (number, number - 2 * _SIGN_BIT) if number & _SIGN_BIT else (number,)
    entry = next((entry for code in codes_of if (entry := _number(code))), None)
    return entry and dataclasses.replace(entry, notes=(*entry.notes, f"In hexadecimal: {text}"))


def _function(asked: str) -> Entry | None:
    """Tell where a function of the C interface is declared, and in which CANN it is."""
    known = signatures().get(asked.rstrip("()"))
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
        try:
            return codes.code_named(name)
        except AttributeError:
            return None
    return None


def _number(code: int) -> Entry | None:
    if code in codes.names():
        return _status(code)
    if code in DEVICE_MANAGEMENT:
        return _entry(f"{code} (device management; npu-smi prints it)", DEVICE_MANAGEMENT[code])
    if code in DRIVER:
        known = DRIVER[code]
        becomes = f"{codes.code_named(known.becomes)} {known.becomes}"
        return _entry(
            f"{code} {known.name} (driver)",
            known.explanation,
            f"The runtime makes of it: {becomes}",
        )
    return None


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
    fitting = [start for start in known if code.startswith(start)]
    if not fitting:
        return None
    return _entry(f"{code} (begins a text of CANN)", known[max(fitting, key=len)])


def _entry(heading: str, known: Explanation, *notes: str) -> Entry:
    step = known.next_step[0].upper() + known.next_step[1:]
    return Entry(heading, known.meaning, known.causes, step, notes)


def _short(name: str) -> str:
    for prefix in (
        "ACL_ERROR_RT_",
        "ACL_ERROR_",
        "ACLNN_ERR_INNER_",
        "ACLNN_ERR_",
        "DRV_ERROR_",
    ):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name
