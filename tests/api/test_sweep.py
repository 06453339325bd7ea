# SPDX-License-Identifier: Apache-2.0
"""Every C call of every public operation fails, one at a time, with each plausible code.

An operation is run once to count its calls. Then each of them is made to fail in turn. After every
failure: the right exception, with routine and code, or a warning where something was being given
back; nothing left behind, in the library or in the simulated NPU; no rule broken; the inputs as
they were; and the next clean call gives the right results.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import pyaclnn
from pyaclnn import mock
from pyaclnn.cann import raw
from tests.conftest import COUNTED

from .operations import OPERATIONS, SLOW, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.runtime.device import Device

    from .operations import Operation

# Exception of each code by CANN's documents: a second table, to test that of the library.
EXCEPTIONS: dict[int, type[pyaclnn.AclError]] = {
    107000: pyaclnn.InvalidArgumentError,
    107002: pyaclnn.ContextError,
    161001: pyaclnn.InvalidArgumentError,
    161002: pyaclnn.InvalidArgumentError,
    207000: pyaclnn.UnsupportedError,
    207001: pyaclnn.OutOfMemoryError,
    361001: pyaclnn.AclError,
    507000: pyaclnn.AclError,
    507010: pyaclnn.DeviceLostError,
    507014: pyaclnn.KernelError,
    507015: pyaclnn.KernelError,
    507046: pyaclnn.DeadlineError,
    507899: pyaclnn.DeviceLostError,
    561000: pyaclnn.AclError,
    561003: pyaclnn.UnsupportedError,
    561103: pyaclnn.AclError,
}
# The first row that fits a function says with which codes it may fail.
PLAUSIBLE: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"aclnn.*GetWorkspaceSize", (161001, 161002, 361001, 561003)),
    (r"aclnn.*", (161001, 361001, 561000)),
    (r"aclSetAclOpExecutorRepeatable", (561103,)),
    (r"acl(Set|Destroy).*", (561000,)),
    (r"aclrtSynchronize.*WithTimeout", (507014, 507046)),
    (r"aclrtSynchronize.*", (507010, 507015, 507899)),
    (r"aclrt(Malloc|Create).*", (107002, 207001, 507899)),
    (r"aclrtGetCurrentContext", (107002, 507000)),
    (r"aclrt.*", (107000, 107002, 507899)),
    (r"aclGet.*", (107000,)),
)
RELEASING = re.compile(r"Destroy|Free|aclrtResetDevice")
"""Releasing calls: they do their work and fail afterwards; a leak inside CANN is CANN's."""
WARNED = re.compile(f"{RELEASING.pattern}|CurrentContext")
"""Calls that may fail during clean-up: a warning reports it, and nothing is raised."""
WITHOUT_STATUS = re.compile(r"aclCreate|aclGetRecentErrMsg|aclrtGetSocName")
QUEUING = re.compile(r"aclnn\w+(?<!GetWorkspaceSize)|aclrt(Memcpy|Memset)Async")
"""Calls that queue work which can fail when it runs."""
OPTIONAL = {"aclGetRecentErrMsg", "aclrtPeekAtLastError", "aclrtGetSocName"}
"""Dispensable calls: the text of a known failure, a chip's name."""


class Fault(NamedTuple):
    """One call that fails."""

    function: str
    number: int
    effect: str
    code: int | None

    def __str__(self) -> str:
        return f"{self.function}:{self.number}={self.effect}"


def faults_of(calls: Counter[str], most: int | None = None) -> Iterator[Fault]:
    """List every way in which the calls of an operation may fail.

    Args:
        calls: How often each function is called.
        most: How many codes are tried for each call; None for all that are plausible.
    """
    for name, count in calls.items():
        for number in range(1, count + 1):
            if WITHOUT_STATUS.match(name):
                yield Fault(name, number, "507899", None)
                continue
            codes = next(codes for pattern, codes in PLAUSIBLE if re.fullmatch(pattern, name))
            prefix = "after:" if RELEASING.search(name) else ""
            yield from (Fault(name, number, f"{prefix}{code}", code) for code in codes[:most])
            if QUEUING.fullmatch(name):
                yield Fault(name, number, "async:507015", 507015)


NO_CONTEXT = Fault("aclrtGetCurrentContext", 0, "107002", 107002)
"""An answer, and no failure: the thread has no context."""


class State(NamedTuple):
    """Everything that a failure may not change."""

    alive: Counter[str]
    handles: dict[str, int]
    violations: int
    inputs: list[bytes]


