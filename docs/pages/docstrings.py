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
        public = obj.path.startswith("pyaclnn.reference.") and obj.name in reference.__all__
        if public and obj.docstring is not None and not obj.is_module:
            obj.docstring.value = inspect.getdoc(getattr(reference, obj.name)) or ""
