# SPDX-License-Identifier: Apache-2.0
"""Errors of the C++ compiler, at the lines of the kernel's author."""

from __future__ import annotations

import linecache
import re
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.base.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CompileError", "Diagnostic", "diagnose"]

_LINE = re.compile(r"(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)?\s*(?P<text>.*)")
_ERROR = re.compile(r"(?:fatal )?error: (?P<message>.*)")
# Notes of GCC and Clang that lead from an error in a template to the line that used it.
_LED_TO = re.compile(r"\s*(?:required from here|note: in instantiation of )")
_NO_TILING = "RegisteredTilingData"
_HINT = (
    "GET_TILING_DATA has to know the structure: name its fields with tiling_data, for example "
    'tiling_data={"layerNormGradBetaTiling": "LayerNormGradBetaTiling"}, or write '
    "REGISTER_TILING_DEFAULT(YourStructure); into the kernel."
)


_LAUNCH = re.compile(r"static_cast<void>\(arguments\); (?P<name>\w+)\(")
_FIELD = re.compile(r"    [^{}()]+;")
_UNDECLARED = re.compile(r"not declared|undeclared identifier")
_MISSING = re.compile(
    r"(?:undeclared identifier|no member named) ['\u2018](?P<after>\w+)"
    r"|[\u2018'](?P<before>[A-Z]\w+)[\u2019'] (?:was not declared|is not a member of .AscendC)"
)
_NOT_THERE = (
    "was found by reading the source, but after preprocessing it is not declared in the global "
    "namespace: see whether an #if leaves it out, it stands on the line of an #include, or it is "
    "in a namespace"
)


class Diagnostic(NamedTuple):
    """One error of the compiler.

    Attributes:
        file: The file, the author's where there is one.
        line: Its line; 0 if the compiler named none.
        message: The compiler's text.
    """

    file: str
    line: int
    message: str


class CompileError(RuntimeError):
    """A kernel could not be built.

    Attributes:
        diagnostics: The errors, each at the author's line that led to it.
        output: Everything the compiler wrote.
    """

    def __init__(
        self, message: str, diagnostics: tuple[Diagnostic, ...] = (), output: str = ""
    ) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.output = output


def diagnose(
    source: Path, output: str, own: tuple[Path, ...], stub: Path | None = None
) -> CompileError:
    """Make the error of a build that failed.

    Args:
        source: The kernel's file.
        output: The output of the compiler.
        own: Folders whose files are not the author's: the emulation's headers.
        stub: The program that was generated around the source, which no message names.
    """
    foreign = (*(f"{folder}/" for folder in own), *([str(stub)] if stub is not None else []))
    found = tuple(dict.fromkeys(_errors(output, foreign)))
    if stub is not None:
        found = _without_stub(source, found, stub)
        output = output.replace(str(stub), str(source)).replace(stub.name, source.name)
    lines = [f"{source} does not compile:"]
    for diagnostic in found:
        line = f":{diagnostic.line}" if diagnostic.line else ""
        lines.append(f"{diagnostic.file}{line}: {diagnostic.message}")
        text = linecache.getline(diagnostic.file, diagnostic.line).rstrip()
        if text:
            lines.append(f"    {shorten(text, 160)}")
    if not found:
        lines.append(output.strip())
    if _NO_TILING in output:
        lines.append(_HINT)
    missing = dict.fromkeys(
        match["before"] or match["after"]
        for diagnostic in found
        for match in _MISSING.finditer(diagnostic.message)
    )
    missing.pop(_NO_TILING, None)
    if missing:
        names = ", ".join(missing)
        lines.append(f"Of Ascend C, {names} is not simulated, or another header has it.")
    return CompileError("\n".join(lines), found, output)


def _without_stub(
    source: Path, found: tuple[Diagnostic, ...], stub: Path
) -> tuple[Diagnostic, ...]:
    """Report errors at the launches of the stub at the kernels that these launch."""
    others = tuple(diagnostic for diagnostic in found if diagnostic.file != str(stub))
    if others:  # the author's errors; those of the launches follow from them
        return others
    lines = stub.read_text(encoding="utf-8").splitlines()
    text = read_text(source, "a kernel", errors="replace")
    return tuple(dict.fromkeys(_at_kernel(source, text, lines, each) for each in found))


def _at_kernel(source: Path, text: str, lines: list[str], found: Diagnostic) -> Diagnostic:
    line_of_stub = "".join(lines[found.line - 1 : found.line])
    launched = _LAUNCH.search(line_of_stub)
    if launched is None:
        start = "tiling_data: " if _FIELD.fullmatch(line_of_stub) else ""
        return Diagnostic(str(source), 0, f"{start}{found.message}")
    name = launched["name"]
    place = re.search(rf"\bvoid\s+{name}\s*\(", text)
    line = text.count("\n", 0, place.start()) + 1 if place is not None else 0
    if _UNDECLARED.search(found.message):
        return Diagnostic(str(source), line, f"the kernel {name} {_NOT_THERE}")
    return Diagnostic(str(source), line, f"the kernel {name} cannot be launched: {found.message}")


def _errors(output: str, foreign: tuple[str, ...]) -> list[Diagnostic]:
    """Return the errors; one in a foreign file moves to the nearest line that is not."""
    linecache.checkcache()
    errors: list[Diagnostic] = []
    leading: tuple[str, int] | None = None
    homeless = False
    for text in output.splitlines():
        match = _LINE.match(text)
        if match is None:
            continue
        place = (match["file"], int(match["line"]))
        is_foreign = place[0].startswith(foreign)
        error = _ERROR.match(match["text"])
        if error is None:
            if not is_foreign and _LED_TO.match(match["text"]):
                leading = place
                if homeless:  # Clang names the author's line after the error
                    errors[-1] = Diagnostic(*place, errors[-1].message)
                    leading, homeless = None, False
            continue
        homeless = is_foreign and leading is None
        file, line = leading if is_foreign and leading is not None else place
        errors.append(Diagnostic(file, line, error["message"]))
        leading = None
    return errors
