# SPDX-License-Identifier: Apache-2.0
"""One checked call of a described operator: where its arrays lie, and how results come back.

NumPy arrays in mean NumPy arrays out, when all is done. Device arrays in mean device arrays out,
queued on the stream and not waited for. What was found out about a call on device arrays follows
from their layouts and the options alone, so it is remembered for the next one
(:mod:`pyaclnn.calling.fast_path`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.arrays import (
    check_arrays,
    check_overlap,
    given_results,
    refuse_array,
    require_arrays,
    require_writable,
)
from pyaclnn.calling.options import plain_value
from pyaclnn.calling.refusals import Refusals
from pyaclnn.facts.chips import all_chips
from pyaclnn.facts.operators.parameters import Kind, Tensor
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.device import default_device
from pyaclnn.runtime.dtypes import DTYPES, WORDS, acl_dtype
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.calling.arrays import Array
    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Option
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.stream import Stream

__all__ = ["Call", "Output"]


class Output(NamedTuple):
    """A result: the caller's own array, one to be made, or none.

    Attributes:
        shape: Its shape.
        dtype: Its dtype.
        given: The caller's array.
        wanted: Whether the caller gets it.
        made: Whether C gets a tensor for it, wanted or not.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    given: Array | None = None
    wanted: bool = True
    made: bool = True


