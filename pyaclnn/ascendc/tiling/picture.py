# SPDX-License-Identifier: Apache-2.0
"""Output of a tiling: tables and a picture of the buffer, or JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from pyaclnn.ascendc.tiling.layout import Buffer, addressed_bytes

if TYPE_CHECKING:
    from pyaclnn.ascendc.tiling.plan import TilingPlan

__all__ = ["as_json", "as_picture"]

_BAR = 48
"""Columns of the picture, if there is room beside the figures."""
_OVER = "!"
_PLAIN_WIDTH = 110
"""Columns where the output is no terminal."""
_WIDE = 96
"""Columns from which three fields of a structure stand side by side."""


def as_json(plan: TilingPlan) -> str:
    """Return the plan as JSON.

    Args:
        plan: The plan to draw.

    Returns:
        One object. All sizes are in bytes, except for the fields of the structure, which are as the
        kernel reads them; `bytes` is the packed structure in hexadecimal digits.
    """
    request = plan.request
    return json.dumps(
        {
            "interface": request.interface,
            "soc": request.soc,
            "src_shape": request.src_shape,
            "type_size": request.type_size,
            "is_reuse_source": request.reuse,
            "tmp_size": {"max": plan.tmp_size.max_value, "min": plan.tmp_size.min_value},
            "stack_buffer_size": plan.stack,
            "structure": type(plan.tiling).__name__,
            "tiling": plan.tiling.as_dict(),
            "bytes": plan.tiling.to_bytes().hex(),
            "buffers": [{**buffer._asdict(), "end": buffer.end} for buffer in plan.buffers],
            "addressed_bytes": addressed_bytes(plan.tiling),
            "warnings": plan.warnings,
        },
        indent=2,
    )


def as_picture(plan: TilingPlan) -> None:
    """Print the plan: sizes, fields, the buffer to scale, warnings.

    Args:
        plan: The plan to draw.
    """
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_PLAIN_WIDTH)
    _print_sizes(console, plan)
    _print_fields(console, plan)
    if plan.buffers:
        _print_buffers(console, plan)
    else:
        console.print("The kernel arranges its temporary buffer itself on this chip.")
    for warning in plan.warnings:
        console.print(Text.assemble(("warning: ", "bold yellow"), warning), soft_wrap=True)


def _print_sizes(console: Console, plan: TilingPlan) -> None:
    request = plan.request
    dtype = {2: "half", 4: "float"}[request.type_size]
    console.print(
        f"[bold]{escape(request.interface)}[/] {list(request.src_shape)} {dtype}"
        f"{' isReuseSource' if request.reuse else ''} on {escape(request.soc)}"
    )
    console.print(
        f"temporary buffer: max {plan.tmp_size.max_value} bytes, min {plan.tmp_size.min_value} "
        f"bytes; stackBufferSize is {plan.stack} bytes"
    )


def _print_fields(console: Console, plan: TilingPlan) -> None:
    table = Table(title=type(plan.tiling).__name__, title_justify="left", show_header=False)
    cells = [
        (name, f"{value:.9g}" if isinstance(value, float) else str(value))
        for name, value in plan.tiling.as_dict().items()
    ]
    side_by_side = 3 if console.width >= _WIDE else 2
    height = -(-len(cells) // side_by_side)
    for _ in range(side_by_side):
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
    for row in range(height):
        table.add_row(*(text for cell in cells[row::height] for text in cell))
    console.print(table)


def _print_buffers(console: Console, plan: TilingPlan) -> None:
    whole = Buffer("stackBufferSize", 0, plan.stack)
    rows = [
        (buffer.name, str(buffer.start), str(buffer.end), str(buffer.size))
        for buffer in (*plan.buffers, whole)
    ]
    headings = ("part", "start", "end", "size")
    widths = (max(map(len, column)) for column in zip(headings, *rows, strict=True))
    # Each column has a line and two spaces, and there is one line more.
    room = console.width - sum(width + 3 for width in widths) - 4
    scale = _Scale(
        stack=plan.stack,
        whole=max(plan.stack, addressed_bytes(plan.tiling)),
        columns=max(8, min(_BAR, room)),
        mark="\N{FULL BLOCK}" if console.encoding.startswith("utf") else "#",
    )
    table = Table(title="temporary buffer, in bytes", title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "part" else "right")
    table.add_column("to scale", no_wrap=True)
    for row, buffer in zip(rows, plan.buffers, strict=False):
        table.add_row(*row, scale.bar(buffer))
    table.add_section()
    table.add_row(*rows[-1], Text(scale.mark * scale.column(plan.stack), "dim"))
    console.print(table)
    if scale.whole > plan.stack:
        console.print(f"{_OVER} lies behind the end of the buffer.")


class _Scale(NamedTuple):
    """Scale from bytes to columns."""

    stack: int
    whole: int
    columns: int
    mark: str

    def column(self, position: int) -> int:
        return round(position * self.columns / self.whole)

    def bar(self, buffer: Buffer) -> Text:
        """Draw a part where it lies; what lies behind the end of the buffer is marked."""
        start = min(self.column(buffer.start), self.columns - 1)
        length = max(self.column(buffer.end) - start, 1)
        over = 0
        if buffer.end > self.stack:
            over = min(max(self.column(buffer.end) - self.column(self.stack), 1), length)
        return (
            Text(" " * start)
            + Text(self.mark * (length - over), "green")
            + Text(_OVER * over, "bold red")
        )
