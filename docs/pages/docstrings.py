# SPDX-License-Identifier: Apache-2.0
"""Docstrings of `pyaclnn.reference` on the site: as Python has them, completed by descriptions."""

from __future__ import annotations

import inspect
from typing import Any

import griffe

from pyaclnn import reference

__all__ = ["Completed"]


class Completed(griffe.Extension):
    """An extension of griffe, which reads the stub of the definitions, without docstrings."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Take the docstring of a definition or of its results from the running package."""
        if obj.path == f"pyaclnn.reference.operators.{obj.name}" and obj.name in reference.__all__:
            text = inspect.getdoc(getattr(reference, obj.name)) or ""
            obj.docstring = griffe.Docstring(text, parent=obj)
