# SPDX-License-Identifier: Apache-2.0
"""Functions of device arrays by operators of CANN, as the table of array functions lists them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, UnsupportedError, repr_of, text_of
from pyaclnn.base.spelling import with_article
from pyaclnn.calling.by_name import op
from pyaclnn.calling.declared import snake_name
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.reductions import cast_to, follow, reduce
from pyaclnn.facts.operators.array_functions import array_functions, operators_to_call
from pyaclnn.facts.operators.call_rules import call_rules
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.limits import CATEGORIES
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.reference.kernels.promotion import (
    BFLOAT16,
    category,
    common,
    floating,
    with_number,
)
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.dtypes import dtype_of, holds
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.facts.operators.array_functions import ArrayFunction, OperatorCall
    from pyaclnn.runtime.arithmetic import ArrayFunctions
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["FUNCTIONS", "compute", "ways_to_call"]

_BOOL: Final = np.dtype(np.bool_)
_FLOAT32: Final = np.dtype(np.float32)
_HALF: Final = (np.dtype(np.float16), BFLOAT16)
_NUMBERS: Final = (bool, int, float, complex, np.generic)


class _Prepared(NamedTuple):
    """A call that follows from dtypes and shapes: what is left is to put in the operands.

    Attributes:
        operator: The C name.
        arguments: The arguments of C without the result, as the table has them.
        place: The place of the result among the arguments of C.
        dtype: The dtype of the operands.
        result: The result.
        written: Output of the operator: the result, or one in float32 that is cast to it.
    """

    operator: str
    arguments: tuple[str | float, ...]
    place: int
    dtype: np.dtype[Any]
    result: Empty
    written: Empty


def compute(
    name: str, *operands: Any, out: DeviceArray | None = None, stream: StreamLike | None = None
) -> DeviceArray:
    """Compute a function of arrays on their device, without waiting for it.

    Args:
        name: A name of the table, NumPy's or the array API's.
        *operands: Device arrays, which are broadcast, and numbers, which count by their category
            (bool, integer, float or complex).
        out: Where the result goes; a new array if None. It may be one of the operands.
        stream: Where to queue it, behind whatever has still to write the operands; the default
            stream if None.

    Raises:
        InvalidArgumentError: The operands do not go together, or ``out`` does not fit the result.
        UnsupportedError: No operator of CANN computes the function.
        AclError: CANN refused the call.
    """
    function = array_functions().get(name)
    if function is None or function.is_reduction:
        raise UnsupportedError(_no_function(name, name), routine=name)
    if len(operands) != function.operands:
        wanted = f"{function.operands} operands"
        raise InvalidArgumentError.of(name, "operands", f"{len(operands)} operands", wanted)
    return _compute(
        name, function, [_operand(name, *pair) for pair in enumerate(operands)], out, stream
    )


def ways_to_call(name: str) -> str:
    """Return the calls of ``pyaclnn.aclnn`` for a function of arrays; nothing if there are none."""
    calls = (f"pyaclnn.aclnn.{snake_name(found)}()" for found in operators_to_call().get(name, ()))
    return " or ".join(calls)


def _no_function(name: str, shown: str) -> str:
    ways = ways_to_call(name)
    if ways:
        return (
            f"{shown} takes no device arrays here, though CANN has an operator for it.\n"
            f"Hint: call {ways}, or copy them to the host with .numpy(), and use NumPy's."
        )
    return (
        f"no operator of CANN computes {shown} of device arrays.\n"
        "Hint: copy them to the host with .numpy(), and use NumPy's."
    )


def _operand(name: str, place: int, value: Any) -> Any:
    """Return a device array as it is, and a number as one of Python's."""
    if isinstance(value, DeviceArray):
        return value
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        value = value.item()
    if isinstance(value, (bool, int, float, complex)):
        return value
    raise InvalidArgumentError.of(
        name,
        f"x{place + 1}",
        "a NumPy array" if isinstance(value, np.ndarray) else with_article(type(value).__name__),
        "a DeviceArray or a number",
        "copy it with pyaclnn.to_device(); nothing is copied behind your back.",
    )