def state(stage: Stage) -> State:
    """Look at everything that a failure may not change."""
    alive = Counter(living.kind for living in mock.alive())
    return State(alive, pyaclnn.live_handles(), len(mock.violations()), stage.inputs())


def attempt(operation: Operation, stage: Stage, fault: Fault) -> tuple[Exception | None, str]:
    """Run an operation with one call failing; return what it raised and what it warned of."""
    mock.reset_calls()
    with mock.faults(str(fault)), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            operation(stage)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is judged
            return error, _said(caught)
    return None, _said(caught)


def _said(caught: list[warnings.WarningMessage]) -> str:
    assert all(issubclass(each.category, pyaclnn.CleanupWarning) for each in caught), caught
    return "\n".join(str(each.message) for each in caught)


def judge_silence(fault: Fault, said: str) -> str | None:
    """Say what is wrong with a failure that raised nothing, if anything is."""
    if fault.function in OPTIONAL or fault == NO_CONTEXT._replace(number=fault.number):
        return None
    told = fault.function in said and (fault.code is None or str(fault.code) in said)
    return None if told and WARNED.search(fault.function) else f"nothing was raised: {said}"


def judge_error(name: str, fault: Fault, error: Exception) -> str | None:
    """Say what is wrong with what a failure raised, if anything is."""
    if not isinstance(error, pyaclnn.AclError):
        return f"{error!r} is not of the family"
    if fault.effect.startswith("async:"):
        right = fault.code in (error.code, error.cause)
    elif fault.code is None:
        right = fault.function in str(error)
    elif name == "smoked":  # it reports, and does not raise
        right = f"{fault.function} failed with {fault.code} " in str(error)
    else:
        kind = EXCEPTIONS[error.cause or fault.code]
        right = (error.routine, error.code, type(error)) == (fault.function, fault.code, kind)
    return None if right else f"{error.routine} raised {type(error).__name__}: {error}"


def trouble(
    name: str, operation: Operation, stage: Stage, fault: Fault, right: list[bytes]
) -> str | None:
    """Fail one call, and say what is wrong afterwards, if anything is."""
    calm = state(stage)
    # Some calls are only made once in a while: every fourth new stream finds the notes of which
    # streams use an array full, and after a failure what was known about a call is gone.
    for _ in range(8):
        error, said = attempt(operation, stage, fault)
        if error is not None or mock.calls()[fault.function] >= fault.number:
            break
    else:
        return "the call was never made"
    wrong = judge_silence(fault, said) if error is None else judge_error(name, fault, error)
    del error
    now = state(stage)
    if now != calm:
        gc.collect()
        now = state(stage)
    for what, before, after in zip(State._fields, calm, now, strict=True):
        if before != after:
            return f"{what}: {after} instead of {before}"
    if wrong is None and operation(stage) != right:
        return "the next call gave other results"
    return wrong


