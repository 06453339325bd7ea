# SPDX-License-Identifier: Apache-2.0
"""Every wait of the simulated NPU, held by a device that hangs, and each of its ends.

Nothing is listed: the functions that wait and what they wait for are read from the C sources, and
their arguments are made by the names of their parameters.
"""

from __future__ import annotations

import functools
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann.signatures import signature
from pyaclnn.mock.protocol.wire import Kind
from tests.releases import NEWEST

from .held import HeldProgram
from .test_programs import BEGIN, KERNELS
from .test_queues import QUEUES
from .waiting import OPERATOR, WAITED_FOR, waiting_functions, what_it_awaits

if TYPE_CHECKING:
    from pathlib import Path

ELSEWHERE = {
    "ranks": "waits for the process where ranks meet, which is no device: test_joins.py",
    "aclrtDestroyStreamForce": "does not wait; it shares a function with aclrtDestroyStream",
    "NnopbaseRunForWorkspace": "phase 1 of a compiled package, behind the same function",
    **dict.fromkeys(
        ("aclopCompileAndExecute", "aclopCompileAndExecuteV2", "aclopExecute", "aclopExecuteV2"),
        "wait in phase 1 and for a stream, by the same functions as operators and streams",
    ),
    **dict.fromkeys(QUEUES, "waits for a message of another thread: test_queues.py"),
}
"""Waits that are not held here, and why."""
STAGE = """
import ctypes, threading
from pyaclnn import raw
from pyaclnn._binding import ffi, lib
raw_of = lambda name: getattr(raw, name)
TIMEOUT = {timeout}
"""
WORK = """
new = ffi.new
context = new("void **")
guest = {guest}
d = pyaclnn.Device(0)
if guest:
    raw_of("aclrtCreateContext")(context, 0)
    d.close()
    d = pyaclnn.Device(0, context=context[0])
a = pyaclnn.to_device(x, d)
raw_of("aclrtSetCurrentContext")(d.pointer)
s, t = pyaclnn.Stream(d), pyaclnn.Stream(d)
e, model = pyaclnn.Event(d), new("void **")
memory, host = new("void **"), new("void **")
raw_of("aclrtMalloc")(memory, 4096, 0)
raw_of("aclrtMallocHost")(host, 4096)
pageable = new("char[4096]")
raw_of("aclmdlRICaptureBegin")(t.pointer, 0)
y = pyaclnn.op("aclnnAdd")(a, a, 1.0, stream=t)
raw_of("aclmdlRICaptureEnd")(t.pointer, model)
raw_of("aclrtSubscribeReport")(threading.get_ident(), s.pointer)
z = pyaclnn.op("aclnnAdd")(a, a, 1.0, stream=s)
s.record(e)
attrs = new("aclrtMemcpyBatchAttr *")
attrs.dstLoc.type, attrs.srcLoc.type = raw.ACL_MEM_LOCATION_TYPE_DEVICE, 3
given = dict(
    stream=s.pointer, event=e.pointer, modelRI=model[0], context=context[0], deviceId=0,
    timeout=TIMEOUT, devPtr=memory[0], ptr=memory[0], dst=memory[0], src=pageable,
    hostPtr=host[0], destMax=64, maxCount=64, memSize=64, N=16, count=64, value=0, kind=1,
    dpitch=8, spitch=8, width=8, height=8, dsts=memory, destMaxs=new("size_t *", 64),
    srcs=new("void **", pageable), sizes=new("size_t *", 64), numBatches=1, attrs=attrs,
    attrsIndexes=new("size_t *", 0), numAttrs=1, failIndex=new("size_t *"),
)
if {pageable}:  # memory that is not pinned makes it wait
    given["devPtr"] = given["ptr"] = pageable
"""
NO_WORK = """
from pyaclnn.mock.control.kept_process import keep_process
keep_process(keep={kept})
d = pyaclnn.Device(0) if {opened} else None
given = dict(deviceId=0, context=ffi.new("void **"))
"""
CALL = "print(raw_of('{name}')(*[given[key] for key in {parameters}]), flush=True)\n"
HOST_CALL = """
try: pyaclnn.op("aclnnAdd")(x, x, 1.0)
except pyaclnn.AclError as error: print(error.code, flush=True)
"""
GIVE_UP = "raise KeyboardInterrupt\n"