class Call:
    """A call whose arguments are accepted; nothing is asked of CANN before they are.

    Attributes:
        described: The operator.
        make_result: Makes what is returned of the results.
        values: Plain values of the options, and the arrays given, by Python names.
        constants: What C gets for the options, by Python names.
        updated: The arguments that are written in place.
        outputs: The results by Python names, in the order of C.
        on_host: Whether the arrays are NumPy arrays.
        zeros: The results that become 0 instead of asking CANN, which has nothing to do, or None.
        arguments: The arguments in the order of C, once they are on the device.
    """

    def __init__(
        self,
        operator: Operator,
        given: Mapping[str, Any],
        stream: StreamLike | None,
        out: Sequence[Array | None] | Array | None,
        make_result: Callable[..., Any],
    ) -> None:
        """Check a call.

        Args:
            operator: What is called.
            given: The arguments by their Python names.
            stream: The ``stream`` argument.
            out: The ``out`` argument.
            make_result: Makes what is returned of the results.

        Raises:
            InvalidArgumentError: Something is not acceptable.
        """
        self.described = operator
        self.make_result = make_result
        self.values: dict[str, Any] = {}
        for option in operator.options:
            if option.derived is None:
                self.values[option.name] = _plain(operator, option, given)
        arrays = require_arrays(operator, given)
        self.values.update({tensor.name: arrays.get(tensor.name) for tensor in operator.inputs})
        wants = {tensor.name: operator.wants(tensor, self.values) for tensor in operator.results}
        results = given_results(operator, out, wants)
        for tensor in operator.results:
            if tensor.asked:
                wants[tensor.name] = f"out: {tensor.name}" in results
        written = [tensor for tensor in operator.inputs if tensor.written]
        self.updated = [t.name for t in written if operator.wants(t, self.values)]
        self.on_host, self._requested = check_arrays(operator.name, {**arrays, **results}, stream)
        for name in (*self.updated, *results):
            check_overlap(operator.name, name, {**arrays, **results})
        refusals = Refusals(operator, arrays, self.values)
        refusals.find_types()
        refusals.find_lengths()
        for name in self.updated:
            require_writable(operator, name, arrays[name])
        known = {**refusals.types, **refusals.known, **self.values}
        if operator.refuse is not None:
            wrong = operator.refuse(known)
            if wrong is not None:
                refusals.refuse(*wrong)
        self.constants = {option.name: _constant(option, known) for option in operator.options}
        self.outputs: dict[str, Output] = {}
        self.outputs = {
            tensor.name: self._output(tensor, refusals, results, wants[tensor.name])
            for tensor in operator.results
        }
        self.zeros = self._nothing_to_do(refusals)
        self.arguments: list[Any] = []
        self._layouts: dict[int, list[Layout | None]] = {}

    def again(self, given: Mapping[str, Any], stream: StreamLike | None) -> Call:
        """Return the same call of other arrays, of the same shapes and dtypes.

        Args:
            given: The arguments by their Python names.
            stream: The ``stream`` argument.

        Raises:
            InvalidArgumentError: The stream is not acceptable.
        """
        name = self.described.name
        other = object.__new__(Call)
        other.__dict__.update(self.__dict__)
        other._requested = None if stream is None else require_stream(name, stream, None)
        other.values = {name: given.get(name) for name in self.values}
        return other

    def layouts(self, context: int) -> list[Layout | None]:
        """List the layouts of the arguments, densely on a device; None for what is no array."""
        found = self._layouts.get(context)
        if found is None:
            arrays: dict[str, Any] = {**self.values, **self.outputs}
            tensors = [tensor.name for tensor in self.described.tensors]
            found = self._layouts[context] = [
                Layout.dense(context, array.dtype, array.shape)
                if name in tensors and (array := arrays[name]) is not None and self._is_sent(name)
                else None
                for name in self.names
            ]
        return found

    def _is_sent(self, name: str) -> bool:
        return self.zeros is None and (name not in self.outputs or self.outputs[name].made)

    def _output(
        self, tensor: Tensor, refusals: Refusals, results: Mapping[str, Array], wanted: bool
    ) -> Output:
        """Decide about one result: the array given for it, checked, or one to be made."""
        operator = self.described
        if not wanted and not tensor.placeholder:
            return Output((), np.dtype(np.float32), wanted=False, made=False)
        allowed = refusals.dtypes(tensor)
        given = results.get(f"out: {tensor.name}")
        kind = "" if given is None else WORDS.get(given.dtype, "")
        shape = operator.dims(tensor, refusals.known, self.values, kind)
        if given is None:
            usual = refusals.usual_dtypes(tensor)
            if len(set(usual.values())) > 1:
                return Output(shape, usual.get(self._family(), allowed[0]), wanted=wanted)
            return Output(shape, allowed[0], wanted=wanted)
        if given.dtype not in allowed or given.shape != shape:
            listed = " or ".join(map(str, allowed))
            was, must = f"{given.dtype} of shape {given.shape}", f"{listed} of shape {shape}"
            raise InvalidArgumentError.of(operator.name, f"out: {tensor.name}", was, must)
        require_writable(operator, f"out: {tensor.name}", given)
        return Output(shape, given.dtype, given)

    def _family(self) -> str:
        """The family of the chip that the call is for; empty if it is not known."""
        name = self._device().soc_name
        return next((chip.family for chip in all_chips() if chip.soc_name == name), "")

    def _device(self) -> Device:
        if not self.on_host:
            arrays = (*self.values.values(), *(output.given for output in self.outputs.values()))
            device = next((a.device for a in arrays if isinstance(a, DeviceArray)), None)
            if device is not None:
                return device
        if self._requested is None:
            return default_device()
        return self._requested.device

    def _nothing_to_do(self, refusals: Refusals) -> tuple[str, ...] | None:
        """Name the results that become 0 where CANN need not be asked; None if it must be."""
        if not self.updated and not any(output.wanted for output in self.outputs.values()):
            return ()
        without = self.described.without
        if without is not None and any(0 in refusals.known[group] for group in without[0].split()):
            return without[1]
        return None

    # ---- what a plan and the fast path look at --------------------------------------------------

    @property
    def operator(self) -> str:
        """The C name of phase 2."""
        return self.described.c_name

    @property
    def names(self) -> tuple[str, ...]:
        """The Python names of the arguments, in the order of C."""
        return self.described.names

    @property
    def written(self) -> frozenset[int]:
        """The places of the tensors that the operator writes, in the order of C."""
        return self.described.written

    @property
    def stream(self) -> Stream:
        """Where the work goes."""
        return require_stream(self.described.name, self._requested, self._device())

    def result(self, arguments: Sequence[Any]) -> Any:
        """Return the results of the call, taken from its arguments."""
        found = dict(zip(self.names, arguments, strict=True))
        if not self.outputs:
            return self.make_result(*(found[name] for name in self.updated))
        kept = (found[name] if output.wanted else None for name, output in self.outputs.items())
        return self.make_result(*kept)

    def place(self, stream: Stream) -> list[Any]:
        """List the arguments in the order of C, with results allocated in the stream's order."""
        device = stream.device

        def placed(name: str) -> Any:
            output = self.outputs.get(name)
            if output is None:
                return self.constants[name] if name in self.constants else self.values[name]
            if output.given is not None or not output.made:
                return output.given
            layout = Layout.dense(device._context, output.dtype, output.shape)
            return array_on_loan(stream.pool._take(layout, device), device)

        self.arguments = [placed(name) for name in self.names]
        return self.arguments

    def fill(self, stream: Stream) -> None:
        """Fill results on the device where CANN has nothing to do."""
        found = dict(zip(self.names, self.arguments, strict=True))
        for name in self.zeros or ():
            found[name].fill_bytes(0, stream)

    def planned(self) -> Call:
        """Allocate what is missing, so that a plan can be made of the call.

        Raises:
            InvalidArgumentError: The arrays lie on the host, or there is nothing to plan.
        """
        if self.on_host or self.zeros is not None:
            given = "NumPy arrays" if self.on_host else "arguments for which CANN is not called"
            raise InvalidArgumentError.of(
                "plan", "arguments", given, "device arrays with work to do", "use to_device()."
            )
        self.place(self.stream)
        return self


def _plain(operator: Operator, option: Option, given: Mapping[str, Any]) -> Any:
    """Return the plain value of what was given for an option."""
    try:
        return plain_value(option, given[option.name], operator.name)
    except InvalidArgumentError as wrong:
        refuse_array(operator, given, wrong)
        raise


def _constant(option: Option, known: Mapping[str, Any]) -> Any:
    """Return what C gets for an option."""
    if option.derived is not None:
        return option.derived(known)
    if option.kind is Kind.DTYPE:
        return acl_dtype(DTYPES[known[option.word]])
    if option.kind is Kind.SCALAR and option.word:
        return DTYPES[option.word.split("/")[0]].type(known[option.name])
    return known[option.name]
