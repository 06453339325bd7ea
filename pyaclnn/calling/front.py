# SPDX-License-Identifier: Apache-2.0
"""Front of an operator: the state and the slow path of its Python function.

The C signature of an operator is always known. A description adds the roles, shapes and types of
its parameters and what is refused. Both lead to one front, with one source, one fast path, one
plan and one way from and to NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.fast_path import Paths
from pyaclnn.calling.host import HostCalls, host_key, run_on_host
from pyaclnn.calling.source import compiled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.calling.binding import Binding
    from pyaclnn.calling.call import Call
    from pyaclnn.calling.source import Form
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["Checks", "Front", "function_of"]


class Checks(Protocol):
    """Validation of the calls of one operator."""

    def check(
        self, given: Mapping[str, Any], stream: StreamLike | None, out: object = None
    ) -> Call:
        """Return the call, validated; raise if an argument is not acceptable."""


class Front:
    """State of the Python function of an operator, beside its source.

    Args:
        checks: Validates its calls.
        recognises_calls: True if an equal call can be recognised.
        binding: Binds arguments in PyTorch's order or by other names; None if none are accepted.

    Attributes:
        function: The function.
    """

    def __init__(
        self, checks: Checks, *, recognises_calls: bool, binding: Binding | None = None
    ) -> None:
        self._check = checks.check
        self._binding = binding
        self.function: Any = None
        self._recognises_calls = recognises_calls
        self.paths = Paths()
        self._host_calls = HostCalls()

    def bound(
        self, given: Mapping[str, Any], rest: Sequence[Any], others: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return the values of the parameters; see `Binding.bound`."""
        assert self._binding is not None  # noqa: S101  # other functions have no such arguments
        return self._binding.bound(given, rest, others)

    def check(
        self, given: Mapping[str, Any], stream: StreamLike | None, out: object = None
    ) -> Call:
        """Return the call, validated; see `Checks`."""
        try:
            return self._check(given, stream, out)
        except InvalidArgumentError as wrong:
            # Kept by no other frame: a cycle would keep the arguments alive.
            other = self._binding and self._binding.after_refusal(given, wrong)
            if not other:
                raise
        return self._check(other, stream, out)

    def finish(
        self, key: Any, given: Mapping[str, Any], stream: StreamLike | None, out: object
    ) -> Any:
        """Make a call that has no path, and keep what the next equal call can use.

        Args:
            key: The key of its path; None if it has none.
            given: The arguments by their Python names.
            stream: The ``stream`` argument.
            out: The ``out`` argument.
        """
        known = None
        if key is None and out is None and self._recognises_calls:
            known = host_key(given)
        found = self._host_calls.get(known)
        if found is not None:
            return run_on_host(found, found.arguments_of(given), stream)
        try:
            call = self._check(given, stream, out)
        except InvalidArgumentError as wrong:
            other = self._binding and self._binding.after_refusal(given, wrong)
            if not other:
                raise
            results = {} if out is None else {"out": out}
        else:
            return self._made(call, key, known)
        return self.function(**other, stream=stream, **results)

    def _made(self, call: Call, key: Any, known: Any) -> Any:
        """Make a validated call, and keep it under its keys."""
        if call.on_host:
            if known is not None and call.is_repeatable and call.is_new:
                self._host_calls[known] = call
            return run_on_host(call, call.arguments, call.requested)
        arguments = call.launch()
        if key is not None and call.is_repeatable and call.zeros is None:
            self.paths.remember(key, call, arguments)
        return call.result(arguments)

    def forget(self) -> None:
        """Drop what was kept of earlier calls."""
        self.paths.clear()
        self._host_calls.clear()


def function_of(form: Form, front: Front, space: Mapping[str, Any], doc: str) -> Any:
    """Return the function of an operator; its attribute ``prepare`` only checks a call."""
    space = {**space, "front_": front, "paths_": front.paths}
    made: tuple[Any, Any] = compiled(form, space)
    for function in made:
        function.__name__ = function.__qualname__ = form.name
        function.__module__ = function.__globals__["__name__"]
        function.__doc__ = doc
    made[0].prepare = made[1]
    front.function = made[0]
    return made[0]
