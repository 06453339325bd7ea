# SPDX-License-Identifier: Apache-2.0
"""The table of PyTorch's functions agrees with the operators, and with PyTorch where it is."""

from __future__ import annotations

from typing import Any

import pytest

from pyaclnn.calling.declared import Declared
from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.torch_functions import torch_functions


def test_every_row_is_of_an_operator_without_a_description() -> None:
    assert len(torch_functions()) > 400
    for operator, function in torch_functions().items():
        declared = Declared.of(operator)
        assert declared is not None, operator
        assert operator not in by_c_name(), operator
        assert {*function.renamed.values()} <= {*declared.names}, operator


@pytest.mark.torch
def test_names_and_defaults_are_those_of_pytorch(torch: Any) -> None:
    schemas: dict[str, list[list[str]]] = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::"):
            found = [
                f"{one.name}={str(one.default_value).replace(' ', '')}"
                if one.has_default_value()
                else one.name
                for one in schema.arguments
            ]
            schemas.setdefault(schema.name.removeprefix("aten::"), []).append(found)
    for operator, function in torch_functions().items():
        wanted = [text.replace("'", "") for text in function.parameters if text != "*"]
        assert any({*wanted} <= {*found} for found in schemas[function.name]), operator
