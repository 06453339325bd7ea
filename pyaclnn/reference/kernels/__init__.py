# SPDX-License-Identifier: Apache-2.0
"""NumPy kernels of operators without a description.

A kernel is a row of `numpy.txt`. In-place forms and forms on lists follow from them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyaclnn.base.locks import cached_property
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.reference.kernels.forms import form_of, kernel_of_form
from pyaclnn.reference.kernels.rows import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["built_in"]


class _BuiltIn(Mapping[str, "Kernel"]):
    """The kernels by C names; an expression is compiled when it is looked up."""

    def __init__(self) -> None:
        self._made: dict[str, Kernel] = {}

    def __getitem__(self, name: str) -> Kernel:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._make(name)
        return found

    def _make(self, name: str) -> Kernel:
        from pyaclnn.reference.kernels.table import row_kernel  # noqa: PLC0415  # functions

        plain = self._plain(name)
        return row_kernel(name) if plain is None else kernel_of_form(name, self[plain])

    def _plain(self, name: str) -> str | None:
        return None if name in rows() else form_of(name, rows())

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """All names; one alone is looked up without them, as most processes do."""
        return (*rows(), *(name for name in catalogue() if self._plain(name) is not None))

    def __contains__(self, name: object) -> bool:
        return name in rows() or (isinstance(name, str) and self._plain(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@functools.cache
def built_in() -> Mapping[str, Kernel]:
    """Return the kernels by the C names of their operators."""
    return _BuiltIn()
