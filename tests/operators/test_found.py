# SPDX-License-Identifier: Apache-2.0
"""Descriptions are found in their sources, so that they need not be loaded to be known."""

from __future__ import annotations

import importlib
import pkgutil

from pyaclnn.operators import Operator, all_operators, by_c_name, norm


def test_what_is_found_in_the_sources_is_what_the_modules_describe() -> None:
    names = (found.name for found in pkgutil.iter_modules(norm.__path__, f"{norm.__name__}."))
    values = [value for name in names for value in vars(importlib.import_module(name)).values()]
    described = {value.c_name: value for value in values if isinstance(value, Operator)}

    assert dict(by_c_name()) == described
    assert dict(all_operators()) == {found.name: found for found in described.values()}
    assert list(all_operators()) == sorted(all_operators())
