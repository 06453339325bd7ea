# SPDX-License-Identifier: Apache-2.0
"""Answers about single codes and names, by number, name, or beginning of a message."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import Final

from pyaclnn.base.spelling import nearest
from pyaclnn.cann import status as codes
from pyaclnn.cann.signatures import signatures
from pyaclnn.facts.explanations import (
    CLUSTER,
    DEVICE_MANAGEMENT,
    DRIVER,
    FAMILIES,
    TORCH_KINDS,
    TORCH_MODULES,
    internal_codes,
    messages,
)
from pyaclnn.health.checks import catalogue
from pyaclnn.health.explain.entry import GENERAL, SPECIFIC, Entry

__all__ = ["CODE", "about", "about_function", "about_message", "of_check", "suggestions"]

_ORIGINS: Final = {
    "1": "what the caller did, or the environment",
    "2": "a resource or a feature that is not there",
    "3": "a call inside that failed",
    "5": "inside CANN, the driver or the device",
    "9": "the simulated NPU's own",
}
_REMEDIES: Final = {
    "program": "the program",
    "machine": "the machine: its installation, settings or hardware",
    "both": "the program or the machine",
}
_NO_CAUSE: Final = {107000, 161002, 361001, 500000, 500001, 500002, 500003, 500004, 500005, 507000,
                    507011, 507012, 507015, 507018, 507899, 507900, 507901, 561000,
                    561001}  # fmt: skip
"""Status codes that report a failure somewhere below, or an argument that they do not name."""
_COMPONENTS: Final = {"07": "runtime", "45": "graph engine", "61": "operators"}
_PREFIXES: Final = ("", "ACL_ERROR_", "ACL_ERROR_RT_", "ACLNN_ERR_", "ACLNN_ERR_INNER_", "ACLNN_")
_LONG_PREFIX: Final = re.compile("ACL_ERROR_RT_|ACL_ERROR_|ACLNN_ERR_INNER_|ACLNN_ERR_|DRV_ERROR_")
_CHECK: Final = re.compile(r"[A-Z]+-\w+(?:@\d+)?")
_TORCH: Final = re.compile(r"\bERR(\d{2})(\d{3})\b")
_MESSAGE: Final = re.compile(
    r"\b(?:E[A-Z]?\d{4,5}|W(?:E\d{4}|\d{5}))(?![0-9A-Za-z_])(?! \d\d:\d\d:\d\d)"
)
_COMPONENT: Final = re.compile(r"(?:HCCL|DRIVER) [0-9]{1,20}")
_HEX: Final = re.compile(r"0[xX][0-9a-fA-F]{4,16}\b")
_INTEGER: Final = re.compile("-?[0-9]{1,20}")
CODE: Final = re.compile(
    rf"(?=[-0-9EWAM])(?:{_TORCH.pattern}|{_MESSAGE.pattern}|{_HEX.pattern}"
    r"|(?<![\w.])(?:-8\d*|4294\d{6}|\d{6})(?!\w|\.\d)|\b(?:ACL_|ACLNN_|MOCK_)[A-Z_]+\b)"
)
"""Codes in a line, and names of codes as the headers write them."""
_SIGN_BIT: Final = 1 << 31
_LAST_DIGITS: Final = 10
_MOST: Final = 5


def about(text: str) -> Entry | None:
    """Explain one code, name or check; None if it is not known.

    Args:
        text: The code or name and nothing else.
    """
    name = text.upper()
    forms = (
        (_TORCH, _torch), (_MESSAGE, about_message), (_COMPONENT, _of_component),
        (_INTEGER, _number), (_HEX, _hexadecimal),
    )  # fmt: skip
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
    for message in messages().values():
        if message.name and name in {message.name, _short(message.name)}:
            return about_message(message.code)
    return _check(name) if _CHECK.fullmatch(name) else None


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


def about_function(text: str) -> Entry | None:
    """Describe a function of the C interface: its header, and the CANN that has it.

    Args:
        text: Its name, also with empty parentheses.
    """
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


def about_message(code: str) -> Entry | None:
    """Explain a code of CANN's messages, of HCCL or of the driver.

    Args:
        code: A code as in ``codes.tsv``, or another of a family that is listed.
    """
    known = messages().get(code)
    if known is None:
        return _family(code)
    heading = f"{code} {known.name} ({known.component})".replace("  ", " ")
    notes = [f"Usually mended in {_REMEDIES[known.whose]}"]
    notes += [f"Comes with: {status} {codes.names()[status]}" for status in known.status]
    rank = GENERAL if known.is_general else SPECIFIC
    return Entry(heading, known.meaning, (), known.next_step, tuple(notes), rank, known.component)


def _family(code: str) -> Entry | None:
    start = max((start for start in FAMILIES if code.startswith(start)), key=len, default=None)
    if start is None:
        return None
    component = FAMILIES[start]
    return Entry(
        f"{code} ({component})",
        f"A code of the {component}, as all that begin with {start}; this one is not known here.",
        next_step="Read the text behind it, which names the cause.",
        rank=GENERAL,
        component=component,
    )


def _check(name: str) -> Entry | None:
    """Explain a check of one machine, or a finding about a cluster."""
    of_cluster = name.partition("@")[0]
    if of_cluster in CLUSTER:
        command = "fleet doctor" if of_cluster.startswith("RAY") else "doctor merge"
        return Entry.of(f"{of_cluster} (pyaclnn {command})", CLUSTER[of_cluster])
    with contextlib.suppress(catalogue.UnknownCheckError):
        return of_check(name)
    return None


def _torch(code: str) -> Entry | None:
    module, kind = int(code[3:5]), int(code[5:])
    if kind not in TORCH_KINDS or module not in TORCH_MODULES:
        return None
    origin = f"Comes from: {TORCH_MODULES[module]}"
    known = TORCH_KINDS[kind]
    return Entry.of(f"{code} (torch_npu)", known, origin, rank=GENERAL, component="torch_npu")


def _of_component(text: str) -> Entry | None:
    component, number = text.split()
    if component == "DRIVER" and int(number) in DRIVER:
        return _number(number)
    code = f"{'HCCL' if component == 'HCCL' else 'driver'} {number}"
    return about_message(code) if code in messages() else None


def _hexadecimal(text: str) -> Entry | None:
    """Explain a code in hexadecimal."""
    number = int(text, 16)
    if number in internal_codes():
        name, status = internal_codes()[number]
        outside = _status(status)
        note = f"{text} {name} is the runtime's own number for it"
        return replace(outside, notes=(*outside.notes, note))
    entry = _number(number)
    return entry and replace(entry, notes=(*entry.notes, f"In hexadecimal: {text}"))


def _named(name: str) -> int | None:
    if name.isascii() and name.startswith(codes.PREFIXES):
        with contextlib.suppress(AttributeError):
            return codes.code_named(name)
    return None


def _number(code: int | str) -> Entry | None:
    """Explain a number; a negative one may be written as one of 32 bits."""
    code = int(code)
    code -= 2 * _SIGN_BIT if _SIGN_BIT < code < 2 * _SIGN_BIT else 0
    if code in codes.names():
        return _status(code)
    if code in DEVICE_MANAGEMENT:
        heading = f"{code} (device management; npu-smi prints it)"
        return Entry.of(heading, DEVICE_MANAGEMENT[code], component="device management")
    if code not in DRIVER:
        return about_message(f"driver {code}") if f"driver {code}" in messages() else None
    known = DRIVER[code]
    becomes = f"The runtime makes of it: {codes.code_named(known.becomes)} {known.becomes}"
    heading = f"{code} {known.name} (driver)"
    return Entry.of(heading, known.explanation, becomes, component="driver")


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
    rank = GENERAL if code in _NO_CAUSE else SPECIFIC
    component = _COMPONENTS.get(str(code)[1:3], "C interface")
    heading = f"{code} {codes.names()[code]}"
    return Entry.of(heading, known, *notes, rank=rank, component=component)


def _short(name: str) -> str:
    match = _LONG_PREFIX.match(name)
    return name[match.end() :] if match else name