NEVER_ANSWERS = '#!/bin/sh\nexec 9>"$HELD"\necho >&9\nexec sleep 10000\n'
IGNORES = """
import os, sys, time
sys.path[:] = [p for p in sys.path if p]
from pyaclnn.mock.device import process
class Held(process.Server):
    def answer(self, request):
        if type(request).__name__.upper() == os.environ["IGNORED"]:
            os.write(os.open(os.environ["HELD"], os.O_WRONLY), b"1")
            time.sleep(10000)
        return super().answer(request)
process.Server = Held
process.main(sys.argv[1:])
"""


@functools.cache
def cases() -> list[tuple[str, str]]:
    """Return every function that waits, with each that can hold it here."""
    return [
        (name, what)
        for name in waiting_functions()
        for what in what_it_awaits(name)
        if name not in ELSEWHERE and not {what, *what_it_awaits(name)} & set(ELSEWHERE)
    ]


def parameters(name: str) -> tuple[str, ...]:
    declared = signature(name)
    assert declared is not None, name
    return tuple(declared.parameters)


def held_program(folder: Path, name: str, what: str, *, limited: bool = False) -> HeldProgram:
    """Start a program whose call is held, or that is held when it ends because of the call."""
    (folder / "kernel.py").write_text(
        KERNELS["phase 1" if what == "CHECK" else "phase 2"], encoding="utf-8"
    )
    environment = {
        "PYACLNN_MOCK_OPERATORS": str(folder / "kernel.py"),
        "PYACLNN_MOCK_CANN": NEWEST,
    }
    if limited and what in ("HELLO", "CHECK"):
        environment["PYACLNN_MOCK_PATIENCE"] = "3"
    if what in ("HELLO", "BYE", "FORGET"):
        (folder / "ignores.py").write_text(IGNORES, encoding="utf-8")
        ignores = f'#!/bin/sh\nshift 2\nexec {sys.executable} {folder}/ignores.py "$@"\n'
        environment["IGNORED"] = what
        python = folder / "python"
        python.write_text(NEVER_ANSWERS if what == "HELLO" else ignores, encoding="utf-8")
        python.chmod(0o755)
        environment["PYACLNN_MOCK_PYTHON"] = str(python)
    if what == "FORGET":  # a process with foreign code is not kept
        environment["PYACLNN_MOCK_OPERATORS"] = ""
    code = STAGE.format(timeout=400 if limited else 60000)
    if what == "RUN":
        pageable = name.startswith("aclrtMemset")
        code += WORK.format(guest=name == "aclrtDestroyContext", pageable=pageable)
    else:
        code += NO_WORK.format(opened=what in ("BYE", "FORGET"), kept=what == "FORGET")
    if what == "CHECK":
        code += HOST_CALL
    elif what not in ("BYE", "FORGET") or "deviceId" in parameters(name):
        code += CALL.format(name=name, parameters=parameters(name))
    return HeldProgram(folder, BEGIN + code + (GIVE_UP if limited else ""), **environment)


def has_limit(name: str, what: str) -> bool:
    return what != "RUN" or "timeout" in parameters(name)


def test_every_request_and_every_function_that_waits_is_held() -> None:
    found = cases()
    assert {what for _, what in found} == {kind.name for kind in Kind}
    assert set(WAITED_FOR) == {kind.name for kind in Kind} | {"ranks"}
    left = set(waiting_functions()) - {name for name, _ in found}
    assert {"ranks" if what_it_awaits(name) == ["ranks"] else name for name in left} <= set(
        ELSEWHERE
    ), left
    assert all(what_it_awaits(name) for name in waiting_functions() if name not in QUEUES)
    # The functions through which the package waits are among them.
    for name in ("Stream", "Event", "Device"):
        assert {f"aclrtSynchronize{name}", f"aclrtSynchronize{name}WithTimeout"} <= {
            name for name, _ in found
        }
    assert OPERATOR in {name for name, _ in found}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "what"), cases())
def test_ctrl_c_ends_the_wait_and_the_program(tmp_path: Path, name: str, what: str) -> None:
    with held_program(tmp_path, name, what) as held:
        held.await_held()
        held.end(signal.SIGINT)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "what"), [case for case in cases() if has_limit(*case)])
def test_a_limit_ends_the_wait_and_the_program(tmp_path: Path, name: str, what: str) -> None:
    with held_program(tmp_path, name, what, limited=True) as held:
        held.await_held()
        held.end()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "what"), cases())
def test_the_death_of_the_device_ends_the_wait_and_the_program(
    tmp_path: Path, name: str, what: str
) -> None:
    with held_program(tmp_path, name, what) as held:
        held.await_held()
        held.kill_others()
        held.end()
