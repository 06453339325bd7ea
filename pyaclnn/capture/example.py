# SPDX-License-Identifier: Apache-2.0
"""A recorded call as a test that needs no trace: contents cut down to what shows the difference.

Only parts of the recorded contents are used, never other values, so that the recorded results stay
those of the machine. A part is taken if the element that differs most keeps the value that this
machine computes for it, but for rounding, which depends on shapes. A call that agrees here
keeps all contents: it may differ where the test is run.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from pyaclnn.base.errors import AclError
from pyaclnn.calling.by_name import op
from pyaclnn.calling.declared import python_name
from pyaclnn.calling.empty import Empty
from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.capture.contents import AFTER, BEFORE, ContentsOf
from pyaclnn.capture.descriptors import Descriptors
from pyaclnn.capture.trace import Call, TraceError, bytes_of, read_trace
from pyaclnn.capture.verdict import difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from pyaclnn.capture.descriptors import Launch, Operand

__all__ = ["test_of"]

_LISTED: Final = 8
"""The most elements that are written as numbers; more, unless they are equal, are bytes."""
_ZEROS: Final = re.compile(rb"\0{48,}")
"""Zeros whose number is written instead of them."""

_AGREES: Final = "\n\nIt agreed where this was made: its contents are whole.\n"
_RANDOM: Final = "\n\nRandom numbers depend on shapes: its contents are whole.\n"
_MOST_CUTS: Final = 64
"""The most combinations of axes that are tried."""
_Place: TypeAlias = tuple[str, int]
"""The name of an argument, and the place in its list."""
_SIZES: Final = ("", 0)
"""The place of sizes in lists of numbers."""
_NUMBERS: Final = re.compile(r"0x[0-9a-f]+|\d+")
"""Parts of a message that differ from run to run, and from shape to shape."""


class _Example(NamedTuple):
    """A call as Python makes it: its name, its arguments, what it writes, and what came out.

    Attributes:
        remark: A sentence about its contents, or empty.
    """

    name: str
    arguments: dict[str, Any]
    written: tuple[str, ...]
    results: dict[str, Any]
    status: int
    remark: str = ""


def test_of(path: Path, number: int) -> str:
    """Return the source of a test of one call.

    Args:
        path: The trace of one process, with contents in full.
        number: The number of the call, of either phase of an operator.

    Raises:
        TraceError: It has no such call, no operator is called by it, or the contents are missing.
    """
    with ContentsOf.of(path, bytes_of(path)) as contents:
        example = _example(path, number, contents)
    if example.status == 0:
        is_random = any(name.startswith("seed") for name in example.arguments)
        example = _without_unwritten(example)
        example = example._replace(remark=_RANDOM) if is_random else _shrink(example)
    return _source(example, number)


def _example(path: Path, number: int, contents: ContentsOf) -> _Example:
    descriptors = Descriptors()
    listed = f"'pyaclnn trace show {path}' lists them"
    wanted: int | None = None
    launch: Launch | None = None
    for call in read_trace(path):
        if not isinstance(call, Call):
            continue
        descriptors.learn(call)
        if call.number == number and call.name.endswith(PHASE_1):
            launch = descriptors.launched(call)
            if call.failed:
                return _of_launch(launch, descriptors, {}, {}, call.status)
            wanted = call.handle("executor")
        is_second = call.letters.get("executor") == "h"
        if is_second and (call.number == number or call.handle("executor") == wanted):
            launch = descriptors.launch(call)
            if launch is not None:
                for absent in () if call.failed else contents.absent(call.number, BEFORE):
                    reason = f"the contents of {absent.name} were not recorded: {absent.reason}"
                    raise TraceError(reason)
                before, after = (
                    {(c.place, c.element): c.data for c in contents.take(call.number, phase)}
                    for phase in (BEFORE, AFTER)
                )
                return _of_launch(launch, descriptors, before, after, call.status)
        elif call.number == number and not call.name.endswith(PHASE_1):
            raise TraceError(f"call {number} is {call.name}, which calls no operator; {listed}")
    if wanted is not None:
        raise TraceError(f"call {number} is a first phase, and no second phase of it was recorded")
    raise TraceError(f"{path.name} has no call {number} of an operator; {listed}")


def _of_launch(
    launch: Launch,
    descriptors: Descriptors,
    before: dict[tuple[int, int], bytes | None],
    after: dict[tuple[int, int], bytes | None],
    status: int,
) -> _Example:
    call = launch.call
    arguments: dict[str, Any] = {}
    results: dict[str, Any] = {}
    written = []
    for place, (name, value) in enumerate(call.arguments.items()):
        letter, given = call.letters[name], python_name(name)
        if name in {"workspaceSize", "executor"}:
            continue
        if letter[0] not in "tT":
            arguments[given] = descriptors.value(letter[0], value)
            continue
        operands = [o for o in launch.operands if o.parameter == place]
        arrays = [
            _array(o, letter, before.get((place, o.element)), known=not status, of=launch.name)
            for o in operands
        ]
        data = after.get((place, 0))
        if data is not None and letter[0] == "t":
            results[given] = np.frombuffer(data, arrays[0].dtype).reshape(arrays[0].shape)
        if letter[1:2] in {">", "="} and operands:
            written.append(given)
        arguments[given] = arrays if letter[0] == "T" else arrays[0] if arrays else None
    if not any(isinstance(array, np.ndarray) for _, array in _arrays(arguments)):
        # Without an array of NumPy, the operator would return one of the device.
        arguments = {
            name: np.zeros(value.shape, value.dtype) if isinstance(value, Empty) else value
            for name, value in arguments.items()
        }
    return _Example(launch.name, arguments, tuple(written), results, status)


def _array(operand: Operand, letter: str, data: bytes | None, *, known: bool, of: str) -> Any:
    dtype, shape, name = operand.tensor.dtype, operand.tensor.shape, operand.name
    if dtype is None:
        code = operand.tensor.acl_type
        raise TraceError(f"{name} has the aclDataType {code}, which NumPy does not know")
    if letter[1:2] == ">":
        return Empty(shape, dtype)
    if data is None and operand.tensor.span and known:
        reason = f"the contents of {name} were not recorded in full"
        raise TraceError(f"{reason}; capture with --contents full, or --full {of}")
    return np.zeros(shape, dtype) if data is None else np.frombuffer(data, dtype).reshape(shape)


def _run(example: _Example) -> dict[str, Any] | str:
    """Return what this machine answers: the written arrays by name, or its failure in words."""
    given = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in example.arguments.items()
    }
    try:
        found = op(example.name)(**given)
    except AclError as error:
        return _NUMBERS.sub("", str(error))
    results = found if isinstance(found, tuple) else (found,)
    return dict(zip(example.written, results, strict=False))


def _without_unwritten(example: _Example) -> _Example:
    """Leave out the results that the operator does not write: a mask may turn some of them off."""
    runs = []
    for byte in (0, 255):
        filled = {
            name: np.full(math.prod(value.shape) * np.dtype(value.dtype).itemsize, byte, np.uint8)
            .view(value.dtype).reshape(value.shape) if isinstance(value, Empty) else value
            for name, value in example.arguments.items()
        }  # fmt: skip
        here = _run(example._replace(arguments=filled))
        if isinstance(here, str):
            return example
        left = ((name, {*np.asarray(here[name]).tobytes()} == {byte}) for name in here)
        runs.append({name for name, alone in left if alone})
    unwritten = set.intersection(*runs)
    kept = {name: value for name, value in example.results.items() if name not in unwritten}
    return example._replace(results=kept or example.results)


def _differs(name: str, example: _Example, here: dict[str, Any]) -> tuple[int, ...] | None:
    found = difference(example.results[name], np.asarray(here[name]))
    return found[0] if found is not None else None


def _shrink(example: _Example) -> _Example:
    here = _run(example)
    there = [name for name in example.results if example.results[name].size]
    if not there:
        return example
    name, place = there[0], None
    if not isinstance(here, str):
        worst = [(name, _differs(name, example, here)) for name in there if name in here]
        name, place = next((w for w in worst if w[1] is not None), (name, None))
        if place is None:
            return example._replace(remark=_AGREES)
    element = place or (0,) * example.results[name].ndim
    recorded = example.results[name][element]
    wanted = here if isinstance(here, str) else (recorded, here[name][element])
    for axis, size in enumerate(example.results[name].shape):
        windows = itertools.product(_windows(size, element[axis]), _cuts(example, name, axis))
        for (first, width), cut in windows:
            smaller = _part(example, size, slice(first, first + width), cut)
            moved = (*element[:axis], element[axis] - first, *element[axis + 1 :])
            if _still(wanted, name, smaller, moved):
                example, element = smaller, moved
                break
    return example


def _windows(size: int, place: int) -> list[tuple[int, int]]:
    """Return beginnings and lengths of parts of an axis that have an element, the shortest first.

    They begin with it, or with the axis: kernels may be wrong at a place.
    """
    widths = itertools.takewhile(size.__gt__, (1 << n for n in itertools.count()))
    found = {(min(place, size - width), width) for width in widths}
    if place + 1 < size:
        found.add((0, place + 1))
    return sorted(found, key=lambda window: window[1])


def _still(
    wanted: str | tuple[Any, Any], name: str, example: _Example, element: tuple[int, ...]
) -> bool:
    """Return whether an element still differs as wanted, or this machine fails in the same words.

    Args:
        wanted: The failure; or the recorded value of the element, and that of this machine.
        name: The result of the element.
        example: The call.
        element: The index of the element.
    """
    here = _run(example)
    if isinstance(here, str) or isinstance(wanted, str):
        return here == wanted
    recorded, value = wanted
    return (
        example.results[name][element].tobytes() == recorded.tobytes()
        and here[name].shape == example.results[name].shape
        and difference(*map(np.atleast_1d, (value, here[name][element]))) is None
        and _differs(name, example, here) is not None
    )


def _arrays(arguments: Mapping[str, Any]) -> Iterator[tuple[_Place, NDArray[Any] | Empty]]:
    for name, value in arguments.items():
        for place, array in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(array, (np.ndarray, Empty)):
                yield (name, place), array


def _cuts(example: _Example, name: str, axis: int) -> Iterator[dict[_Place, int | None]]:
    """Yield the axis of each array that may become shorter with one of a result.

    Those that are aligned with it from the right come first, as broadcasting has it.
    """
    shape = example.results[name].shape
    choices: list[list[tuple[_Place, int | None]]] = []
    for place, array in _arrays(example.arguments):
        if place[0] == name:
            choices.append([(place, axis)])
            continue
        other = tuple(array.shape)
        aligned = axis - len(shape) + len(other)
        same = [n for n, size in enumerate(other) if size == shape[axis]]
        likely = [n for n in same if n == aligned]
        choices.append([(place, n) for n in (*likely, None, *(n for n in same if n != aligned))])
    lists = [value for value in example.arguments.values() if isinstance(value, list)]
    listed = any(isinstance(each, int) and each == shape[axis] for v in lists for each in v)
    choices.append([(_SIZES, 0), (_SIZES, None)] if listed else [(_SIZES, None)])
    return map(dict, itertools.islice(itertools.product(*choices), _MOST_CUTS))


def _part(example: _Example, size: int, part: slice, cut: Mapping[_Place, int | None]) -> _Example:
    """Take a part of an axis of each array."""

    def of(value: Any, place: _Place) -> Any:
        if isinstance(value, list):
            return [of(each, (place[0], n)) for n, each in enumerate(value)]
        if isinstance(value, int) and value == size and cut[_SIZES] is not None:
            return part.stop - part.start
        axis = cut.get(place)
        if axis is None:
            return value
        if isinstance(value, Empty):
            shape = (*value.shape[:axis], part.stop - part.start, *value.shape[axis + 1 :])
            return Empty(shape, value.dtype)
        return np.ascontiguousarray(value[(slice(None),) * axis + (part,)])

    arguments, results = (
        {name: of(value, (name, 0)) if not isinstance(value, int) else value
         for name, value in each.items()}
        for each in (example.arguments, example.results)
    )  # fmt: skip
    return example._replace(arguments=arguments, results=results)


def _source(example: _Example, number: int) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", example.name).lower()
    given = example.arguments
    lines = [f"{name} = {_text(value)}" for name, value in given.items()]
    call = f'pyaclnn.op("{example.name}")({", ".join(f"{name}={name}" for name in given)})'
    if example.status:
        body = [*lines, "with pytest.raises(pyaclnn.AclError) as error:", f"    {call}",
                f"assert error.value.code == {example.status}"]  # fmt: skip
    else:
        names = ", ".join(f"found_{name}" for name in example.written)
        body = [*lines, f"{names} = {call}"]
        for name, value in example.results.items():
            body += [f"recorded = {_text(value)}",
                     f"verdict = accuracy.judge(found_{name}, recorded)",
                     "assert verdict.passed, verdict"]  # fmt: skip
    text = "\n".join(body)
    imports = ["import ml_dtypes"] * ("ml_dtypes." in text) + ["import numpy as np"]
    imports += ["import pytest"] * ("pytest." in text) + ["", "import pyaclnn"]
    used = [name for name in ("Empty", "accuracy") if f"{name}(" in text or f"{name}." in text]
    imports += [f"from pyaclnn import {', '.join(used)}"] if used else []
    head = f'"""{example.name}, as call {number} of a captured program.{example.remark}"""'
    test = f"def test_{snake}_of_call_{number}() -> None:\n{textwrap.indent(text, '    ')}"
    return "\n".join([head, "", *imports, "", "", test, ""])


def _text(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(v, (np.ndarray, Empty)) for v in value):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, Empty):
        return f"Empty({tuple(value.shape)!r}, {_dtype(np.dtype(value.dtype))})"
    return _array_text(value) if isinstance(value, np.ndarray) else repr(value)


def _array_text(value: NDArray[Any]) -> str:
    dtype = _dtype(value.dtype)
    shape, whole = tuple(value.shape), value.tobytes()
    if not any(whole):
        return f"np.zeros({shape!r}, {dtype})"
    if value.dtype.kind in "fbiuV":  # those of ml_dtypes are V
        part = value if value.size <= _LISTED else value.reshape(-1)[0]
        # The shortest decimals of a dtype are longer in that of Python.
        short = part.astype(str).astype(float) if value.dtype.kind == "f" else part
        listed = short.tolist()
        made = np.full(shape, listed, value.dtype)
        if made.tobytes() == whole:
            numbers = re.sub(r"\b(nan|inf)\b", r"np.\1", repr(listed))
            if value.size <= _LISTED:
                return f"np.array({numbers}, {dtype})"
            return f"np.full({shape!r}, {numbers}, {dtype})"
    reshape = f".reshape({', '.join(map(str, shape))})" if value.ndim != 1 else ""
    return f"np.frombuffer({_bytes(whole, value.itemsize)}, {dtype}){reshape}.copy()"


def _bytes(whole: bytes, size: int) -> str:
    """Return elements of a size as an expression: of long runs of zeros, the number of bytes."""
    words, end = [], 0
    for zeros in [*_ZEROS.finditer(whole), None]:
        begin = len(whole) if zeros is None else -(-zeros.start() // size) * size
        lines = textwrap.wrap(whole[end:begin].hex(), 80)
        inside = "".join(f'\n    "{line}"' for line in lines)
        words += [f"bytes.fromhex({inside}\n)"] * bool(lines)
        if zeros is not None:
            end = zeros.end() // size * size
            words.append(f"bytes({end - begin})")
    return " + ".join(words)


def _dtype(dtype: np.dtype[Any]) -> str:
    name = dtype.name
    return f"np.{'bool_' if name == 'bool' else name}" if hasattr(np, name) else f"ml_dtypes.{name}"
