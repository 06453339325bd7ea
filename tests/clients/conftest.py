# SPDX-License-Identifier: Apache-2.0
"""PyTorch with torch-npu on the simulated NPU, where both are installed."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.mock import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ask = Callable[..., dict[str, Any]]

HERE = Path(__file__).parent
PATIENCE = 180
"""Seconds; a process of its own imports PyTorch first."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this room."""
    item.add_marker(pytest.mark.clients)


BESIDE_CUDA = """
#include <string>
#include <unordered_set>
namespace c10::CachingAllocator {
struct AcceleratorAllocatorConfig {
    static std::unordered_set<std::string> &getMutableKeys();
};
std::unordered_set<std::string> &AcceleratorAllocatorConfig::getMutableKeys()
{
    return *new std::unordered_set<std::string>;
}
}
"""
"""PyTorch's list of the names of its allocators' options, empty each time it is asked for.

From 2.14 on, torch-npu ends at import beside a PyTorch that was built for CUDA, which is all that
the package index has: each of the two registers the same names.
"""


@pytest.fixture(scope="session")
def torch_npu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Skip where torch-npu is not installed; let it start beside any build of PyTorch."""
    torch = find_spec("torch")
    if find_spec("torch_npu") is None or torch is None or torch.origin is None:
        pytest.skip("torch-npu is not installed")
    with pytest.MonkeyPatch.context() as patch:
        if (Path(torch.origin).parent / "lib/libtorch_cuda.so").exists():
            folder = tmp_path_factory.mktemp("beside")
            (folder / "keys.cpp").write_text(BESIDE_CUDA, encoding="utf-8")
            library = str(folder / "keys.so")
            command = ["c++", "-std=c++17", "-shared", "-fPIC", "-o", library, "keys.cpp"]
            subprocess.run(command, cwd=folder, check=True)
            patch.setenv("LD_PRELOAD", library)
        yield


def cases_of(*files: str) -> list[str]:
    """Return the names of the cases in files: their public functions."""
    return [
        node.name
        for file in files
        for node in ast.parse((HERE / file).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def settings(**variables: str) -> dict[str, str]:
    """The environment of a program on the simulated NPU that is told nothing else."""
    own = ("PYACLNN_MOCK", "ASCEND", "TASK_QUEUE")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(own)}
    return {**environment({**kept, **variables}), "OMP_NUM_THREADS": "1", **variables}


class Zygote:
    """A process that has imported torch-npu under some settings."""

    def __init__(self, variables: dict[str, str]) -> None:
        mine, its = socket.socketpair()
        with its:
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "zygote.py"), str(its.fileno())],
                env=settings(**variables),
                pass_fds=[its.fileno()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        self._asked = Connection(mine.detach())

    def ask(self, case: str) -> dict[str, Any]:
        """Return the outcome of a case."""
        try:
            self._asked.send(case)
            assert self._asked.poll(PATIENCE), f"no answer to {case} in {PATIENCE} s"
            answer: dict[str, Any] = self._asked.recv()
        except (EOFError, BrokenPipeError):
            self._process.wait(PATIENCE)
            assert self._process.stderr is not None
            pytest.fail(f"torch-npu did not start:\n{self._process.stderr.read()}")
        return answer

    def close(self) -> None:
        """End the process."""
        self._asked.close()
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE)


@pytest.fixture(scope="module")
def ask(torch_npu: None) -> Iterator[Ask]:  # noqa: ARG001  # it must be there
    """Return what asks for a case under some settings of the environment."""
    zygotes: dict[tuple[tuple[str, str], ...], Zygote] = {}

    def ask(case: str, **variables: str) -> dict[str, Any]:
        key = tuple(sorted(variables.items()))
        if key not in zygotes:
            zygotes[key] = Zygote(variables)
        return zygotes[key].ask(case)

    yield ask
    for zygote in zygotes.values():
        zygote.close()
