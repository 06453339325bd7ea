# SPDX-License-Identifier: Apache-2.0
"""A process that has imported torch-npu, and forks a child for every case: that saves seconds each.

It stands alone: ``python zygote.py DESCRIPTOR`` with a socket to whoever asks.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import blocked_cases
import compiled_cases
import graph_cases
import launch_cases
import library_cases
import network_cases
import pyaclnn_cases
import torch
import torch_cases
import torch_npu  # noqa: F401  # registers the device
import vllm_cases

_LIMITS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def _compared(case: str) -> dict[str, tuple[float, float]]:
    """The error of each result, in relation to the largest value, and what it may be."""
    rooms = (torch_cases, graph_cases, compiled_cases, blocked_cases)
    modules = (*rooms, pyaclnn_cases, launch_cases, network_cases, library_cases, vllm_cases)
    run = next(getattr(module, case) for module in modules if hasattr(module, case))
    found, expected = ({k: v.detach().cpu() for k, v in run(d).items()} for d in ("npu", "cpu"))
    assert found.keys() == expected.keys()
    errors = {}
    for name, right in expected.items():
        got = found[name]
        assert (got.dtype, got.shape) == (right.dtype, right.shape), name
        largest = right.double().abs().max().clamp(min=1)
        error = (got.double() - right.double()).abs().max() / largest
        errors[name] = (float(error), _LIMITS.get(right.dtype, 0.0))
    return errors


def _calls() -> dict[str, int]:
    """Return the number of calls of each runtime function."""
    count = ctypes.CDLL("libascendcl.so").pyaclnn_mock_call_counts
    text = ctypes.create_string_buffer(count(None, ctypes.c_size_t(0)) + 4096)
    count(text, ctypes.c_size_t(len(text)))
    rows = (line.split() for line in text.value.decode().splitlines())
    return {name: int(calls) for name, calls in rows}


def _answer(case: str, report: Path) -> dict[str, Any]:
    os.environ["PYACLNN_MOCK_REPORT"] = str(report)
    try:
        answer: dict[str, Any] = {"errors": _compared(case)}
    except Exception:  # noqa: BLE001  # whatever it was, the test wants to know
        answer = {"failure": traceback.format_exc()}
    answer["mapped"] = _calls()["aclrtMapMem"]
    records = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    return {**answer, "records": [json.loads(record) for record in records]}


def _in_child(case: str, folder: Path) -> dict[str, Any]:
    answer = folder / f"{case}.json"
    child = os.fork()
    if child == 0:
        answer.write_text(json.dumps(_answer(case, folder / f"{case}.jsonl")), encoding="utf-8")
        # Another test covers the objects that torch-npu leaks at exit.
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not answer.exists():
        return {"failure": f"the process of {case} ended with status {status}", "records": []}
    told: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return told


def main() -> None:
    """Answer one case after the other, until there are no more."""
    asked = Connection(int(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        while case := asked.recv():
            asked.send(_in_child(case, Path(folder)))


if __name__ == "__main__":
    main()
