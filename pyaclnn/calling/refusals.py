# SPDX-License-Identifier: Apache-2.0
"""The rules by which operators accept or refuse arguments, before anything is asked of CANN."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from pyaclnn.errors import InvalidArgumentError
from pyaclnn.runtime.dtypes import bfloat16, float16, float32
from pyaclnn.runtime.shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.calling.invocation import Array

__all__ = ["FLOATING", "MAX_RANK", "Rules"]

FLOATING: Final = (float32, float16, bfloat16)
"""What the norm operators compute with. Source: CANN: ops-nn norm, operator documents."""

MAX_RANK: Final = 8
"""The most axes that an aclnn tensor may have. Source: CANN: ops-nn, operator documents."""


_LARGEST: Final = float(np.finfo(np.float32).max)
_MANY_BITS: Final = 256


class Rules:
    """Checks the arguments of one public function and words the refusals."""

    def __init__(self, routine: str) -> None:
        """Check for the function called ``routine``."""
        self._routine = routine

    def refuse(self, argument: str, given: str, expected: str, hint: str | None = None) -> NoReturn:
        """Raise the error that ``argument`` is ``given`` and must be ``expected``."""
        raise InvalidArgumentError.of(self._routine, argument, given, expected, hint)

    def dtype(self, name: str, array: Array, allowed: Sequence[np.dtype[Any]], why: str) -> None:
        """Require one of the dtypes ``allowed``; ``why`` ends the sentence, and may be empty."""
        if array.dtype not in allowed:
            listed = " or ".join(str(dtype) for dtype in dict.fromkeys(allowed))
            self.refuse(name, str(array.dtype), f"{listed}{why}")

    def shape(self, name: str, array: Array, expected: tuple[int, ...], why: str) -> None:
        """Require exactly the shape ``expected``; ``why`` ends the sentence."""
        if array.shape != expected:
            self.refuse(name, f"of shape {array.shape}", f"of shape {expected}, {why}")

    def rank(self, name: str, array: Array, least: int = 0) -> None:
        """Require between ``least`` and 8 axes."""
        if not least <= len(array.shape) <= MAX_RANK:
            given = f"of shape {array.shape}, with {len(array.shape)} axes"
            self.refuse(name, given, f"an array of {least} to {MAX_RANK} axes")

    def normalized_shape(
        self, value: int | Sequence[int], name: str, array: Array
    ) -> tuple[int, ...]:
        """Require the trailing axes of ``array``, at least one.

        Args:
            value: What the caller gave.
            name: The name of the array.
            array: The array to be normalized.

        Returns:
            The normalized shape as a tuple.
        """
        shape = shape_of(value, self._routine, "normalized_shape")
        subject = f"'{name}', whose shape is {array.shape}"
        if not 1 <= len(shape) <= len(array.shape):
            expected = f"1 to {len(array.shape)} lengths, the trailing axes of {subject}"
            self.refuse("normalized_shape", str(shape), expected)
        trailing = array.shape[-len(shape) :]
        if shape != trailing:
            expected = f"{trailing}, the trailing axes of {subject}"
            self.refuse("normalized_shape", str(shape), expected)
        return shape

    def trailing(self, name: str, array: Array, of_name: str, of: Array) -> None:
        """Require the shape of trailing axes of another array, at least one."""
        self.rank(name, array, least=1)
        rank = len(array.shape)
        if rank > len(of.shape) or array.shape != of.shape[-rank:]:
            expected = f"of the shape of trailing axes of '{of_name}', whose shape is {of.shape}"
            self.refuse(name, f"of shape {array.shape}", expected)

    def out(
        self,
        value: Sequence[Array | None] | None,
        names: Sequence[str],
        mask: Sequence[bool] | None = None,
    ) -> dict[str, Array | None]:
        """Require one entry for each result, and None for those that are masked off.

        Args:
            value: The ``out`` argument.
            names: The names of the results.
            mask: Which of them are computed; all if None.

        Returns:
            The entries by name; empty if ``value`` is None.
        """
        if value is None:
            return {}
        if not isinstance(value, (tuple, list)) or len(value) != len(names):
            length = f" of {len(value)}" if hasattr(value, "__len__") else ""
            expected = f"a tuple of {len(names)}, arrays or None: {', '.join(names)}"
            self.refuse("out", f"a {type(value).__name__}{length}", expected)
        for name, on, array in zip(names, mask or [True] * len(names), value, strict=True):
            if array is not None and not on:
                self.refuse(f"out: {name}", "an array", "None, because output_mask leaves it out")
        return {f"out: {name}": array for name, array in zip(names, value, strict=True)}

    def epsilon(self, name: str, value: object) -> float:
        """Require a number of 0 or more that is finite in float32, and return it as a float."""
        number = math.nan
        if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
            with contextlib.suppress(OverflowError):
                number = float(value)
        if not (math.isfinite(number) and number >= 0):
            self.refuse(name, _short(value), "a finite number, 0 or more")
        if number > _LARGEST:
            expected = f"at most {_LARGEST:.7g}, the largest float32: operators compute with that"
            self.refuse(name, _short(value), expected)
        return number


def _short(value: object) -> str:
    """Write a value; an integer too long to be printed by its length."""
    if isinstance(value, int) and value.bit_length() > _MANY_BITS:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)
