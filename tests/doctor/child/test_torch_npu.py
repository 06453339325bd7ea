# SPDX-License-Identifier: Apache-2.0
"""Import of torch-npu in a child of the doctor."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.child.probe import step_of
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from pathlib import Path

ABI = "libtorch_npu.so: undefined symbol: _ZN3c105ErrorC2E"
OTHER = f"raise ImportError({ABI!r})"


@pytest.mark.parametrize(
    ("npu", "torch", "code", "status", "words"),
    [
        (None, "2.1.0", "", Status.SKIP, "not installed"),
        ("2.1.0.post8", "2.1.0", "", Status.PASS, "can be imported"),
        ("2.1.0", "2.4.0", "", Status.WARN, "torch-npu 2.1.0 does not belong to torch 2.4.0"),
        ("2.1.0", None, "", Status.WARN, "does not belong to torch none"),
        (
            "2.1.0",
            "2.1.0",
            f"raise ImportError({ABI!r})",
            Status.WARN,
            "another version of PyTorch",
        ),
        ("2.1.0", "2.1.0", "raise RuntimeError('odd')", Status.WARN, "RuntimeError: odd"),
    ],
)
def test_torch_npu_is_imported_where_it_is_installed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    npu: str | None,
    torch: str | None,
    code: str,
    status: Status,
    words: str,
) -> None:
    step = step_of("EXT-004")
    versions = {"torch-npu": npu, "torch": torch}
    monkeypatch.setitem(step.__globals__, "_version", versions.get)
    for name, content in (("torch", ""), ("torch_npu", code)):
        (tmp_path / f"{name}.py").write_text(f"{content}\n", encoding="utf-8")
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    finding = step(SimpleNamespace(task=SimpleNamespace(simulated=False)))  # type: ignore[arg-type]  # all it needs
    assert finding.status is status
    assert re.search(words, f"{finding.summary} {finding.causes}")
