# SPDX-License-Identifier: Apache-2.0
"""Validation of a call against the description of its operator: roles, types, shapes, options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.arrays import (
    check_arrays,
    check_overlap,
    given_results,
    refuse_array,
    require_arrays,
    require_writable,
)
from pyaclnn.calling.call import Call, Interface
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.meanings import family_of, refuse_meaning, with_meanings
from pyaclnn.calling.operator import operator as launched
from pyaclnn.calling.options import plain_value
from pyaclnn.calling.refusals import Refusals
from pyaclnn.facts.operators.parameters import Kind, Tensor
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.device import default_device
from pyaclnn.runtime.dtypes import DTYPES, WORDS, acl_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.calling.arrays import Array
    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Option
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["Described", "interface_of"]


def interface_of(operator: Operator, make_result: Callable[..., Any]) -> Interface:
    """Return the interface of a described operator."""
    places = {name: place for place, name in enumerate(operator.names)}
    return Interface(
        routine=operator.name,
        load=partial(launched, operator.c_name, operator.written),
        names=operator.names,
        tensors=tuple(places[tensor.name] for tensor in operator.tensors),
        results=tuple(places[tensor.name] for tensor in operator.outputs),
        returned=tuple(places[tensor.name] for tensor in operator.returned),
        make_result=with_meanings(operator, make_result),
        refuse_mistake=partial(_refuse_mistake, operator) if operator.mistake else None,
        refuse_meaning=partial(refuse_meaning, operator)
        if any(tensor.by_chip for tensor in operator.inputs)
        else None,
    )


def _refuse_mistake(operator: Operator, arguments: Sequence[Any], device: Device) -> None:
    """Refuse NumPy arrays whose numbers have another meaning than the operator gives them."""
    assert operator.mistake is not None  # noqa: S101  # as of all that get here
    wrong = operator.mistake(dict(zip(operator.names, arguments, strict=True)), family_of(device))
    if wrong is not None:
        hint = (
            f"pass saved=result, the result of {operator.saved[0]}()." if operator.saved else None
        )
        raise InvalidArgumentError.of(operator.name, *wrong, hint)


class Described:
    """The checks of one call of a described operator; CANN is not called before they pass."""

    def __init__(self, operator: Operator, interface: Interface) -> None:
        """Prepare to check a call.

        Args:
            operator: The description.
            interface: The same operator as Python calls it.
        """
        self._operator = operator
        self._interface = interface

    def check(
        self, given: Mapping[str, Any], stream: StreamLike | None, out: object = None
    ) -> Call:
        """Check a call.

        Args:
            given: The arguments by their Python names.
            stream: The ``stream`` argument.
            out: The ``out`` argument.

        Raises:
            InvalidArgumentError: An argument is not acceptable.
        """
        operator = self._operator
        values: dict[str, Any] = {
            option.name: _plain_value(operator, option, given)
            for option in operator.options
            if option.derived is None
        }
        arrays = require_arrays(operator, given)
        values.update({tensor.name: arrays.get(tensor.name) for tensor in operator.inputs})
        wants = {tensor.name: operator.wants(tensor, values) for tensor in operator.outputs}
        results = given_results(operator, out, wants)
        for tensor in operator.outputs:
            if tensor.on_request:
                wants[tensor.name] = f"out: {tensor.name}" in results
        updated = [t.name for t in operator.inputs if t.written and operator.wants(t, values)]
        on_host, requested = check_arrays(operator.name, {**arrays, **results}, stream)
        refuse_meaning(operator, values, arrays)
        for name in (*updated, *results):
            check_overlap(operator.name, name, {**arrays, **results})
        refusals = Refusals(operator, arrays, values, given)
        refusals.find_types()
        refusals.find_lengths()
        for name in updated:
            require_writable(operator, name, arrays[name])
        known = {**refusals.types, **refusals.known, **values}
        if operator.constraint is not None:
            wrong = operator.constraint(known)
            if wrong is not None:
                refusals.refuse(*wrong)
        arguments = {**values, **{o.name: _constant(o, known) for o in operator.options}}
        device = partial(_device, (*arrays.values(), *results.values()), requested)
        for tensor in operator.outputs:
            wanted = wants[tensor.name]
            arguments[tensor.name] = (
                _result(tensor, refusals, values, results, device)
                if wanted or tensor.placeholder
                else None
            )
        places = {name: place for place, name in enumerate(operator.names)}
        zeros: tuple[int, ...] | None = None
        empty = operator.zeros
        if not updated and not any(wants.values()):
            zeros = ()
        elif empty is not None and any(0 in refusals.known[group] for group in empty[0].split()):
            zeros = tuple(places[name] for name in empty[1])
        written = [name for name, wanted in wants.items() if wanted]
        return Call(
            self._interface,
            [arguments[name] for name in operator.names],
            requested,
            writes=sorted(places[name] for name in (*updated, *written)),
            on_host=on_host,
            hidden=frozenset(places[name] for name, wanted in wants.items() if not wanted),
            zeros=zeros,
            overlap_checked=True,
        )


def _result(
    tensor: Tensor,
    refusals: Refusals,
    values: Mapping[str, Any],
    results: Mapping[str, Array],
    device: Callable[[], Device],
) -> Array | Empty:
    """Return the array given for a result, checked, or an ``Empty`` to be allocated."""
    operator = refusals.operator
    allowed = refusals.dtypes(tensor)
    given = results.get(f"out: {tensor.name}")
    kind = "" if given is None else WORDS.get(given.dtype, "")
    shape = operator.dims(tensor, refusals.known, values, kind)
    if given is None:
        usual = refusals.usual_dtypes(tensor)
        if len(set(usual.values())) > 1:
            return Empty.of(shape, usual.get(family_of(device()), allowed[0]))
        return Empty.of(shape, allowed[0])
    if given.dtype not in allowed or given.shape != shape:
        listed = " or ".join(map(str, allowed))
        was, must = f"{given.dtype} of shape {given.shape}", f"{listed} of shape {shape}"
        raise InvalidArgumentError.of(operator.name, f"out: {tensor.name}", was, must)
    require_writable(operator, f"out: {tensor.name}", given)
    return given


def _device(arrays: Sequence[Array], requested: Any) -> Device:
    """Return the device that the call is for."""
    found = next((array.device for array in arrays if isinstance(array, DeviceArray)), None)
    if found is not None:
        return found
    device: Device = default_device() if requested is None else requested.device
    return device


def _plain_value(operator: Operator, option: Option, given: Mapping[str, Any]) -> Any:
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
