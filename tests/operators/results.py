# SPDX-License-Identifier: Apache-2.0
"""Comparison of results of a device with a table: known cases, formulas, layouts in memory."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.mock.protocol.values import Flag
from tests.mock_device.bench import POISON, row_major
from tests.operators.npu import Outcome, numpy_type
from tests.operators.phase_one import of_types, sample
from tests.operators.table import COMPOSITE, FAILS, INDIVIDUAL, NOTHING, UNTOUCHED, Case, Table
from tests.operators.words import Argument, Array, Bools, Ints, Scalar, apply

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from tests.operators.npu import Npu
    from tests.operators.table import Numbers

__all__ = ["TOLERANCE", "case", "formula", "numbers_of", "strides", "without_options"]

TOLERANCE = {"DOUBLE": 2e-5, "FLOAT": 2e-5, "FLOAT16": 4e-3, "BF16": 3e-2}
# Of numbers on both sides of a half, the narrow neighbours.
TOLERANCE |= {"FLOAT8_E4M3FN": 2**-3, "FLOAT8_E5M2": 2**-2, "FLOAT8_E8M0": 0.0}
TOLERANCE |= dict.fromkeys(("INT8", "UINT8", "INT32", "INT64"), 0.0)

OFFSET = 3
"""Elements in front of a strided tensor."""


def case(npu: Npu, table: Table, known: Case) -> Iterator[str]:
    """One call of which everything that is known must hold."""
    arguments = apply(table.arguments, known.changes)
    flags = Flag.DETERMINISTIC if known.deterministic else 0
    reply = npu.check(table, arguments, flags)
    if reply.status != known.code:
        yield f"phase 1 answers {reply.status}, must be {known.code}: {reply.text}"
        return
    if known.launch not in {None, reply.launches}:
        yield f"phase 2 is {reply.launches}, must be {known.launch}: {reply.text}"
    if known.workspace not in {None, reply.workspace_size}:
        yield f"workspace is {reply.workspace_size}, must be {known.workspace}"
    if reply.status == 0 and (known.gives or known.computed):
        outcome = npu.run(table, arguments)
        fails = reply.launches == FAILS
        if bool(outcome.status) != fails:
            yield f"phase 2 answers {outcome.status}"
        idle = fails or reply.launches == NOTHING
        untouched = dict.fromkeys(table.results, UNTOUCHED) if idle else {}
        gives = untouched | dict(known.gives)
        yield from _given(npu, table, known, arguments, outcome, gives)
        if known.computed and not idle and not any(map(_is_empty, arguments.values())):
            rest = {name: value for name, value in outcome.after.items() if name not in gives}
            yield from _by_formula(npu, table, arguments, replace(outcome, after=rest))


def _is_empty(argument: Argument) -> bool:
    return isinstance(argument, Array) and argument.size == 0


def _given(
    npu: Npu,
    table: Table,
    known: Case,
    arguments: Mapping[str, Argument],
    outcome: Outcome,
    gives: Mapping[str, Any],
) -> Iterator[str]:
    silent = table.unwritten.get(npu.chip, ())
    for name, after in outcome.after.items():
        wanted = UNTOUCHED if name in silent or name not in table.results else gives.get(name)
        if isinstance(wanted, str):
            if not _same(after, outcome.before[name]):
                yield f"{name} was {outcome.before[name]}, is {after}"
        elif wanted is not None:
            argument = arguments[name]
            assert isinstance(argument, Array)
            yield from _compared(name, after, wanted, argument.dtype, known)


def _compared(
    name: str, after: NDArray[np.float64], wanted: Any, dtype: str, known: Case
) -> Iterator[str]:
    """Compare with numbers from a table; None there stands for one that is not known."""
    table = np.array(wanted, object)
    mask = np.array([number is not None for number in table.ravel()], bool).reshape(table.shape)
    if table.shape != after.shape:
        yield f"{name} has shape {after.shape}, must have {table.shape}"
        return
    ours, theirs = after[mask], table[mask].astype(np.float64)
    rounded = theirs.astype(numpy_type(dtype))
    if known.exact or dtype in {"INT8", "UINT8", "INT32"}:
        good = _same(ours, rounded.astype(np.float64))
    elif dtype == "FLOAT":
        good = np.allclose(ours, theirs, rtol=known.rtol, atol=known.rtol, equal_nan=True)
    else:
        good = np.allclose(ours, theirs, rtol=TOLERANCE[dtype] / 4, equal_nan=True)
    if not good:
        yield f"{name} is {after.tolist()}, must be {wanted}"


def _same(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    return bool(np.array_equal(ours, theirs, equal_nan=True))


def numbers_of(
    arguments: Mapping[str, Argument], tensors: Mapping[str, NDArray[np.float64]]
) -> Numbers:
    """Arguments as a formula takes them."""
    plain: Numbers = {}
    for name, argument in arguments.items():
        if isinstance(argument, Array):
            plain[name] = tensors[name]
            plain |= {f"{name}.dtype": argument.dtype, f"{name}.format": argument.format}
        elif isinstance(argument, (Ints, Bools)):
            plain[name] = argument.values
        else:
            plain[name] = argument.value if isinstance(argument, Scalar) else argument
    return plain


def _by_formula(
    npu: Npu, table: Table, arguments: Mapping[str, Argument], outcome: Outcome
) -> Iterator[str]:
    """Compare every tensor after a call with the formula, or with what it was before."""
    if outcome.status != 0:
        yield f"phase 1 {outcome.reply.status}, phase 2 {outcome.status}: {outcome.reply.text}"
        return
    with np.errstate(divide="ignore"):
        truth = table.formula(numbers_of(arguments, outcome.before), npu.chip)
    coarsest = max(
        TOLERANCE[argument.dtype] for argument in arguments.values() if isinstance(argument, Array)
    )
    for name, after in outcome.after.items():
        if name not in truth or name in table.unwritten.get(npu.chip, ()):
            if not _same(after, outcome.before[name]):
                yield f"{name} changed from {outcome.before[name]} to {after}"
            continue
        argument = arguments[name]
        assert isinstance(argument, Array)
        wanted = truth[name]
        # A composite operator may cast a narrow intermediate result to a wide dtype.
        own = table.kind == INDIVIDUAL and name not in table.widened
        relative = TOLERANCE[argument.dtype] if own else coarsest
        absolute = (
            1.0 if argument.dtype in {"INT8", "UINT8"} else relative * np.abs(wanted).max(initial=0)
        )
        if not np.allclose(after, wanted, rtol=relative, atol=absolute, equal_nan=True):
            yield f"{name} is off by {np.abs(after - wanted).max()}: {after} for {wanted}"


def _rows_with_kernels(npu: Npu, table: Table, most: int) -> list[tuple[str, ...]]:
    known = table.types
    rows = [
        row
        for row in known.rows[npu.chip]
        if known.fails(npu.chip, dict(zip(known.names, row, strict=True))) is False
    ]
    return sample(rows, most)


def formula(npu: Npu, table: Table, most: int) -> Iterator[str]:
    """Results of the sound call in rows of types, against the formula."""
    for row in _rows_with_kernels(npu, table, most):
        arguments = apply(table.arguments, of_types(table, row))
        for told in _by_formula(npu, table, arguments, npu.run(table, arguments)):
            yield f"{row}: {told}"


def without_options(npu: Npu, table: Table) -> Iterator[str]:
    """The sound call with optional tensors NULL, any of them and all, against the formula."""
    for count in range(1, len(table.optional) + 1):
        for names in combinations(table.optional, count):
            arguments = apply(table.arguments, dict.fromkeys(names))
            for told in _by_formula(npu, table, arguments, npu.run(table, arguments)):
                yield f"without {names}: {told}"


def strides(npu: Npu, table: Table, most: int) -> Iterator[str]:
    """Strided tensors: inputs are read as they lie, composite operators write results so too."""
    column_major = {}
    for name in table.tensors:
        argument = table.base[name]
        assert isinstance(argument, Array)
        turned = row_major(tuple(reversed(argument.shape)))
        gaps = 2 if name not in table.results or table.kind == COMPOSITE else 1
        column_major[name] = (tuple(gaps * step for step in reversed(turned)), OFFSET)
    for row in _rows_with_kernels(npu, table, most):
        arguments = apply(table.arguments, of_types(table, row))
        outcome = npu.run(table, arguments, column_major)
        for name in set(table.results) & set(outcome.after):
            storage, shape = npu.storage(name), outcome.after[name].shape
            if table.kind == INDIVIDUAL:
                # It writes its results densely, whatever their strides say.
                outcome.after[name] = storage[OFFSET:].reshape(shape)
            elif name not in table.updated:
                argument = arguments[name]
                assert isinstance(argument, Array)
                dtype = numpy_type(argument.dtype)
                # A dtype without this number holds NaN, which equals nothing.
                untouched = POISON.astype(dtype)
                equal = np.isnan(storage) if np.isnan(untouched) else storage == untouched
                written = storage.size - np.count_nonzero(equal)
                if written > outcome.after[name].size:
                    yield f"{row}: something between the strides of {name} was written"
        for told in _by_formula(npu, table, arguments, outcome):
            yield f"{row}: {told}"
