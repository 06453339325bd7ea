# SPDX-License-Identifier: Apache-2.0
"""Faults and modes of the simulated NPU, for a process that is running."""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyaclnn.base.spelling import with_article
from pyaclnn.mock.control.tools import lines_of, loaded
from pyaclnn.mock.protocol.fault_functions import require_functions

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GRAMMAR", "Fault", "faults", "injected", "mode", "set_faults", "set_mode"]

GRAMMAR = """\
PYACLNN_MOCK_FAULTS, and `with pyaclnn.mock.faults(...)`, hold faults separated by semicolons:

    FUNCTION[@DEVICE][:WHEN]=EFFECT    memory=BYTES    stuck=DEVICE:BYTE:BIT    seed=NUMBER

FUNCTION is a C function; * and ? are wildcards, as in a shell (aclrtMalloc, aclrt*Async). With
@DEVICE only calls of threads are hit that have this device current.

WHEN is counted from when the faults were set; without it every call is hit:
    3        the third call only
    3+       the third and every later call
    *3       every third call
    p0.05    five calls in a hundred, at random; seed=NUMBER chooses the sequence

EFFECT is one of:
    507899         the call answers this code and does nothing; a function that answers no code
                   answers NULL or 0. Phase 2 of an operator consumes its executor all the same,
                   as in CANN
    after:507899   the call does its work, and then answers this code (for functions that give
                   something back, which is then given back although they say they failed)
    async:507015   what the call queues on a stream fails with this code when it runs
    slow:250       the call takes 250 microseconds longer
    hang           what the call queues never ends: synchronizing with a timeout answers 507046,
                   without one it hangs; it goes on when the faults are taken away or changed
    wrong          the kernel the call queues writes wrong numbers into its outputs
    lost           the process of the current device is killed before the call

memory=BYTES lets a device have only so much memory (207001 beyond it).

stuck=DEVICE:BYTE:BIT lets a bit (0 to 7) of a byte, counted from the beginning of the device's
memory, be 1 whatever is copied or filled there; a kernel's output has it when it is copied.

A library or a function that is missing is no fault of a call: `with pyaclnn.mock.without(...)`
makes a folder of libraries that lack it, to be the backend or to stand in LD_LIBRARY_PATH.

Examples:
    PYACLNN_MOCK_FAULTS="aclrtMalloc:3=207001"
    PYACLNN_MOCK_FAULTS="aclrtMemcpy*@1=slow:500; stuck=0:4096:5"
    PYACLNN_MOCK_FAULTS="aclnnRmsNorm:*2=async:507015; aclrtMemcpy*:p0.01=507899; seed=7"
"""
"""Grammar of faults."""


@dataclass(frozen=True)
class Fault:
    """One fault that is set, and its effects so far.

    Attributes:
        text: The fault as it was written, without blanks.
        calls: Number of calls of its functions since it was set.
        effects: Number of times it took effect. Effects on queued work (``async``, ``hang``,
            ``wrong``) need a call that queues some.
    """

    text: str
    calls: int
    effects: int


def injected() -> list[Fault]:
    """List the faults of calls that are set; ``memory=``, ``stuck=`` and ``seed=`` are none.

    Returns:
        The faults in the order in which they were written; none if no simulated NPU is loaded.
    """
    fields = [line.split() for line in lines_of("pyaclnn_mock_faults")]
    return [Fault(text, int(calls), int(effects)) for text, calls, effects in fields]


def set_faults(text: str) -> None:
    """Replace the faults of this process; every count begins anew.

    Args:
        text: Faults in the notation of `GRAMMAR`; an empty text removes all.

    Raises:
        ValueError: The text is malformed, or names a function that CANN does not have; nothing is
            changed.
        RuntimeError: No simulated NPU is loaded yet.
    """
    if not isinstance(text, str):
        given = with_article(type(text).__name__)
        raise TypeError(f"faults are {given}; they must be a str, e.g. 'aclrtMalloc=207001'")
    libraries = _libraries("faults")
    require_functions(text)
    for library in libraries:
        call = library.pyaclnn_mock_faults_set
        call.argtypes, call.restype = [ctypes.c_char_p], ctypes.c_char_p
        failed = call(text.encode())
        if failed is not None:
            raise ValueError(
                f"{failed.decode()!r} is no fault; it must be FUNCTION[@DEVICE][:WHEN]="
                "EFFECT, memory=BYTES, stuck=DEVICE:BYTE:BIT or seed=NUMBER; `pyaclnn mock faults` "
                "explains them"
            )


@contextmanager
def faults(text: str) -> Iterator[None]:
    """Inject faults for the length of a ``with`` block.

    Args:
        text: Faults in the notation of `GRAMMAR`, e.g. ``"aclrtMalloc:3=207001"``. They replace
            those of an outer block; afterwards the faults of PYACLNN_MOCK_FAULTS are in force
            again, counted anew.

    Raises:
        ValueError: The text is malformed, or names a function that CANN does not have.
        RuntimeError: No simulated NPU is loaded yet.
    """
    set_faults(text)
    try:
        yield
    finally:
        set_faults(os.environ.get("PYACLNN_MOCK_FAULTS", ""))


def set_mode(text: str) -> None:
    """Choose in which order streams run from now on.

    Args:
        text: ``"deferred"``, ``"shuffled:SEED"`` or ``"eager"``, as in PYACLNN_MOCK_MODE.

    Raises:
        ValueError: There is no such mode.
        RuntimeError: No simulated NPU is loaded yet.
    """
    for library in _libraries("a mode"):
        call = library.pyaclnn_mock_mode_set
        call.argtypes, call.restype = [ctypes.c_char_p], ctypes.c_int
        if call(text.encode()) != 0:
            raise ValueError(
                f"the mode is {text!r}; it must be 'deferred', 'shuffled:SEED' or 'eager'"
            )


@contextmanager
def mode(text: str) -> Iterator[None]:
    """Let streams run in another order for the length of a ``with`` block.

    Args:
        text: As for `set_mode`. Afterwards PYACLNN_MOCK_MODE is in force again.

    Raises:
        ValueError: There is no such mode.
        RuntimeError: No simulated NPU is loaded yet.
    """
    set_mode(text)
    try:
        yield
    finally:
        set_mode(os.environ.get("PYACLNN_MOCK_MODE", "deferred"))


def _libraries(what: str) -> list[ctypes.CDLL]:
    libraries = loaded()
    if not libraries:
        raise RuntimeError(
            f"no simulated NPU is loaded in this process, so {what} cannot be set; open a device "
            "on it first, or use the environment variable"
        )
    return libraries
