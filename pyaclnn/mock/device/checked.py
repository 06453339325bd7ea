# SPDX-License-Identifier: Apache-2.0
"""Cache of the calls that phase 1 has accepted, for their kernels."""

from __future__ import annotations

import itertools
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from struct import Struct
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.limits import category_of
from pyaclnn.mock.protocol.dtypes import type_word
from pyaclnn.mock.protocol.values import Scalar

if TYPE_CHECKING:
    from pyaclnn.mock.operators.operator import Operator, Plan, Setting
    from pyaclnn.mock.protocol.batch import Run
    from pyaclnn.mock.protocol.values import Call, Tensor

__all__ = ["CheckedCall", "CheckedCalls"]

_U64 = Struct("<Q")
_FLAGS = Struct("<I")
_LENGTH_BYTES = 4
_AXES = ("dim", "dims")
"""Parameters whose scalars are no numbers to compute with."""
# The host caches answers of phase 1 and runs them again and again; what was not used for so many
# other calls is checked once more instead of being kept.
_MOST = 1024
_numbers = itertools.count((os.getpid() << 32) + 1)
"""Numbers of calls. A process that has one device after the other gives none of them twice."""


@dataclass(slots=True)
class CheckedCall:
    """A call that phase 1 has accepted.

    Attributes:
        operator: Its operator.
        arguments: The operator's arguments, resolved.
        setting: Its chip, release and memory.
        plan: The result of phase 1.
        call: The call.
        any_scalars: True if phase 1 accepts it whatever the values of its scalars, which
            may then differ from run to run.
    """

    operator: Operator[Any]
    arguments: Any
    setting: Setting
    plan: Plan
    call: Call
    any_scalars: bool = field(init=False)
    _tensors: list[Tensor] = field(init=False)
    _values: list[tuple[Scalar, slice]] = field(init=False)
    """The scalars that may differ, with their places in a run, counted from its end."""
    _parts: list[slice] = field(init=False)
    """The parts of a run between those."""

    def __post_init__(self) -> None:
        """Find the tensors and scalars of the call."""
        self._tensors, scalars = self.call.tensors, self.call.scalars
        floats = all(category_of(type_word(t.data_type)) == "f" for t in self._tensors)
        axes = any(isinstance(self.call.arguments.get(name), Scalar) for name in _AXES)
        self.any_scalars = self.operator.any_scalars and bool(scalars) and floats and not axes
        self._values, self._parts = [], []
        end: int | None = None
        for scalar, at in zip(scalars if self.any_scalars else (), self.call.scalar_values):  # noqa: B905
            start = at - self.call.encoded_bytes
            self._parts.append(slice(end, start))
            end = start + len(scalar.data) or None  # the last scalar may end the call
            self._values.append((scalar, slice(start, end)))
        if end:
            self._parts.append(slice(end, None))

    def update(self, encoded: memoryview | bytes) -> None:
        """Take over what may differ from run to run: addresses, values of scalars, and flags."""
        for tensor, at in zip(self._tensors, self.call.addresses, strict=True):
            (tensor.address,) = _U64.unpack_from(encoded, at)
        self.set_scalars(encoded)
        at = _LENGTH_BYTES + len(self.call.operator.encode())
        (self.call.flags,) = _FLAGS.unpack_from(encoded, at)

    def set_scalars(self, encoded: memoryview | bytes) -> None:
        """Take over the values of scalars that may differ from bytes that end with the call."""
        for scalar, part in self._values:
            scalar.data = bytes(encoded[part])

    def launch_key(self, message: bytes) -> bytes:
        """Return the bytes of a run without the values of scalars that may differ.

        They begin with the number of this call, and are fewer than any run of it has.
        """
        return b"".join([message[part] for part in self._parts]) if self._values else message


class CheckedCalls:
    """The calls that were accepted last, by numbers that are unique across device processes.

    One thread adds calls, and another one finds them.
    """

    def __init__(self) -> None:
        self._calls: OrderedDict[int, CheckedCall] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of cached calls."""
        return len(self._calls)

    def clear(self) -> None:
        """Drop the calls, with the arrays that they have."""
        self._calls.clear()

    def add(self, checked: CheckedCall) -> int:
        """Keep a call; gives its number, 0 for one that did not come in bytes."""
        if not checked.call.encoded_bytes:
            return 0
        with self._lock:
            number = next(_numbers)
            self._calls[number] = checked
            if len(self._calls) > _MOST:
                self._calls.popitem(last=False)
            return number

    def with_number(self, number: int) -> CheckedCall | None:
        """Find a call by its number, with the addresses of its last run."""
        with self._lock:
            checked = self._calls.get(number)
            if checked is not None:
                self._calls.move_to_end(number)
            return checked

    def find(self, request: Run) -> CheckedCall | None:
        """Find the call to run, with the addresses of this run; None: its number is unknown."""
        checked = self.with_number(request.number)
        if checked is None or len(request.encoded) != checked.call.encoded_bytes:
            return None
        checked.update(request.encoded)
        return checked
