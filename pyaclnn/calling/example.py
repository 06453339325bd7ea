# SPDX-License-Identifier: Apache-2.0
"""Example in the docstring of an operator, derived from its description.

The call has the required arguments, options whose sample is not their default, a mask, and the
arguments that a simpler operator lacks, such as ``add_rms_norm_quant`` of ``..._quant_v2``.
"""

from __future__ import annotations

import textwrap
from math import prod
from typing import TYPE_CHECKING, Any

from pyaclnn.base.locks import cached_property
from pyaclnn.facts.chips import all_chips
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option, Tensor
from pyaclnn.facts.operators.sample import lengths_in, types_in, value_of
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.facts.operators.words import Word
from pyaclnn.facts.releases import DEFAULT, NEWEST, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Parameter
    from pyaclnn.facts.operators.words import Dims

__all__ = ["Example"]

_ROWS, _COLUMNS, _IMAGES = 2, 6, (2, 8, 2, 4)
_WIDTH, _MOST = 88, 2
_USUAL = "910b"
"""The chip family of the simulated NPU by default."""
_GRADIENTS = ("dy", "grad_out")


class Example:
    """Example of an operator.

    Args:
        operator: The operator.

    Attributes:
        family: The chip family that it runs on.
        shown: The arguments of the call.
    """

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        families = operator.types.families
        self.family = _USUAL if _USUAL in families else next(iter(families))
        words = [kind for kind, _ in operator.primary.shape.words]
        axes = words.count(Word.AXIS)
        shape = (_COLUMNS, _ROWS) if axes == 1 and words[-1] is Word.AXIS else (_ROWS, _COLUMNS)
        self._known = lengths_in(operator, shape if axes <= len(shape) else _IMAGES)
        types = operator.types.allowed(operator.primary.type, {}, families[self.family])
        self._types = types_in(operator, "f32" if "f32" in types else types[0], self.family)
        self._tensors = {tensor.name: tensor for tensor in operator.tensors}
        new = _new_parameters(operator)
        self._values = {o.name: self._value(o, new) for o in operator.options if o.derived is None}
        arguments = [operator.by_name[n] for n in (*operator.positional, *operator.keywords)]
        chosen = {p.name for p in arguments if _is_required(p)}
        chosen |= {*[tensor.name for tensor in operator.inputs if tensor.name in new][:_MOST]}
        chosen |= {o.name for o in operator.options if self._values.get(o.name) != o.default}
        chosen |= self._needed(chosen)
        self.shown = [p for p in arguments if p.name in chosen]

    def lines(self) -> Iterator[str]:
        """Yield the lines of an interactive session: arguments, the call, and its results."""
        operator = self._operator
        call = f"pyaclnn.{self._call(operator, self.shown)}"
        outputs = operator.outputs
        name = "result" if len(outputs) > 1 else "".join(tensor.name for tensor in outputs)
        yield from self._setting()
        yield from _entered(*self._assignments())
        yield from _entered(f"{name} = {call}" if outputs else f"{call} is x")
        yield from () if outputs else ("True",)
        updated = [p for p in self.shown if isinstance(p, Tensor) and p.written]
        first, *others = (t for t in (*updated[:1], *outputs) if t.name not in self._absent)
        place = ", ".join(["1", "0", "0", "0"][: len(self._dims(first)) - 1 + operator.lists])
        row = f"{self._result(first)}[{place}]" if place else self._result(first)
        if operator.shows:
            yield f">>> print({row}{'' if first.type == 'i8' else '.round(2)'})"
            yield operator.shows
        measured = others[:3] if operator.shows else [first]
        if measured:
            yield f">>> {', '.join(f'{self._result(tensor)}.shape' for tensor in measured)}"
            found = [str(self._dims(tensor)) for tensor in measured]
            yield f"({', '.join(found)})" if len(found) > 1 else found[0]

    def _setting(self) -> Iterator[str]:
        """Yield a comment that names the release and the chip, where it needs another."""
        entry, soc = catalogue().get(self._operator.c_name), ""
        release = "" if entry is None or entry.is_in(DEFAULT) else f" {VARIABLE}={NEWEST}"
        if self.family != _USUAL:
            chip = next(chip for chip in all_chips() if chip.family == self.family)
            soc = f" PYACLNN_MOCK_SOC={chip.soc_name}"
        if release or soc:
            yield f">>> # on the simulated NPU:{release}{soc}"

    def _value(self, option: Option, new: Collection[str]) -> Any:
        """Return the value of an option: that of samples, or another one where it is new."""
        value = value_of(option, self._known)
        if option.kind is Kind.MASK:
            return (True, *(False for _ in option.results[1:]))
        if option.name in new and value == option.default:
            return {Kind.FLAG: value is False, Kind.INTEGER: 1}.get(option.kind, value)
        return value

    def _needed(self, chosen: set[str]) -> set[str]:
        """Return the names of further arguments without which the call is not accepted."""
        there = {t.name: t.name in chosen or None for t in self._operator.inputs}
        given = {**self._types, **self._known, **there, **self._values}
        refused = self._operator.constraint and self._operator.constraint(given)
        return {refused[0]} if refused else set()

    @cached_property
    def _absent(self) -> Collection[str]:
        """The names of the outputs that are None."""
        operator = self._operator
        absent = (t for t in operator.outputs if not operator.wants(t, self._there))
        return {tensor.name for tensor in absent} | {
            t.name for t in operator.outputs if t.on_request
        }

    @property
    def _there(self) -> dict[str, Any]:
        """Options by their names, and the tensors that are there; None for the others."""
        there = {p.name: p for p in self.shown}
        return {**{t.name: there.get(t.name) for t in self._operator.inputs}, **self._values}

    def _result(self, tensor: Tensor) -> str:
        several = len(self._operator.outputs) > 1 and not tensor.read
        return f"result.{tensor.name}" if several else _variable(tensor)

    def _assignments(self) -> Iterator[str]:
        """Yield the assignments of the arrays, those of equal arrays as one."""
        makers = [maker for p in self.shown if (maker := self._maker(p)) is not None]
        forward = [p for maker in makers[:1] for p in maker.by_name.values() if _is_required(p)]
        arrays = {
            _variable(p): self._tensors.get(p.name, p)
            for p in (self._operator.primary, *forward, *self.shown)
            if isinstance(p, Tensor) and p.read and not self._maker(p)
        }
        equal: dict[tuple[str, str], list[str]] = {}
        for name, tensor in arrays.items():
            own = name if tensor.written else ""  # operators refuse updated arrays that overlap
            equal.setdefault((self._array(tensor), own), []).append(name)
        yield from (f"{' = '.join(names)} = {text}" for (text, _), names in equal.items())
        for maker in makers[:1]:
            named = [maker.by_name[name] for name in maker.positional]
            required = [p for p in named if _is_required(p)]
            yield f"forward = pyaclnn.{self._call(maker, required)}"

    def _call(self, operator: Operator, given: list[Parameter]) -> str:
        """Return a call: what is required by position, the rest by name."""
        texts = ((p.name, self._text(operator, p), _is_required(p)) for p in given)
        written = (text if required else f"{name}={text}" for name, text, required in texts)
        return f"{operator.name}({', '.join(written)})"

    def _text(self, operator: Operator, parameter: Parameter) -> str:
        """Return an argument of a call."""
        if isinstance(parameter, Option):
            value = self._values[parameter.name]
            several = parameter.kind in (Kind.LENGTHS, Kind.AXES)
            return repr(value[0] if several and len(value) == 1 else value)
        name = _variable(parameter)
        if operator is self._operator and self._maker(parameter):
            return f"forward.{parameter.name}"
        return f"[{name}, 2 * {name}]" if operator.lists else name

    def _maker(self, parameter: Parameter) -> Operator | None:
        """Return the operator that returns an argument of a gradient."""
        own, _, gradient = self._operator.name.removesuffix("_quant").rpartition("_")
        for name in (own, f"{own}_v2") if gradient in ("grad", "backward") else ():
            maker = all_operators().get(name)
            if maker is not None and parameter.name in [t.name for t in maker.outputs]:
                return maker
        return None

    def _array(self, tensor: Tensor) -> str:
        """Return the expression of an array."""
        dims, primary = self._dims(tensor), self._operator.primary
        leading = self._types[primary.type]
        kind = self._types.get(tensor.type, leading)
        dtype = f"np.{ARRAYS[kind].numpy}"
        size = str(dims[0] if len(dims) == 1 else dims)
        if tensor is primary:
            return f"np.arange({prod(dims)}, dtype={dtype}).reshape{dims}"
        if tensor.name in _GRADIENTS:
            return f"np.eye({size[1:-1]}, dtype={dtype})"
        if (dims, kind) == (self._dims(primary), leading):
            return f"np.ones_like({_variable(primary)})"
        if tensor.indexes:
            return f"np.arange({size}, dtype={dtype})"
        if "scale" in tensor.name and kind.startswith("f"):
            return f"np.full({size}, 0.1, {dtype})"
        return f"np.ones({size}, {dtype})"

    def _dims(self, tensor: Tensor) -> Dims:
        """Return the shape of an array."""
        if tensor.shape.like:
            return self._dims(self._tensors[tensor.shape.like])
        integers = {o.name for o in self._operator.options if o.kind is Kind.INTEGER}
        lengths = {name: (self._values[name],) for name in integers if name in self._values}
        return self._operator.dims(tensor, {**self._known, **lengths}, self._there)


def _entered(*statements: str) -> Iterator[str]:
    """Yield statements with the prompts of Python, wrapped."""
    for text in statements:
        first, *more = textwrap.wrap(text, _WIDTH, subsequent_indent="    ")
        yield f">>> {first}"
        yield from (f"... {line}" for line in more)


def _variable(parameter: Parameter) -> str:
    """Return the name of a variable, which hides no function of Python."""
    return "x" if parameter.name == "input" else parameter.name


def _is_required(parameter: Parameter) -> bool:
    if isinstance(parameter, Tensor):
        return parameter.read and not parameter.optional
    return parameter.default is REQUIRED and parameter.derived is None


def _new_parameters(operator: Operator) -> set[str]:
    """Return the parameters that an operator with the same required inputs lacks."""
    words = operator.name.split("_")
    shorter = ("_".join(words[:length]) for length in range(len(words) - 1, 1, -1))
    base = next((all_operators()[name] for name in shorter if name in all_operators()), operator)
    needed, more = ({t.name for t in o.inputs if not t.optional} for o in (base, operator))
    new = {*operator.by_name} - {*base.by_name} if needed == more else set()
    return new & {tensor.name for tensor in operator.inputs} or new
