# SPDX-License-Identifier: Apache-2.0
"""The arrays of a call: what they are, whether they lie together, and that results lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.base.spelling import with_article
from pyaclnn.facts.operators.operator import Build
from pyaclnn.runtime.array import DeviceArray, phantom_of
from pyaclnn.runtime.dlpack import is_foreign
from pyaclnn.runtime.dtypes import DTYPES
from pyaclnn.runtime.host import as_numpy
from pyaclnn.runtime.shapes import overlap
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Tensor
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.stream import Stream

__all__ = [
    "Array",
    "check_arrays",
    "check_overlap",
    "given_results",
    "refuse_array",
    "require_array",
    "require_arrays",
    "require_writable",
]

Array: TypeAlias = "NDArray[Any] | DeviceArray"

_PLAIN = (int, float, tuple, list, np.generic)


def require_arrays(operator: Operator, given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays among the arguments by name, those left out left out.

    Raises:
        InvalidArgumentError: One is something else, or None although it is needed.
    """
    found: dict[str, Array] = {}
    for tensor in operator.tensors:
        if tensor.read and not (tensor.optional and given[tensor.name] is None):
            value = given[tensor.name]
            is_array = isinstance(value, (np.ndarray, DeviceArray))
            dtype = "float32" if is_array else _usual_dtype(operator, tensor)
            found[tensor.name] = require_array(operator.name, tensor.name, value, dtype=dtype)
    return found


def _usual_dtype(operator: Operator, tensor: Tensor) -> str:
    """Return float32 if a tensor may have it, the first dtype of its own otherwise."""
    kinds = operator.types.allowed(tensor.type, {})
    return "float32" if "f32" in kinds else DTYPES[kinds[0]].name


def require_array(
    routine: str,
    name: str,
    value: object,
    expected: str = "a NumPy array or a DeviceArray",
    *,
    dtype: str = "float32",
) -> Array:
    """Return an array, one of another library in the host's memory as NumPy's.

    Args:
        routine: The public function, for messages.
        name: The argument's name.
        value: The caller's argument.
        expected: Description of a valid value.
        dtype: The dtype that a hint suggests.

    Raises:
        InvalidArgumentError: It is something else, has a mask, or lies elsewhere.
    """
    if isinstance(value, DeviceArray):
        return value
    return as_numpy(routine, name, value, expected, dtype)


def refuse_array(operator: Operator, given: Mapping[str, Any], wrong: InvalidArgumentError) -> None:
    """Refuse an array that was given for an option, with the order of the arguments.

    Args:
        operator: The called operator.
        given: The arguments by their Python names.
        wrong: The refused argument.

    Raises:
        InvalidArgumentError: An array was given for the option.
    """
    name = str(wrong.argument)
    value = given[name]
    if not (isinstance(value, np.ndarray) or is_foreign(value)) or not getattr(value, "ndim", 0):
        return
    what = f"an array of {value.dtype} and shape {tuple(value.shape)}"
    others = [t.name for t in operator.inputs if isinstance(given[t.name], _PLAIN)]
    hint = f"the order is {operator.name}({', '.join(operator.positional)})."
    if others:
        hint = f"'{name}' and '{others[0]}' are in each other's place; {hint}"
    raise InvalidArgumentError.of(operator.name, name, what, str(wrong.expected), hint) from None


def given_results(operator: Operator, out: object, wants: Mapping[str, bool]) -> dict[str, Array]:
    """Require one entry of ``out`` for each result, and None for those that are not wanted.

    Args:
        operator: The called operator.
        out: The ``out`` argument; of an operator with one result, also the array itself.
        wants: Which results are wanted.

    Returns:
        The arrays that are given, as ``out: name``.

    Raises:
        InvalidArgumentError: An entry is missing, too many, or no array.
    """
    if out is None:
        return {}
    names = tuple(wants)
    if len(names) == 1 and isinstance(out, (np.ndarray, DeviceArray)):
        out = (out,)
    if not isinstance(out, (tuple, list)) or len(out) != len(names):
        length = f" of {len(out)}" if isinstance(out, (tuple, list)) else ""
        expected = f"a tuple of {len(names)}, arrays or None: {', '.join(names)}"
        given = f"{with_article(type(out).__name__)}{length}"
        hint = None
        if isinstance(out, (np.ndarray, DeviceArray)):
            hint = f"write out=(array{', None' * (len(names) - 1)}) for {names[0]} alone."
        raise InvalidArgumentError.of(operator.name, "out", given, expected, hint)
    entries = {f"out: {name}": entry for name, entry in zip(names, out, strict=True)}
    for (name, entry), wanted in zip(entries.items(), wants.values(), strict=True):
        if entry is not None and not wanted:
            why = f"{operator.mask.name} leaves it out" if operator.mask else "it is not computed"
            expected = f"None, because {why}"
            raise InvalidArgumentError.of(operator.name, name, "an array", expected)
    there = {name: entry for name, entry in entries.items() if entry is not None}
    return {name: require_array(operator.name, name, entry) for name, entry in there.items()}


