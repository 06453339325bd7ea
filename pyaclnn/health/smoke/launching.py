# SPDX-License-Identifier: Apache-2.0
"""Cases of the smoke test: arguments, expected results, and launches on a stream.

A case is one operator on one shape and dtype; its samples are derived from the operator's
description.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyaclnn import ops
from pyaclnn.calling.meanings import stated
from pyaclnn.facts.chips import find_family
from pyaclnn.facts.operators import Operator, all_operators
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.facts.operators.sample import lengths_in, types_in, value_of
from pyaclnn.reference import implementation
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.dtypes import DTYPES, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Tensor
    from pyaclnn.facts.operators.words import Dims
    from pyaclnn.runtime.array import DeviceArray
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.stream import Stream

__all__ = [
    "Case",
    "Host",
    "Launched",
    "Prepared",
    "golden",
    "is_possible",
    "launch",
    "prepare",
    "sample",
]

Host: TypeAlias = NDArray[Any]

_SEED = 20240521


def is_possible(operator: Operator, shape: Dims, dtype: np.dtype[Any], family: str | None) -> bool:
    """Return whether an operator accepts a leading tensor of a shape; see `sample`."""
    if operator.constraint is None:
        return True
    known = lengths_in(operator, shape)
    given = {o.name: value_of(o, known) for o in operator.options if o.derived is None}
    there = dict.fromkeys((tensor.name for tensor in operator.inputs), True)
    return (
        operator.constraint({**types_in(operator, WORDS[dtype], family), **known, **there, **given})
        is None
    )


def sample(
    operator: Operator, shape: Dims, dtype: np.dtype[Any], family: str | None
) -> dict[str, Any]:
    """Make arguments of an operator, the same every time.

    Args:
        operator: The operator.
        shape: The shape of its leading tensor.
        dtype: The dtype of its leading tensor, and of others where they may have it.
        family: The chip family that must have a kernel for it; None for any.

    Returns:
        NumPy arrays and options by Python names.
    """
    random = np.random.default_rng(_SEED)
    known = lengths_in(operator, shape)
    given: dict[str, Any] = {}
    for option in operator.options:
        if option.derived is None:
            given[option.name] = value_of(option, known)
    bound = types_in(operator, WORDS[dtype], family)
    for tensor in operator.inputs:
        if tensor.made_by is None:
            dims = tensor.shape.dims(known)
            kind = DTYPES[bound[tensor.type]]
            if tensor.indexes:
                (rows,) = known[tensor.indexes]
                given[tensor.name] = random.integers(0, rows, dims).astype(kind)
            else:
                given[tensor.name] = _values(random, tensor, dims, kind)
    for tensor in operator.inputs:
        if tensor.made_by is not None:
            given[tensor.name] = _made(tensor, given).astype(DTYPES[bound[tensor.type]])
    return given


def _values(random: np.random.Generator, tensor: Tensor, dims: Dims, dtype: np.dtype[Any]) -> Host:
    if dtype.kind in "iu":
        return random.integers(1, 9, dims).astype(dtype)
    values = random.normal(0.5, 1.5, dims) * tensor.large
    return (np.abs(values) + 0.5 if tensor.positive else values).astype(dtype)


def _made(tensor: Tensor, given: Mapping[str, Any]) -> Host:
    """Return the result of another operator for the same arguments, in float64."""
    name, result = tensor.made_by or ("", "")
    wide = {key: _widened(value) for key, value in given.items()}
    found: Host = getattr(_computed(all_operators()[name], wide, None), result)
    return found


def golden(operator: Operator, given: Mapping[str, Any], family: str | None) -> dict[str, Host]:
    """Compute what an operator should return, in float64.

    Args:
        operator: The operator.
        given: Its arguments by Python names.
        family: The chip family, for results whose meaning depends on it.

    Returns:
        Results by Python names, and arguments that are updated in place, without absent results and
        those that are only computed on request.
    """
    found = _computed(operator, {key: _widened(value) for key, value in given.items()}, family)
    if not hasattr(found, "_asdict"):
        return {operator.returned[0].name: np.asarray(found)}
    asked = {tensor.name for tensor in operator.outputs if tensor.on_request}
    pairs = found._asdict().items()
    return {name: value for name, value in pairs if value is not None and name not in asked}


def _computed(operator: Operator, given: Mapping[str, Any], family: str | None) -> Any:
    defined = implementation(operator.c_name)
    assert defined is not None  # noqa: S101  # every described operator has a definition
    function, wanted = defined.kernel.function, defined.kernel.parameters
    pairs = in_lists(operator, given).items()
    taken = {name: value for name, value in pairs if name in wanted}
    found = function(**taken, **({"family": family} if "family" in wanted else {}))
    return found[0] if operator.lists else found


def _widened(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind not in "biu":
        return value.astype(np.float64)
    return value


@dataclass(frozen=True)
class Case:
    """One operator on one shape and dtype.

    Attributes:
        operator: The public function.
        shape: The shape of the input; its last axis is normalized.
        dtype: The dtype of the input.
    """

    operator: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Launched:
    """A case that is launched: its outputs exist, but may not be written yet.

    Attributes:
        case: The case.
        golden: The expected outputs by name, in float64.
        inputs: The inputs by name, on the device; kept for work that is still under way.
        outputs: The outputs by name, on the device.
        seconds: The duration of submitting.
    """

    case: Case
    golden: Mapping[str, Host]
    inputs: Mapping[str, DeviceArray]
    outputs: Mapping[str, DeviceArray]
    seconds: float

    def read(self) -> dict[str, Host]:
        """Copy the outputs to the host; waits for no stream."""
        return {name: array.numpy() for name, array in self.outputs.items()}


@dataclass(frozen=True)
class Prepared:
    """A case with its inputs and expected outputs, which take long to compute.

    Attributes:
        case: The case.
        given: The operator's parameters by name.
        expected: The expected outputs by name, in float64.
        family: The chip's family, as ``find_family`` returns it.
    """

    case: Case
    given: Mapping[str, Any]
    expected: Mapping[str, Host]
    family: str | None

    def launch(self, stream: Stream) -> Launched:
        """Launch the case on a stream, with outputs full of NaN.

        Args:
            stream: The stream.

        Raises:
            AclError: The call failed.
        """
        operator, device = all_operators()[self.case.operator], stream.device
        given, expected = self.given, self.expected
        arrays = {k: to_device(v, device) for k, v in given.items() if isinstance(v, np.ndarray)}
        outputs: dict[str, DeviceArray | None] = {}
        for tensor in operator.outputs:
            there = tensor.name in expected and self.family not in tensor.unwritten.split()
            outputs[tensor.name] = (
                to_device(_poisoned(operator, tensor, given, expected[tensor.name]), device)
                if there
                else None
            )
        begun = time.perf_counter()
        how = {"out": tuple(outputs.values())} if outputs else {}
        parameters = in_lists(operator, stated(operator, {**given, **arrays}))
        getattr(ops, self.case.operator)(**parameters, **how, stream=stream)
        seconds = time.perf_counter() - begun
        written = {name: array for name, array in outputs.items() if array is not None}
        written |= {
            t.name: arrays[t.name] for t in operator.inputs if t.written and t.name in arrays
        }
        judged = {name: expected[name] for name in written}
        return Launched(self.case, judged, arrays, written, seconds)


def prepare(case: Case, device: Device) -> Prepared:
    """Compute inputs and expected outputs of a case.

    Args:
        case: The case.
        device: The device that it will run on.
    """
    operator, family = all_operators()[case.operator], find_family(device.soc_name)
    given = sample(operator, case.shape, case.dtype, family)
    return Prepared(case, given, golden(operator, given, family), family)


def launch(case: Case, stream: Stream) -> Launched:
    """Launch one case on a stream, with outputs full of NaN.

    Args:
        case: The case.
        stream: The stream.

    Raises:
        AclError: The call failed.
    """
    return prepare(case, stream.device).launch(stream)


def _poisoned(operator: Operator, tensor: Tensor, given: Mapping[str, Any], value: Host) -> Host:
    """Return an output before the call: full of NaN, or of the largest integer."""
    words = [t for t in operator.inputs if t.type not in DTYPES]
    bound = {t.type: WORDS[given[t.name].dtype] for t in words}
    dtype = DTYPES[operator.types.allowed(tensor.type, bound)[0]]
    return np.full(value.shape, np.iinfo(dtype).max if dtype.kind in "iu" else np.nan, dtype)