def _compute(
    name: str,
    function: ArrayFunction,
    operands: list[Any],
    out: DeviceArray | None,
    stream: StreamLike | None,
) -> DeviceArray:
    leader = next((operand for operand in operands if isinstance(operand, DeviceArray)), None)
    if leader is None:
        raise InvalidArgumentError.of(name, "operands", "numbers", "one device array at least")
    form = tuple(_form_of(function, operand, leader.dtype) for operand in operands)
    try:
        prepared = _prepared(function.names[0], form)
    except ValueError as error:
        given = " and ".join(map(_in_words, operands))
        raise InvalidArgumentError.of(name, "operands", given, text_of(error)) from None
    follow(name, (*operands, out), stream)
    if function.result == "whole" and category(prepared.dtype) in "bi":
        found = cast_to(leader, leader.dtype, stream)
        return found if out is None else _put(name, found, out, stream)
    for place, operand in enumerate(operands):
        if not isinstance(operand, DeviceArray):
            _check_range(name, place, operand, prepared.dtype)
            if prepared.operator == function.on_arrays.operator:
                operands[place] = _filled(operand, prepared.dtype, leader, stream)
        elif operand.dtype != prepared.dtype:
            operands[place] = cast_to(operand, prepared.dtype, stream)
    return _launch(name, prepared, operands, out, stream)


def _launch(
    name: str,
    prepared: _Prepared,
    operands: Sequence[Any],
    out: DeviceArray | None,
    stream: StreamLike | None,
) -> DeviceArray:
    named: dict[str | float, Any] = dict(zip(("x1", "x2"), operands, strict=False))
    given: list[Any] = [named.get(argument, argument) for argument in prepared.arguments]
    result: Any = prepared.written
    is_cast = prepared.written is not prepared.result
    if out is not None:
        _check_out(name, out, prepared.result)
        shared = [a for a in given if isinstance(a, DeviceArray) and a._memory is out._memory]
        in_place = f"aclnnInplace{prepared.operator.removeprefix('aclnn')}"
        fits = out.dtype == prepared.result.dtype and not is_cast
        if fits and not shared:
            result = out
        elif fits and len(shared) == 1 and given[0] is out and in_place in catalogue():
            written: DeviceArray = op(in_place)(*given, stream=stream)
            return written
    given.insert(prepared.place, result)
    found: DeviceArray = op(prepared.operator)(*given, stream=stream)
    if is_cast and out is None:
        return cast_to(found, prepared.result.dtype, stream)
    return found if out is None or found is out else _put(name, found, out, stream)


def _in_words(operand: Any) -> str:
    if isinstance(operand, DeviceArray):
        return f"{operand.dtype} of shape {operand.shape}"
    return repr_of(operand)


def _form_of(function: ArrayFunction, operand: Any, dtype: np.dtype[Any]) -> Any:
    """Return what a call depends on: dtype and shape of an array, category of a number.

    A comparison with an integer that the dtype does not hold is one of int64: ``long``.
    """
    if isinstance(operand, DeviceArray):
        return operand.dtype, operand.shape
    if isinstance(operand, bool):
        return "b"
    if not isinstance(operand, int):
        return "f" if isinstance(operand, float) else "c"
    is_long = function.result == "truth" and category(dtype) == "i" and not holds(dtype, operand)
    return "long" if is_long else "i"


_SAMPLES: Final = {"b": True, "i": 1, "f": 1.0, "c": 1j}


@functools.lru_cache(4096)
def _prepared(name: str, form: tuple[Any, ...]) -> _Prepared:
    """Find the operator, the dtypes and the result of a call.

    Args:
        name: The first name of the function.
        form: The dtype and the shape of each array, and the category of each number.

    Raises:
        ValueError: The operands do not go together; the text is what they must be.
    """
    function = array_functions()[name]
    arrays = [part for part in form if isinstance(part, tuple)]
    dtype = functools.reduce(common, [dtype for dtype, _ in arrays])
    for part in form:
        if part == "long":
            dtype = common(dtype, np.dtype(np.int64))
        elif isinstance(part, str):
            dtype = with_number(dtype, _SAMPLES[part])
    if function.result == "real":
        dtype = floating(dtype)
    shapes = [shape for _, shape in arrays]
    shape = _matmul_shape(shapes) if name == "matmul" else _broadcast(shapes)
    call = function.on_arrays
    if isinstance(form[-1], str) and len(form) > 1:
        call = function.on_right_number or call
    elif isinstance(form[0], str):
        call = function.on_left_number or call
    result = dtype
    if function.result == "truth":
        result = _BOOL
    elif function.result == "magnitude" and dtype.kind == "c":
        result = np.dtype(f"f{dtype.itemsize // 2}")
    [place] = op(call.operator).declared.results
    is_skipped = function.result == "whole" and category(dtype) in "bi"
    kind = result if is_skipped else _written(call, place, dtype, result)
    final = Empty(shape, result)
    written = final if kind == result else Empty(shape, kind)
    return _Prepared(call.operator, call.arguments, place, dtype, final, written)


