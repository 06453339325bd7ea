# SPDX-License-Identifier: Apache-2.0
"""llama.cpp on the simulated NPU: its own tests of operators, and the tokens of a model."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import pytest

from tests.conftest import COUNTED

from .tiny_model import FORMATS, write_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from .conftest import Llama

REFUSED = {"CONCAT": ("type=q[45]_", "aclnnCat: tensors has data type INT4")}
"""Cases of which llama.cpp makes a call that CANN refuses, and the refusal; the program ends there.
It joins blocks of 32 numbers as if each were an element, of type INT4 or of none."""
APART: dict[str, tuple[str, ...]] = {
    "RMS_NORM_MUL_ROPE": ("rope=1",),
    "ROPE": (r"ne_a=\[256,8,512,1\],n_dims=256", r"ne_a=\[512,8,512,1\]"),
}
"""Operators, and cases of them, that need processes of their own: sine and cosine are written to
tables that llama.cpp allocates again for more positions only, and not for longer rows."""
WRONG = {
    "CONCAT": "type=q8_0",  # strides are counted in blocks of 34 bytes, elements are of one byte
    "GET_ROWS": "type=q8_0,.*vs0=1",  # scales lie behind the tensor, not behind the view of it
    "MUL_MAT_ID": "amax=100000",  # beyond float16, to which the backend casts
    "SET_ROWS": "type_src=f16,type_dst=f32",  # reads rows of float32 with the strides of float16
}
"""Operators whose numbers differ from those of the CPU for a reason in llama.cpp; the cases."""


def cases(llama: Llama, names: str, parameters: str) -> str:
    chosen = ("test", "-b", "CANN0", "-o", names, "-p", parameters)
    return llama.run("test-backend-ops", *chosen, PYACLNN_MOCK_DEVICES="1")


def without(patterns: Iterable[str]) -> str:
    """Return a pattern of the cases that match none of some."""
    return "^" + "".join(f"(?!.*{each})" for each in patterns)


def test_every_operator_is_computed_right(
    llama: Llama, record_property: Callable[[str, object], None]
) -> None:
    listed = llama.run("test-backend-ops", "--list-ops")
    names = re.findall(r"^ +([A-Z0-9_]+)$", listed, re.MULTILINE)
    assert len(names) > 100
    # Of several names each also stands for the operators whose names have it in them.
    together = "|".join(sorted({*names} - {*REFUSED, *APART}))
    runs = [(together, without(itertools.chain(*APART.values())))]
    for name in (*REFUSED, *APART):
        apart = APART.get(name, ())
        left_out = (REFUSED[name][0], *apart) if name in REFUSED else apart
        runs += [(name, each) for each in (without(left_out), *apart)]
    passed, known, unexpected = 0, 0, []
    for chosen, parameters in runs:
        printed = cases(llama, chosen, parameters)
        passed += len(re.findall(r"\): .{0,9}OK", printed))
        for name, case in re.findall(r"([A-Z0-9_]+)\((.*)\): .*FAIL", printed):
            if re.search(WRONG.get(name, r"\Z."), case):
                known += 1
            else:
                unexpected.append(f"{name}({case})")
        if re.search(r"exit status [01]\n$", printed) is None:
            unexpected.append(printed[-2000:])
    for name, (refused, reason) in REFUSED.items():
        printed = cases(llama, name, refused)
        if not printed.endswith("exit status -6\n") or reason not in printed:  # SIGABRT
            unexpected.append(printed[-2000:])
    assert unexpected == []
    assert passed > 4000
    assert known == 39
    record_property(COUNTED, [f"cases of {len(names)} operators of llama.cpp are right", passed])


@pytest.mark.parametrize("form", FORMATS)
def test_a_model_chooses_the_same_tokens_as_on_the_cpu(
    form: str, llama: Llama, tmp_path: Path
) -> None:
    model = tmp_path / "tiny.gguf"
    write_model(model, form)
    texts = []
    for layers, devices in (("0", "1"), ("99", "1"), ("99", "2")):
        command = ("llama-simple", "-m", model, "-n", "24", "-ngl", layers, "a b c")
        # It prepares weights on the default stream and does not wait; a chip is done by then.
        variables = {"PYACLNN_MOCK_MODE": "eager", "PYACLNN_MOCK_DEVICES": devices}
        printed = llama.run(*command, **variables)
        assert printed.endswith("exit status 0\n"), printed[-2000:]
        assert ("offloaded 3/3 layers" in printed) == (layers == "99"), printed[-2000:]
        assert ("CANN1 model buffer" in printed) == (devices == "2"), printed[-2000:]
        texts.append(printed[printed.index("<s>") :].splitlines()[0])
    assert len(set(texts)) == 1, texts
    assert len(texts[0]) > 40
