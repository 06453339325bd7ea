# SPDX-License-Identifier: Apache-2.0
"""Operators whose kernels are NumPy functions, and operators that have none yet."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn.base.errors import text_of
from pyaclnn.facts.operators.call_rules import call_rules
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.mock.operators.arguments import check_arguments
from pyaclnn.mock.operators.blocks import blocks_of
from pyaclnn.mock.operators.complex32 import from_words, is_complex32, to_words, words_of
from pyaclnn.mock.operators.data_errors import data_error_text
from pyaclnn.mock.operators.kernel_call import KernelCall
from pyaclnn.mock.operators.limits import typed_items
from pyaclnn.mock.operators.missing_kernel import kernel_missing
from pyaclnn.mock.operators.moved_types import MOVING, with_stand_ins
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Plan,
    RefusalError,
    Work,
)
from pyaclnn.mock.operators.outputs import poison_output
from pyaclnn.mock.operators.pairs import (
    bytes_of,
    can_write_pairs,
    is_paired,
    paired,
    read_pairs,
)
from pyaclnn.mock.operators.result_memory import result_memory
from pyaclnn.mock.operators.trial import MisfitError, require_fit, try_kernel
from pyaclnn.mock.protocol.dtypes import data_type_name, type_word
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import RANKS_SHIFT, Tensor
from pyaclnn.reference.kernels.functions.exchange import Group, GroupError, within
from pyaclnn.reference.kernels.kernel import KernelLimitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pyaclnn.mock.operators.arguments import Signature
    from pyaclnn.mock.operators.kernel_call import Result
    from pyaclnn.mock.operators.operator import Setting, Shapes
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Value
    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["operator_of_kernel", "operator_without_kernel", "write_shorter"]


class Given(NamedTuple):
    """The arguments of a call by their C names."""

    values: dict[str, Value]


def operator_without_kernel(signature: Signature) -> Operator[Given]:
    """Make an operator that checks its arguments, and then reports how to add a kernel."""
    text = kernel_missing(signature.name)

    def check(given: Given, setting: Setting) -> Plan:
        check_arguments(signature, given.values, setting.chip)
        raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, text)

    def kernels(_given: Given, _memory: DeviceMemory) -> Work:
        raise RuntimeError(text)

    return _operator(signature, check, kernels)


def operator_of_kernel(signature: Signature, kernel: Kernel) -> Operator[Given]:
    """Make an operator of a NumPy function."""
    call = KernelCall(signature, kernel)

    def check(given: Given, setting: Setting) -> Plan:
        check_arguments(signature, given.values, setting.chip, kernel)
        given = Given(with_stand_ins(signature.name, given.values))
        _check_arrays(signature, given)
        ranks = setting.flags >> RANKS_SHIFT
        try:
            with within(Group(ranks) if ranks else None):
                try_kernel(call, given.values)
        except GroupError as error:
            raise RefusalError(Status.INNER_TILING, f"EZ9999: {signature.name}: {error}") from error
        except (ValueError, TypeError, IndexError) as error:
            return _refused(call, given, error)
        return Plan(launch=Launch.KERNELS)

    def kernels(given: Given, memory: DeviceMemory) -> Work:
        moved = Given(with_stand_ins(signature.name, given.values))
        return _bound(call, moved, memory)

    any_scalars = kernel.any_scalars and not MOVING.get(signature.name)
    return replace(_operator(signature, check, kernels), any_scalars=any_scalars)


def _refused(call: KernelCall, given: Given, error: Exception) -> Plan:
    """Return the plan of a call that CANN ends early, although the trial of its kernel failed.

    Raises:
        KernelLimitError: A kernel of this project lacks an argument that may be NULL, or NumPy does
            not compute with a data type that the rules of the call list.
        RefusalError: With 161002, for everything else.
    """
    name = call.signature.name
    if _is_idle(name, given) and not isinstance(error, MisfitError):
        return Plan()
    lacked = _lacked(call, given)
    if lacked:
        why = f"its own needs {' and '.join(lacked)}"
        raise KernelLimitError(kernel_missing(name, why)) from error
    if isinstance(error, TypeError) and call.is_own and call_rules(name) is not None:
        why = f"its own does not take these arguments ({text_of(error)})"
        raise KernelLimitError(kernel_missing(name, why)) from error
    raise RefusalError(Status.PARAM_INVALID, f"{name}: {text_of(error)}") from error


def _bound(call: KernelCall, given: Given, memory: DeviceMemory) -> Work:
    """Bind a call to device memory."""
    signature, kernel = call
    arrays: dict[str, NDArray[Any]] = {}
    copied = []

    def readable(name: str, tensor: Tensor) -> NDArray[Any]:
        array = _array(memory, name, tensor)
        array.flags.writeable = False
        if array.flags.owndata or is_paired(tensor) or is_complex32(tensor):
            copied.append(name)
        arrays[name] = array
        return array

    def failure(error: Exception) -> DeviceMemoryError:
        # Other runs of the call have moved the tensors since; the arrays are where they were.
        seen = {n: value if n in arrays else None for n, value in given.values.items()}
        text = data_error_text(error, signature, seen, lambda name, _: arrays[name])
        return DeviceMemoryError(text)

    try:
        results = call.bound(given.values, readable)
    except (ValueError, TypeError, IndexError) as error:
        raise failure(error) from error
    writer = _Writer(call, given.values, memory)

    def run() -> Shapes:
        try:
            written = results(writer.memory_of_results)
            others = [each for each in written if each.array.shape != each.tensor.dims]
            for result in others:
                require_fit(result, shrinks=kernel.shrinks)
        except (ValueError, TypeError, IndexError) as error:
            if isinstance(error, TypeError) and call.is_own:  # too large to be tried in phase 1
                why = f"its own does not take these arguments ({text_of(error)})"
                raise KernelLimitError(kernel_missing(signature.name, why)) from error
            raise failure(error) from error
        writer.write(written)
        return [(each.tensor, each.array.shape) for each in others]

    return Work(run, is_lasting=not copied)


class _Writer:
    """Memory of the results of a call, which the first run finds.

    Attributes:
        memory_of_results: Where the kernel may compute them from then on, or None.
    """

    def __init__(self, call: KernelCall, values: dict[str, Value], memory: DeviceMemory) -> None:
        self._call, self._values, self._memory = call, values, memory
        self._signature = call.signature
        self._ways: dict[str, Callable[[NDArray[Any]], None]] = {}
        self.memory_of_results: NDArray[Any] | list[NDArray[Any]] | None = None

    def write(self, results: list[Result]) -> None:
        """Write results; one that is shorter than its tensor comes first, and poison behind it."""
        is_first = not self._ways
        for name, tensor, array in results:
            way = self._ways.get(name)
            if way is None:
                way = self._ways[name] = self._way(name, tensor)
            way(array)
        if is_first and results and self._call.kernel.fills:
            values = self._values
            self.memory_of_results = result_memory(self._signature, values, results, self._memory)

    def _way(self, name: str, tensor: Tensor) -> Callable[[NDArray[Any]], None]:
        """Return what writes an array to a tensor."""
        if is_paired(tensor):
            pairs = self._memory.view(name, bytes_of(tensor))
            return lambda array: pairs.__setitem__(..., paired(array))
        if (blocks := blocks_of(tensor, self._signature.name)) is not None:
            return partial(blocks.write, self._memory, name)
        in_words = is_complex32(tensor)
        target = self._memory.view(name, words_of(tensor) if in_words else tensor)
        is_read = name.split("[", maxsplit=1)[0] in self._signature.read

        def write(array: NDArray[Any]) -> None:
            numbers = to_words(array) if in_words else array
            if numbers.shape == target.shape:
                target[...] = numbers
            else:
                write_shorter(target, numbers, is_read=is_read)

        return write


def write_shorter(target: NDArray[Any], array: NDArray[Any], *, is_read: bool) -> None:
    """Write a result that is shorter than its tensor, and poison the rest.

    Args:
        target: The memory of the tensor.
        array: The result.
        is_read: True if the operator reads the tensor as well, which then keeps what is behind.
    """
    if not is_read:
        poison_output(target, [array])
    if target.flags.c_contiguous:
        # In the shape that was found, the elements come first.
        target.reshape(-1)[: array.size] = array.reshape(-1)
    else:
        target[tuple(slice(length) for length in array.shape)] = array


def _array(memory: DeviceMemory, name: str, tensor: Tensor) -> NDArray[Any]:
    """Return the array of a tensor; a copy of types that NumPy lacks, and of blocks."""
    if is_paired(tensor):
        return read_pairs(memory, name, tensor)
    if is_complex32(tensor):
        return from_words(memory.view(name, words_of(tensor)))
    blocks = blocks_of(tensor)
    if blocks is not None:
        return blocks.read(memory, name)
    found: NDArray[Any] = memory.view(name, tensor).view()
    return found


def _operator(
    signature: Signature,
    check: Callable[[Given, Setting], Plan],
    kernels: Callable[[Given, DeviceMemory], Work],
) -> Operator[Given]:
    names = [parameter.name for parameter in signature.parameters]
    return Operator(
        name=signature.name,
        executor_kind=ExecutorKind.COMPOSITE,
        parameters=signature.parameters,
        arguments=lambda *values: Given(dict(zip(names, values, strict=True))),
        check=check,
        kernels=kernels,
        written=signature.written,
        updated=tuple(name for name in signature.written if name in signature.read),
        shows_unwritten=True,
    )


def _check_arrays(signature: Signature, given: Given) -> None:
    """Check that the types of arguments have arrays, so that a kernel can compute with them.

    Raises:
        KernelLimitError: A type has none.
    """
    for parameter, item in typed_items(given.values):
        shown = data_type_name(item.data_type)
        if isinstance(item, Tensor) and is_paired(item):
            if parameter not in signature.written or can_write_pairs(item):
                continue
            why = f"{parameter} has numbers of {shown} with gaps, or half a byte of them"
            raise KernelLimitError(kernel_missing(signature.name, why))
        if type_word(item.data_type) not in ARRAYS and not (
            isinstance(item, Tensor) and is_complex32(item)
        ):
            why = f"{parameter} has the data type {shown}, which has no array on the simulated NPU"
            raise KernelLimitError(kernel_missing(signature.name, why))


def _is_idle(name: str, given: Given) -> bool:
    """Report whether CANN ends phase 1 of a call because a tensor has no elements."""
    rules, values = call_rules(name), [*given.values.values()]
    tensors = (values[place] for place in rules.ends) if rules else ()
    return any(isinstance(tensor, Tensor) and tensor.size == 0 for tensor in tensors)


def _lacked(call: KernelCall, given: Given) -> list[str]:
    """Return the parameters that may be NULL and are, which a kernel of ours does not expect."""
    kernel = call.kernel
    return [
        name
        for name, value in given.values.items()
        if call.is_own
        and value is None
        and kernel.parameter_for(name)
        and not kernel.may_lack(name)
    ]