def _written(
    call: OperatorCall, place: int, dtype: np.dtype[Any], result: np.dtype[Any]
) -> np.dtype[Any]:
    """Return the dtype in which an operator writes a result: float32 if it lacks one of 16 bits.

    Args:
        call: The operator with its arguments.
        place: The place of the result.
        dtype: The dtype of the operands.
        result: The dtype of the function's result.

    Raises:
        ValueError: On no chip does the operator have such operands or such a result; the text is
            the dtypes that it has.
    """
    rules = call_rules(call.operator)
    if rules is None:
        return result
    for at, argument in enumerate(call.arguments):
        words = rules.parameters[at + (at >= place)].types_anywhere
        if isinstance(argument, str) and words is not None and dtype not in _dtypes(words):
            raise ValueError(f"of a dtype that {call.operator} reads: {_listed(words)}")
    words = rules.parameters[place].types_anywhere
    if words is None or result in _dtypes(words):
        return result
    if result in _HALF and "f32" in words:
        return _FLOAT32
    raise ValueError(f"of a dtype that {call.operator} writes: {_listed(words)}")


def _dtypes(words: Iterable[str]) -> set[np.dtype[Any]]:
    return {dtype_of(ARRAYS[word].numpy, "compute") for word in words if word in ARRAYS}


def _listed(words: Iterable[str]) -> str:
    return " or ".join(sorted(ARRAYS[word].numpy for word in words if word in ARRAYS))


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError("of shapes that broadcast") from None


def _matmul_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    one, other = shapes[0], shapes[-1]
    if len(shapes) < 2 or not one or not other or one[-1] != other[-2:][0]:  # noqa: PLR2004
        raise ValueError("matrices, of which the first has as many columns as the second has rows")
    columns = other[-1:] if len(other) > 1 else ()
    return (*_broadcast([one[:-2], other[:-2]]), *one[-2:-1], *columns)


def _check_range(name: str, place: int, number: complex, dtype: np.dtype[Any]) -> None:
    if type(number) is int and category(dtype) == "i" and not holds(dtype, number):
        expected = f"a number that {dtype} holds"
        raise InvalidArgumentError.of(name, f"x{place + 1}", repr_of(number), expected)


def _check_out(name: str, out: DeviceArray, result: Empty) -> None:
    have, want = category(result.dtype), category(out.dtype)
    if out.shape != result.shape or CATEGORIES.index(have) > CATEGORIES.index(want):
        given = f"{out.dtype} of shape {out.shape}"
        expected = f"of shape {result.shape}, and of a dtype to which {result.dtype} is cast safely"
        hint = f"x = x + y makes a new array of {result.dtype}."
        raise InvalidArgumentError.of(name, "out", given, expected, hint)


def _put(name: str, found: DeviceArray, out: DeviceArray, stream: StreamLike | None) -> DeviceArray:
    _check_out(name, out, Empty.of(found.shape, found.dtype))
    op("aclnnInplaceCopy")(out, found, stream=stream)
    return out


def _filled(
    number: complex, dtype: np.dtype[Any], like: DeviceArray, stream: StreamLike | None
) -> DeviceArray:
    """Return an array of one element, on the device of another and in the order of a stream."""
    queue = require_stream("full", stream, like.device)
    layout = Layout.dense(like.device._context, dtype, ())
    made = array_on_loan(queue.pool._take(layout, like.device), like.device)
    op("aclnnInplaceFillScalar")(made, number, stream=stream)
    return made


class _Functions:
    """The implementation of ``ArrayFunctions``."""

    def operate(self, name: str, *operands: Any, out: DeviceArray | None = None) -> Any:
        """Compute a function for a Python operator; ``NotImplemented`` for operands of others."""
        for operand in operands:
            if not isinstance(operand, (DeviceArray, *_NUMBERS, np.ndarray, list, tuple)):
                return NotImplemented
        return compute(name, *operands, out=out)

    def ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Compute a ufunc of NumPy on device arrays."""
        name = ufunc.__name__
        out = options.pop("out", (None,))[0]
        if method == "reduce" and f"{name}.reduce" in array_functions() and out is None:
            unused = ("initial", "where")
            kept = {key: value for key, value in options.items() if key not in unused}
            if len(kept) == len(options):
                return reduce(f"{name}.reduce", inputs[0], **{"axis": 0, **kept})
        if method != "__call__" or options or ufunc.nout != 1:
            called = name if method == "__call__" else f"{name}.{method}"
            more = f" with {', '.join(options)}" if options else ""
            text = _no_function(called, f"numpy.{called}{more}")
            raise UnsupportedError(text, routine=f"numpy.{called}")
        if out is not None and not isinstance(out, DeviceArray):
            given = "a NumPy array"
            raise InvalidArgumentError.of(name, "out", given, "a DeviceArray, or left out")
        return compute(name, *inputs, out=out)


FUNCTIONS: Final[ArrayFunctions] = _Functions()
