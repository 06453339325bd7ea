# SPDX-License-Identifier: Apache-2.0
"""Networks train and generate on the simulated NPU as on the CPU, with unmodified PyTorch."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from .conftest import cases_of
from .test_torch import check

if TYPE_CHECKING:
    from .conftest import Ask

CASES = cases_of("network_cases.py", "library_cases.py", "vllm_cases.py")
# torch-npu asks for operators of these that CANN 8.1 does not have.
LATER = {
    "scaled_gradients",
    "sparse_gradients",
    "quantized_product",
    "vllm_quantized_linear",
}
# Libraries whose names begin the names of cases.
LIBRARIES = ("transformers", "accelerate", "peft", "vllm")
SETTINGS = [
    *(({"PYACLNN_MOCK_CANN": "8.1"}, case) for case in CASES if case not in LATER),
    *(({"PYACLNN_MOCK_CANN": "9.1"}, case) for case in CASES),
]


def _parameters() -> list[object]:
    """Mark what only the session `networks` runs: all but the first settings of each case."""
    seen: set[str] = set()
    found: list[object] = []
    for settings, case in SETTINGS:
        marks = [pytest.mark.networks] if case in seen or case.startswith(LIBRARIES) else []
        name = f"{case}-{next(iter(settings.values()))}"
        found.append(pytest.param(settings, case, marks=marks, id=name))
        seen.add(case)
    return found


@pytest.mark.parametrize(("settings", "case"), _parameters())
def test_a_network_computes_what_it_does_on_the_cpu(
    ask: Ask, case: str, settings: dict[str, str]
) -> None:
    library = case.partition("_")[0]
    if library in LIBRARIES and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    check(ask(case, **settings))
