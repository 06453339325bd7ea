# SPDX-License-Identifier: Apache-2.0
"""Cases of the smoke test: one operator on one shape and dtype, launched on a stream."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn import ops
from pyaclnn.facts.chips import find_family
from pyaclnn.facts.operators import Operator, all_operators
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.health.smoke.samples import Host, golden, sample
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.dtypes import DTYPES, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.parameters import Tensor
    from pyaclnn.runtime.array import DeviceArray
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.stream import Stream

__all__ = ["Case", "Launched", "Prepared", "launch", "prepare"]


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
        parameters = in_lists(operator, {**given, **arrays})
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
