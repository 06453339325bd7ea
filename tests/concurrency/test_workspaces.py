# SPDX-License-Identifier: Apache-2.0
"""The workspace of a stream is exchanged while a plan runs: the run has one that is large enough.

A run is in C, without Python's lock, so the stops are there too: a library that stands before CANN
stops between a call's steps until another thread has done what it wants.
"""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import mock, reference
from pyaclnn._binding import ffi, lib
from pyaclnn.calling.plan import Plan, plan
from pyaclnn.mock import libdir
from pyaclnn.ops import rms_norm_grad
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.creation import to_device
from tests.mock_libs.programs import COMPILER

from .schedule import every_interleaving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.runtime.stream import Stream

GAMMA = np.ones(8, np.float32)
BEFORE_CANN = """
void (*stop)(void);
int (*question)(void **);
int (*phase2)(void *, unsigned long, void *, void *);

int aclrtGetCurrentContext(void **context)
{
    stop();
    return question(context);
}

int stopped_phase2(void *workspace, unsigned long size, void *executor, void *stream)
{
    stop();
    return phase2(workspace, size, executor, stream);
}
"""
_new_rows = itertools.count(1009)  # more than any other test has
PLACES = ("the question for the context", "phase 2")


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("stops")
    source, library = folder / "stops.c", folder / "libstops.so"
    source.write_text(BEFORE_CANN, encoding="utf-8")
    subprocess.run([*COMPILER, "-shared", "-fPIC", source, "-o", library], check=True)
    return lib.binding_open(str(library).encode())


def address(library: Any, symbol: str) -> Any:
    return lib.binding_symbol(library, symbol.encode())


def put(library: Any, variable: str, value: Any) -> None:
    place: Any = ffi.cast("void **", address(library, variable))
    place[0] = value


def resolve(library: Any) -> None:
    assert lib.binding_resolve(b"aclrtGetCurrentContext", library) == 1


class Stops:
    """Stops a plan's runs in C, and has another thread do something there."""

    def __init__(self, shim: Any, ready: Plan, at: int) -> None:
        self._at, self._passed = at, 0
        self._meanwhile: Callable[[], None] | None = None
        self._on: int | None = None
        self._keep = ffi.callback("void(void)", self._stop)
        real = lib.binding_open(str(libdir() / "libascendcl.so").encode())
        put(shim, "stop", ffi.cast("void *", self._keep))
        put(shim, "question", address(real, "aclrtGetCurrentContext"))
        put(shim, "phase2", ready._struct.phase2)
        ready._struct.phase2 = address(shim, "stopped_phase2")
        self._shim, self._real = shim, real

    @contextlib.contextmanager
    def during(self, meanwhile: Callable[[], None]) -> Iterator[None]:
        self._on, self._meanwhile, self._passed = threading.get_ident(), meanwhile, 0
        resolve(self._shim)
        try:
            yield
        finally:
            resolve(self._real)
        assert self._passed > self._at, f"the run never came to {PLACES[self._at]}"

    def _stop(self) -> None:
        if threading.get_ident() != self._on:
            return
        if self._passed == self._at:
            other = threading.Thread(target=self._meanwhile)
            other.start()
            other.join()
        self._passed += 1


class Run:
    """A plan that needs a workspace, and what its results must be."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        # CANN keeps no executor of a shape that it has seen before.
        rows = np.arange(1, 1 + 8 * next(_new_rows), dtype=np.float32).reshape(-1, 8)
        rstd = 1 / np.sqrt((rows**2).mean(axis=-1, keepdims=True))
        self.wanted = reference.rms_norm_grad(rows, rows, rstd, GAMMA)
        x, gamma = to_device(rows), to_device(GAMMA)
        self.plan = plan(rms_norm_grad, x, x, to_device(rstd), gamma, stream=stream)
        assert self.plan.repeatable
        self.plan.run()  # now there is a workspace

    def check(self) -> None:
        self._stream.synchronize()
        for array, wanted in zip(self.plan.results, self.wanted, strict=True):
            np.testing.assert_allclose(array.numpy(), wanted, rtol=1e-4, atol=1e-6)
        assert mock.violations() == []


def trim(stream: Stream) -> None:
    """Give it back, and have its memory filled by somebody else."""
    stream.workspace.trim()
    stream.synchronize()
    Buffer(16 << 20).close()


def use_small(stream: Stream) -> None:
    stream.workspace.use(Buffer(4096))


def use_own_again(stream: Stream) -> None:
    with Buffer(32 << 20) as large:
        stream.workspace.use(large)
    stream.workspace.use(None)
    stream.synchronize()


@pytest.mark.parametrize("exchange", [trim, use_small, use_own_again])
@pytest.mark.parametrize("at", range(len(PLACES)), ids=PLACES)
def test_a_run_keeps_the_workspace_that_it_began_with(
    at: int, exchange: Callable[[Stream], None], shim: Any, stream: Stream
) -> None:
    run = Run(stream)
    with Stops(shim, run.plan, at).during(lambda: exchange(stream)):
        run.plan.run()
    run.check()
    run.plan.close()


class Trimming(Run):
    """A run at each step of giving the workspace back."""

    def work(self) -> None:
        self._stream.workspace.trim()

    def meanwhile(self) -> None:
        self.plan.run()

    def check(self) -> None:
        super().check()
        self.plan.close()


@pytest.mark.exhaustive
def test_a_run_amid_an_exchange_has_the_one_workspace_or_the_other(stream: Stream) -> None:
    assert every_interleaving(lambda: Trimming(stream), ("workspace.py", "timeline.py")) > 15
