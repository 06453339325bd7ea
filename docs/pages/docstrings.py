# SPDX-License-Identifier: Apache-2.0
"""Docstrings of `pyaclnn.reference` on the site: as Python has them, completed by descriptions."""

from __future__ import annotations

import inspect
from typing import Any

import griffe

from pyaclnn import reference

__all__ = ["Completed"]


class Completed(griffe.Extension):
    """An extension of griffe, which reads docstrings from the source otherwise."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Take the docstring of a definition or of its results from the running package."""
        if not obj.path.startswith("pyaclnn.reference.") or obj.name not in reference.__all__:
            return
        found = getattr(reference, obj.name)
        if obj.docstring is not None and obj.path == f"{found.__module__}.{obj.name}":
            obj.docstring.value = inspect.getdoc(found) or ""
