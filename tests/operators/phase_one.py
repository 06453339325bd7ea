# SPDX-License-Identifier: Apache-2.0
"""Comparison of phase 1 of a device with a table: codes, their order, types, formats."""

from __future__ import annotations

import random
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING

from tests.operators.table import FAILS, INVALID, KERNELS, NOTHING, Table
from tests.operators.words import BF16, F16, F32, FORMATS, TYPES, Changed, Changes, Dtype, apply

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyaclnn.mock.protocol.wire import CheckReply
    from tests.operators.npu import Npu

__all__ = ["elsewhere", "layouts", "mistakes", "pairs", "sample", "sound", "types", "unconfigured"]


_FLOATS = {F32, F16, BF16}
_MIXTURES = 180


def _refused(reply: CheckReply, code: int, says: str = "") -> bool:
    """Return whether a reply is this refusal, names the argument and allocates nothing."""
    told = reply.text.startswith("EZ") and says in reply.text
    return reply.status == code and told and not (reply.launches or reply.workspace_size)


def _told(name: str, reply: CheckReply, wanted: object) -> str:
    return f"{name}: must be {wanted}, is {reply.status} launches {reply.launches}: {reply.text}"


def sound(npu: Npu, table: Table) -> Iterator[str]:
    """The sound call, which every chip accepts."""
    reply = npu.check(table, table.arguments)
    if reply.status != 0 or (reply.text and reply.launches != FAILS):
        yield _told("sound call", reply, 0)
    if reply.executor_kind != table.kind:
        yield f"executor is of kind {reply.executor_kind}, must be {table.kind}"


def mistakes(npu: Npu, table: Table) -> Iterator[str]:
    """Every mistake for itself."""
    for _, step, mistake in table.mistakes(npu.chip):
        reply = npu.check(table, apply(table.arguments, mistake.changes))
        if not _refused(reply, step.code, mistake.says):
            yield _told(mistake.name, reply, (step.code, mistake.says))


def pairs(npu: Npu, table: Table) -> Iterator[str]:
    """Every two mistakes of different steps: that of the earlier step answers."""
    for mistake, other, step in table.pairs(npu.chip):
        reply = npu.check(table, apply(table.arguments, mistake.changes, other.changes))
        named = (mistake.says,) if step.named else (mistake.says, other.says)
        if not any(_refused(reply, step.code, says) for says in named):
            yield _told(f"{mistake.name} and {other.name}", reply, (step.code, *named))


def unconfigured(npu: Npu, table: Table) -> Iterator[str]:
    """A chip without the operator answers at its step, also if there is nothing to do."""
    number, code = next(
        (number, step.code)
        for number, step in enumerate(table.steps)
        if npu.chip in step.unconfigured
    )
    idle = {case.name: case.changes for case in table.cases if case.launch == NOTHING}
    for name, changes in {"sound call": {}, **idle}.items():
        reply = npu.check(table, apply(table.arguments, changes))
        if not _refused(reply, code):
            yield _told(name, reply, code)
    for position, step, mistake in table.mistakes(npu.chip):
        reply = npu.check(table, apply(table.arguments, mistake.changes))
        expected = step.code if position < number else code
        if not _refused(reply, expected):
            yield _told(mistake.name, reply, expected)


def elsewhere(npu: Npu, table: Table) -> Iterator[str]:
    """A chip that does not have the operator runs no kernel, whoever says so, if anybody does."""
    reply = npu.check(table, table.arguments)
    if reply.status == 0 and reply.launches == KERNELS:
        yield _told("sound call", reply, "refused")


def sample(rows: Sequence[tuple[str, ...]], most: int) -> list[tuple[str, ...]]:
    """Some of the rows, the same every time."""
    return list(rows) if len(rows) <= most else random.Random(0).sample(rows, most)


def of_types(table: Table, row: tuple[str, ...]) -> Changes:
    """Return the changes that give the tensors the dtypes of a row."""
    named = dict(zip(table.types.names, row, strict=True))
    changes: dict[str, Changed | Dtype] = {
        name: Changed(dtype=dtype) for name, dtype in named.items()
    }
    return changes | {name: Dtype(named[source]) for name, source in table.types.follows.items()}


def types(npu: Npu, table: Table, most: int) -> Iterator[str]:
    """Rows, and every row beside one in which a single tensor has any other type.

    Args:
        npu: The device.
        table: The operator.
        most: How many of the rows are tried, if there are more.
    """
    known = table.types
    for row in sample(known.rows[npu.chip], most):
        reply = npu.check(table, apply(table.arguments, of_types(table, row)))
        fails = known.fails(npu.chip, dict(zip(known.names, row, strict=True)))
        launch = reply.launches if fails is None else (KERNELS, FAILS)[fails]
        if (reply.status, reply.launches) != (0, launch):
            yield _told(str(row), reply, (0, launch))
    for row in _beside(table, npu.chip, most):
        reply = npu.check(table, apply(table.arguments, of_types(table, row)))
        if not _refused(reply, known.code):
            yield _told(str(row), reply, known.code)


def _beside(table: Table, chip: str, most: int) -> Iterator[tuple[str, ...]]:
    """Rows that are refused: one type away from a row, a row of another chip, or any mixture."""
    known = table.types
    near = sample(known.rows[chip], most // 8)
    single = (
        (*row[:place], dtype, *row[place + 1 :])
        for row in near
        for place in range(len(row))
        for dtype in TYPES
    )
    elsewhere = (row for rows in known.rows.values() for row in sample(rows, most))
    used = sorted({dtype for rows in known.rows.values() for row in rows for dtype in row})
    draw = random.Random(1)
    mixed = (tuple(draw.choices(used, k=len(known.names))) for _ in range(8 * most))
    joint = _joint(known.rows.values(), draw, _MIXTURES)
    skipped = {*known.rows[chip], *known.unknown}
    listed = known.listed.get(chip, frozenset())
    for row in chain(single, elsewhere, mixed, joint):
        if row not in skipped and not (listed and listed.issuperset(row)):
            skipped.add(row)
            yield row


def _joint(
    known: Iterable[tuple[tuple[str, ...], ...]], draw: random.Random, most: int
) -> Iterator[tuple[str, ...]]:
    """Mixtures in which tensors that always have one type have one: each once, if they are few."""
    columns = list(zip(*(row for rows in known for row in rows), strict=True))
    words = {column: sorted({*column} | ({*column} & _FLOATS and _FLOATS)) for column in columns}
    mixtures: Iterable[tuple[str, ...]]
    if prod(map(len, words.values())) <= most:
        mixtures = product(*words.values())
    else:
        mixtures = (tuple(map(draw.choice, words.values())) for _ in range(most))
    places = [list(words).index(column) for column in columns]  # a column is thousands of words
    for chosen in mixtures:
        yield tuple(chosen[place] for place in places)


def layouts(npu: Npu, table: Table) -> Iterator[str]:
    """Every format on the tensors for which that is known."""
    for layout in table.layouts:
        if npu.chip not in layout.chips:
            continue
        for form in FORMATS:
            formats = {name: Changed(format=form) for name in layout.names}
            reply = npu.check(table, apply(table.arguments, layout.changes, formats))
            if form in layout.accepted:
                if reply.status != 0:
                    yield _told(f"{form} {layout.names}", reply, 0)
            elif not _refused(reply, INVALID):
                yield _told(f"{form} {layout.names}", reply, INVALID)
