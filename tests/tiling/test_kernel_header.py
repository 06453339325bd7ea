# SPDX-License-Identifier: Apache-2.0
"""Structures of layer norms in the kernel's header and in Python: the same, field by field."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from pyaclnn.ascendc import tiling

HEADER = Path(__file__).parents[2] / "include_stubs" / "kernel_tiling" / "kernel_tiling.h"
STRUCTURES = re.findall(
    r"^struct (LayerNorm\w+) \{\n(.*?)^\};", HEADER.read_text(), re.MULTILINE | re.DOTALL
)
PYTHON_TYPES = {"uint32_t": "int", "float": "float"}


def test_the_header_has_the_four_structures() -> None:
    assert len(STRUCTURES) == 4


@pytest.mark.parametrize(("name", "body"), STRUCTURES, ids=[name for name, _ in STRUCTURES])
def test_fields_have_the_same_names_types_and_order(name: str, body: str) -> None:
    declared = re.findall(r"^\s*(\w+) (\w+) = 0;", body, re.MULTILINE)
    fields = dataclasses.fields(getattr(tiling, name))
    assert [(PYTHON_TYPES[c_type], field) for c_type, field in declared] == [
        (field.type, field.name) for field in fields
    ]
