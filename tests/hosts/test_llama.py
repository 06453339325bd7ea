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
    "ROPE": "out takes 524288 bytes from 0 bytes behind this address on; its block has fewer",
}
"""Operators of which llama.cpp makes a call that breaks a rule, with the reason; it ends there.
Rotary positions are written to tables that an earlier, shorter call has allocated."""
WRONG = {
    "GET_ROWS": "type=q8_0,.*vs0=1",  # scales lie behind the tensor, not behind the view of it
    "MUL_MAT_ID": "amax=100000",  # beyond float16, in which the backend multiplies
    "SET_ROWS": "type_src=f16,type_dst=f32",  # reads rows of float32 with the strides of float16
    "SOLVE_TRI": "type=f32",  # the numbers grow so far that rounding decides about them
}
"""Operators whose numbers differ from those of the CPU for a reason in llama.cpp; the cases."""


def test_every_operator_is_computed_right(
    llama: Llama, record_property: Callable[[str, object], None]
) -> None:
    listed = llama.run("test-backend-ops", "--list-ops")
    names = re.findall(r"^ +([A-Z0-9_]+)$", listed, re.MULTILINE)
    assert len(names) > 100
    passed, unexpected = 0, {}
    for name in names:
        printed = llama.run("test-backend-ops", "test", "-b", "CANN0", "-o", name)
        passed += len(re.findall(r"\): .{0,9}OK", printed))
        wrong = re.findall(rf"{name}\(.*\): .*FAIL", printed)
        known = [line for line in wrong if re.search(WRONG.get(name, r"\Z."), line)]
        ended = "exit status -6" in printed  # SIGABRT
        if len(known) < len(wrong) or (ended and REFUSED.get(name, "\0") not in printed):
            unexpected[name] = printed[-2000:]
    record_property("right", f"{passed} cases of {len(names)} operators")
    assert unexpected == {}
    assert passed > 4000


@pytest.mark.parametrize("form", FORMATS)
def test_a_model_chooses_the_same_tokens_as_on_the_cpu(
    form: str, llama: Llama, tmp_path: Path
) -> None:
    model = tmp_path / "tiny.gguf"
    write_model(model, form)
    texts = []
    for layers in ("0", "99"):
        command = ("llama-simple", "-m", model, "-n", "24", "-ngl", layers, "a b c")
        # It prepares weights on the default stream and does not wait; a chip is done by then.
        printed = llama.run(*command, PYACLNN_MOCK_MODE="eager")
        assert printed.endswith("exit status 0\n"), printed[-2000:]
        assert ("offloaded 3/3 layers" in printed) == (layers == "99"), printed[-2000:]
        texts.append(printed[printed.index("<s>") :].splitlines()[0])
    assert texts[0] == texts[1]
    assert len(texts[0]) > 40
