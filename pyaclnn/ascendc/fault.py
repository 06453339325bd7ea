# SPDX-License-Identifier: Apache-2.0
"""Faults that the checks of the emulation report."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from textwrap import shorten

__all__ = ["RULES", "KernelFault", "buffer_name"]

RULES = {
    "alignment": "an address, a length or the last axis is no multiple of 32 bytes",
    "bounds": "something outside of a tensor or an argument is read or written",
    "capacity": "the buffers exceed the unified buffer of the chip",
    "chip": "the chip does not have the interface",
    "crash": "the kernel did what stops a program: a wild address, a division by zero",
    "dtype": "the interface does not take the element type",
    "overlap": "two tensors share memory that must not",
    "position": "a tensor does not lie in memory of the vector unit",
    "queue": "AllocTensor, EnQue, DeQue and FreeTensor are out of step",
    "race": "two blocks touch the same bytes",
    "reuse": "a tensor is read after a call used its memory up",
    "synchronisation": "two units use the same memory, with nothing to order the two",
    "temporary": "the temporary memory is smaller than what the tiling addresses",
    "tiling": "the tiling data are missing, incomplete or contradict themselves",
    "timeout": "the kernel ran longer than the launch allowed",
    "uninitialised": "memory is read that nothing wrote",
}
"""Every rule that a fault can name, with what it means."""

_INIT_BUFFER = re.compile(r"\bInitBuffer\s*\(\s*([^,()]+?)\s*,")


class KernelFault(RuntimeError):  # noqa: N818  # the chip's word for it, and CANN's
    """A kernel broke a rule of the chip or of the interface; the arrays are as before the launch.

    Attributes:
        rule: The rule, a key of `RULES`.
        api: The call that found it, such as ``"DataCopy"``.
        tensor: The tensor: its parameter name and, if they are known, the memory it is a part of,
            the queue's name in the source, and where that was set up.
        file: The source file of the call; empty if it is unknown.
        line: Its line; 0 if it is unknown.
        block: The block that ran.
        message: The fault, with figures, and what to do.
    """

    def __init__(
        self, rule: str, message: str, *, api: str, tensor: str, file: str, line: int, block: int
    ) -> None:
        self.rule = rule
        self.message = message
        self.api = api
        self.tensor = tensor
        self.file = file
        self.line = line
        self.block = block
        super().__init__(self._text())

    def _text(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file else ""
        source = linecache.getline(self.file, self.line).strip() if self.file else ""
        lines = [f"{place}{self.api}: {self.message}" if self.api else f"{place}{self.message}"]
        if source:
            lines.append(f"    {shorten(source, 160)}")
        if self.tensor:
            lines.append(f"  tensor: {self.tensor}")
        lines.append(f"  rule: {self.rule} ({RULES.get(self.rule, '')}); block {self.block}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        fields = {name: getattr(self, name) for name in ("api", "tensor", "file", "line", "block")}
        return _restored, (self.rule, self.message, fields)


def _restored(rule: str, message: str, fields: dict[str, object]) -> KernelFault:
    fault = KernelFault.__new__(KernelFault)
    fault.__dict__.update(fields, rule=rule, message=message)
    RuntimeError.__init__(fault, fault._text())  # noqa: SLF001  # this is its constructor
    return fault


def buffer_name(file: str, line: int) -> str:
    """Describe a queue or buffer by the line of its ``InitBuffer``.

    Args:
        file: The file of that line.
        line: Its number; 0 for memory that no line of the kernel set up.

    Returns:
        For example ``"'inQueueX' set up in kernel.cpp:31"``; empty for line 0.
    """
    if not line:
        return ""
    found = _INIT_BUFFER.search(linecache.getline(file, line))
    place = f"set up in {Path(file).name}:{line}"
    return f"'{found[1]}' {place}" if found else place