def check_arrays(
    routine: str, arrays: Mapping[str, Array], stream: StreamLike | None
) -> tuple[bool, Stream | None]:
    """Check that all arrays lie on the host, or all on one device, and fit the stream.

    Args:
        routine: The public function, for messages.
        arrays: All arrays that are there, by name.
        stream: The ``stream`` argument.

    Returns:
        True if they lie on the host; and the stream, one of another library borrowed, if any.

    Raises:
        InvalidArgumentError: They do not.
    """
    on_device = {k: v for k, v in arrays.items() if isinstance(v, DeviceArray)}
    if on_device and len(on_device) != len(arrays):
        names = [name for name in arrays if name not in on_device]
        host, device = (", ".join(f"'{name}'" for name in side) for side in (names, on_device))
        raise InvalidArgumentError.of(
            routine,
            names[0],
            f"a NumPy array, while others are device arrays (host: {host}; device: {device})",
            "of the same kind as the others",
            "copy with to_device() or .numpy(); nothing is copied behind your back.",
        )
    first = next(iter(on_device.items()), None)
    for name, array in on_device.items():
        if array.closed:
            given = "a device array whose memory was given back"
            raise InvalidArgumentError.of(routine, name, given, "an open device array")
        if first is not None and array.device.id != first[1].device.id:
            expected = f"on device {first[1].device.id}, like '{first[0]}'"
            raise InvalidArgumentError.of(routine, name, f"on device {array.device.id}", expected)
    if stream is None:
        return not on_device, None
    place = None if first is None else first[1].device
    return not on_device, require_stream(routine, stream, place)


def check_overlap(routine: str, name: str, arrays: Mapping[str, Array]) -> None:
    """Check that an array that is written lies apart from itself and from all others.

    Raises:
        InvalidArgumentError: It does not.
    """
    mine = _layout(arrays[name])
    if not _is_injective(mine):
        given = f"an array that overlaps itself (strides {arrays[name].strides})"
        expected = "an array whose elements lie apart"
        raise InvalidArgumentError.of(routine, name, given, expected)
    for other_name, other in arrays.items():
        if other_name != name and overlap(mine, _layout(other)):
            given = f"an array that shares memory with '{other_name}'"
            raise InvalidArgumentError.of(routine, name, given, "an array apart from all others")


def require_writable(operator: Operator, name: str, array: Array) -> None:
    """Require an array that the operator can write, on a device as the operator writes it.

    Raises:
        InvalidArgumentError: It is read-only, or not contiguous for an operator that writes only
            such arrays.
    """
    if isinstance(array, np.ndarray):
        if not array.flags.writeable:
            raise InvalidArgumentError.of(operator.name, name, "read-only", "writable")
    elif operator.build is Build.INDIVIDUAL and not array.is_contiguous:
        given = f"not contiguous (strides {array.strides})"
        raise InvalidArgumentError.of(operator.name, name, given, "contiguous")


def _layout(array: Array) -> NDArray[Any]:
    return phantom_of(array) if isinstance(array, DeviceArray) else array


def _is_injective(layout: NDArray[Any]) -> bool:
    """Return whether no two elements share memory, for any layout that slicing can make."""
    if not layout.size:
        return True
    axes = [(abs(s), n) for s, n in zip(layout.strides, layout.shape, strict=True) if n > 1]
    reach = layout.itemsize
    for step, length in sorted(axes):
        if step < reach:
            return False
        reach = step * (length - 1) + reach
    return True
