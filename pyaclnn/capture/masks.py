# SPDX-License-Identifier: Apache-2.0
"""Results that an operator leaves as they were, since its ``outputMask`` turns them off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.cann.signatures import PHASE_1

if TYPE_CHECKING:
    from pyaclnn.capture.trace import Call

__all__ = ["Masks"]

_MASK: Final = "outputMask"
_NONE: Final[frozenset[str]] = frozenset()


class Masks:
    """Masks of the operators of a trace; calls are added in its order."""

    def __init__(self) -> None:
        """Make it without calls."""
        self._arrays: dict[int, bytes] = {}
        self._of_executors: dict[int, frozenset[str]] = {}
        self._of_calls: dict[int, frozenset[str]] = {}

    def add(self, call: Call) -> None:
        """Note a call that makes an array of flags, or is a phase of an operator with a mask."""
        if call.name == "aclCreateBoolArray" and isinstance(call.result, int):
            value = call.arguments["value"]
            self._arrays[call.result] = value if isinstance(value, bytes) else b""
        elif call.name.endswith(PHASE_1) and not call.failed:
            off = self._turned_off(call) if _MASK in call.arguments else _NONE
            executor = call.handle("executor")
            self._of_executors.pop(executor, None)
            if off:
                self._of_executors[executor] = off
        elif self._of_executors and "executor" in call.arguments:
            off = self._of_executors.get(call.handle("executor"), _NONE)
            if off:
                self._of_calls[call.number] = off

    def turned_off(self, call: int) -> frozenset[str]:
        """Return the C names of the results that a call of a second phase does not write."""
        return self._of_calls.get(call, _NONE)

    def _turned_off(self, call: Call) -> frozenset[str]:
        flags = self._arrays.get(call.handle(_MASK), b"")
        results = [name for name, letter in call.letters.items() if letter == "t>"]
        if len(flags) != len(results):  # NULL, or flags for some of the results only
            return _NONE
        return frozenset(name for name, on in zip(results, flags, strict=True) if not on)
