# SPDX-License-Identifier: Apache-2.0
"""llama.cpp on the simulated NPU: its own tests of operators, and the tokens of a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from .tiny_model import FORMATS, write_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Llama

REFUSED = {
    "CONCAT": "aclnnCat: tensors has data type INT4",
    "CROSS_ENTROPY_LOSS": "aclnnReduceSum: out has shape (1,); the result has ()",
}
"""Operators of which llama.cpp calls CANN in a way that CANN refuses, with the reason; the program
ends there."""


def test_every_operator_is_computed_right(
    llama: Llama, record_property: Callable[[str, object], None]
) -> None:
    listed = llama.run("test-backend-ops", "--list-ops")
    names = re.findall(r"^ +([A-Z0-9_]+)$", listed, re.MULTILINE)
    assert len(names) > 100
    passed, wrong = 0, {}
    for name in names:
        printed = llama.run("test-backend-ops", "test", "-b", "CANN0", "-o", name)
        passed += len(re.findall(r"\): .{0,9}OK", printed))
        if not printed.endswith("exit status 0\n") and REFUSED.get(name, "\0") not in printed:
            wrong[name] = printed[-2000:]
    record_property("right", f"{passed} cases of {len(names)} operators")
    assert wrong == {}
    assert passed > 5000


@pytest.mark.parametrize("form", FORMATS)
def test_a_model_chooses_the_same_tokens_as_on_the_cpu(
    form: str, llama: Llama, tmp_path: Path
) -> None:
    model = tmp_path / "tiny.gguf"
    write_model(model, form)
    texts = []
    for layers in ("0", "99"):
        printed = llama.run("llama-simple", "-m", model, "-n", "24", "-ngl", layers, "a b c")
        assert printed.endswith("exit status 0\n"), printed[-2000:]
        assert ("offloaded 3/3 layers" in printed) == (layers == "99"), printed[-2000:]
        texts.append(printed[printed.index("<s>") :].splitlines()[0])
    assert texts[0] == texts[1]
    assert len(texts[0]) > 40