@pytest.fixture(scope="module")
def stage(device: Device) -> Iterator[Stage]:
    made = Stage(device)
    yield made
    made.close()


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "mode", ["deferred", pytest.param("shuffled:7", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_failure_of_every_call_is_clean(
    stage: Stage, name: str, mode: str, record_property: Callable[[str, object], None]
) -> None:
    operation, wrong = OPERATIONS[name], []
    with mock.mode(mode):
        operation(stage)
        mock.reset_calls()
        right = operation(stage)
        calls = Counter({function: n for function, n in mock.calls().items() if n})
        # The order in which streams run has nothing to do with what a call answers.
        once = name in SLOW or mode != "deferred"
        faults = list(faults_of(calls, 1 if once else None))
        for fault in faults:
            problem = trouble(name, operation, stage, fault, right)
            if problem:
                wrong.append(f"{fault}: {problem}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(faults)}:", *wrong])
    assert len(faults) >= calls.total() > 0
    record_property(COUNTED, [f"C calls failed and were dealt with cleanly ({mode})", len(faults)])


# ---- the first and the last call of a process ---------------------------------------------------

# Every fault gets a process of its own, forked before CANN is loaded. After a failure the
# next try succeeds; whatever is not given back at the end would be told on stderr.
FIRST_AND_LAST = """
import os, sys, warnings
import numpy, pyaclnn, pyaclnn.runtime.device, pyaclnn.cann.raw
from pyaclnn import mock

def live():
    warnings.showwarning = lambda message, *_: print(type(message).__name__, message, flush=True)
    warnings.simplefilter("always")
    try:
        with pyaclnn.Device(0):
            pass
    except pyaclnn.AclError as error:
        print(type(error).__name__, error.routine, error.code, flush=True)
        os.environ.pop("PYACLNN_MOCK_FAULTS")
        mock.set_faults("")
        with pyaclnn.Device(0) as device:
            assert pyaclnn.DeviceArray.empty(4, "f4", device).numpy().size == 4
        assert not pyaclnn.live_handles()

for fault in sys.argv[1:]:
    print("#", fault, flush=True)
    child = os.fork()
    if child == 0:
        os.environ["PYACLNN_MOCK_FAULTS"] = fault
        live()
        sys.exit()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.exhaustive
def test_the_first_and_the_last_call_of_a_process_fail_cleanly() -> None:
    expected: dict[str, str] = {}
    for name in ("aclInit", "aclrtSetDevice", "aclrtGetCurrentContext"):
        for code in (107000, 207000, 507000, 507899):
            expected[f"{name}:1={code}"] = f"{EXCEPTIONS[code].__name__} {name} {code}"
    for name in ("aclrtResetDevice", "aclFinalize"):
        for code in (107000, 507000):
            expected[f"{name}=after:{code}"] = f"CleanupWarning {name} of "
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FIRST_AND_LAST, *expected],
        # More threads than one are no good parents.
        env={**os.environ, "PYACLNN_BACKEND": "mock", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = dict(part.strip().split("\n", 1) for part in done.stdout.split("# ")[1:])
    assert said.keys() == expected.keys()
    assert {fault: text[: len(expected[fault])] for fault, text in said.items()} == expected
    assert all("\n" not in text for text in said.values())


# ---- the checks themselves ----------------------------------------------------------------------

REFUSED = Fault("aclrtMallocHost", 1, "507899", 507899)


def swallows(stage: Stage) -> list[bytes]:
    """Goes on as if nothing had happened."""
    with contextlib.suppress(pyaclnn.AclError):
        pyaclnn.pinned_empty((4,), np.float32, stage.device)
    return []


def forgets(stage: Stage) -> list[bytes]:
    """Does not give back what it had when something failed."""
    made = raw.ffi.new("void **")
    assert raw.aclrtMalloc(made, 64, raw.ACL_MEM_MALLOC_HUGE_FIRST) == 0
    forgotten.append(made[0])
    pyaclnn.pinned_empty((4,), np.float32, stage.device)
    assert raw.aclrtFree(forgotten.pop()) == 0
    return []


forgotten: list[Any] = []


def scribbles(stage: Stage) -> list[bytes]:
    """Writes to what it only reads when nothing fails."""
    stage.pinned += 1
    pyaclnn.pinned_empty((4,), np.float32, stage.device)
    stage.pinned -= 1
    return []


def misuses(stage: Stage) -> list[bytes]:
    """Breaks a rule when something failed."""
    try:
        pyaclnn.pinned_empty((4,), np.float32, stage.device)
    except pyaclnn.AclError:
        raw.aclDestroyTensor(raw.pointer_to(64))
        raise
    return []


def disguises(stage: Stage) -> list[bytes]:
    """Raises something else."""
    try:
        pyaclnn.pinned_empty((4,), np.float32, stage.device)
    except pyaclnn.AclError as error:
        raise pyaclnn.AclError(str(error), code=1, routine="aclrtMallocHost") from None
    return []


def stumbles(stage: Stage) -> list[bytes]:
    """Gives other results once something has failed."""
    try:
        pyaclnn.pinned_empty((4,), np.float32, stage.device)
    except pyaclnn.AclError:
        stumbles.__dict__["fell"] = b"1"
        raise
    return [stumbles.__dict__.get("fell", b"0")]


@pytest.mark.pyaclnn(contract=False)
@pytest.mark.parametrize(
    ("operation", "verdict"),
    [
        (swallows, "nothing was raised"),
        (forgets, "alive: "),
        (scribbles, "inputs: "),
        (misuses, "violations: "),
        (disguises, "aclrtMallocHost raised AclError"),
        (stumbles, "the next call gave other results"),
    ],
)
def test_what_is_not_clean_is_noticed(device: Device, operation: Operation, verdict: str) -> None:
    stage = Stage(device)
    right = operation(stage)
    found = trouble("", operation, stage, REFUSED, right)
    assert found is not None
    assert found.startswith(verdict)
    stage.close()
    while forgotten:
        raw.aclrtFree(forgotten.pop())
