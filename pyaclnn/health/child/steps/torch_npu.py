# SPDX-License-Identifier: Apache-2.0
"""Import of torch-npu, where it is installed, and its version beside that of PyTorch."""

from __future__ import annotations

import importlib
import importlib.metadata
import traceback
from typing import TYPE_CHECKING

from pyaclnn.base.errors import text_of
from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.child.failures import explained
from pyaclnn.health.report.record import Evidence

if TYPE_CHECKING:
    from pyaclnn.health.child.session import Session

__all__: list[str] = []


def _imports(_: Session) -> Finding:
    npu, torch = _version("torch-npu"), _version("torch")
    if npu is None:
        return skip("torch-npu is not installed")
    seen = value("torch-npu", npu), value("torch", torch or "not installed")
    if torch is None or torch.split(".")[:2] != npu.split(".")[:2]:
        return found("EXT-004.versions", *seen, npu=npu, torch=torch or "none")
    try:
        importlib.import_module("torch")
        importlib.import_module("torch_npu")
    except Exception as error:  # noqa: BLE001  # whatever it is, programs get it as well
        reason = f"{type(error).__name__}: {text_of(error)}"
        trace = Evidence("traceback", "import torch_npu", traceback.format_exc())
        return explained(found("EXT-004.fails", *seen, trace, npu=npu, reason=reason), reason)
    return ok(f"torch-npu {npu} can be imported", *seen)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
