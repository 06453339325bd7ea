# SPDX-License-Identifier: Apache-2.0
"""The device process as the host sees it: a socket, a memory file and an exit status."""

from __future__ import annotations

import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import warnings
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

import pyaclnn.mock.protocol.wire
from pyaclnn.mock.device.device import ignore_floating_point_errors
from pyaclnn.mock.operators import operators_of
from pyaclnn.mock.operators.operator import Operator, Plan, Setting
from pyaclnn.mock.protocol.batch import Batch, Run
from pyaclnn.mock.protocol.values import Call, Value
from pyaclnn.mock.protocol.wire import (
    PROTOCOL_VERSION,
    Bye,
    Check,
    CheckReply,
    FrameReader,
    Hello,
    Kind,
    Reply,
    Request,
    decode_request,
    encode_frame,
)
from tests.mock_device.host_wire import decode_reply, encode_request
from tests.releases import OLDEST

from .bench import BASE, Bench, tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 32 << 20
WORKSPACE = BASE + (8 << 20)
BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[3]); "
    "from pyaclnn.mock.device.process import main; main(sys.argv[1:3])"
)
ROOT = Path(pyaclnn.mock.protocol.wire.__file__).parents[3]
HELLO = Hello(PROTOCOL_VERSION, 0, BASE, SIZE, "Ascend910B3")


class Host:
    """The host's side of one device process."""

    def __init__(self) -> None:
        self.memory_descriptor = os.memfd_create("device-memory")
        os.ftruncate(self.memory_descriptor, SIZE)
        self.memory = mmap.mmap(self.memory_descriptor, SIZE)
        self.socket, far = socket.socketpair()
        self.frames = FrameReader(self.socket.fileno())
        descriptors = (far.fileno(), self.memory_descriptor)
        with far:
            self.process = subprocess.Popen(
                [sys.executable, "-c", BOOTSTRAP, *map(str, descriptors), str(ROOT)],
                pass_fds=descriptors,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    def send(self, frame: bytes) -> None:
        self.socket.sendall(frame)

    def ask(self, request: Request | Run) -> Reply | CheckReply:
        self.send(encode_request(request))
        frame = self.frames.next()
        assert frame is not None, self.process.communicate(timeout=900)[1]
        return decode_reply(*frame)

    def end(self) -> tuple[int, str]:
        """Hang up, and wait for the process: its exit status and standard error."""
        self.socket.close()
        out, err = self.process.communicate(timeout=900)
        assert out == b""
        return self.process.returncode, err.decode()

    def close(self) -> None:
        self.socket.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=900)
        self.memory.close()
        os.close(self.memory_descriptor)


@pytest.fixture(name="host")
def fixture_host() -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


def rms_norm() -> Call:
    arguments: dict[str, Value] = {
        "x": tensor(1, 4, address=BASE),
        "gamma": tensor(4, address=BASE + 512),
        "epsilon": 0.0,
        "yOut": tensor(1, 4, address=BASE + 1024),
        "rstdOut": tensor(1, 1, address=BASE + 1536),
    }
    return Call("aclnnRmsNorm", 0, arguments)


def test_a_whole_life(host: Host) -> None:
    host.memory[:16] = np.array([1, 1, 1, 1], np.float32).tobytes()
    host.memory[512:528] = np.array([1, 2, 3, 4], np.float32).tobytes()

    assert host.ask(HELLO) == Reply(0, "")
    checked = host.ask(Check(rms_norm()))
    assert isinstance(checked, CheckReply)
    expected = CheckReply(
        *(0, 1, 0b11000, 1, 16 << 20), number=checked.number, spares_workspace=True
    )
    assert checked == expected
    assert host.ask(Run(WORKSPACE, 16 << 20, rms_norm(), checked.number)) == Reply(0, "")
    written = np.frombuffer(host.memory[1024:1040], np.float32)
    np.testing.assert_array_equal(written, [1, 2, 3, 4])
    assert host.ask(Bye()) == Reply(0, "")
    assert host.end() == (0, "")


def test_a_known_call_runs_where_its_tensors_are_now(host: Host) -> None:
    host.memory[:16] = np.array([2, 2, 2, 2], np.float32).tobytes()
    host.memory[512:528] = np.array([1, 2, 3, 4], np.float32).tobytes()
    host.ask(HELLO)
    first, second = rms_norm(), rms_norm()
    second.arguments["yOut"] = tensor(1, 4, address=BASE + 2048)
    checked = host.ask(Check(first))
    assert isinstance(checked, CheckReply)

    for call in (first, second):
        assert host.ask(Run(WORKSPACE, 16 << 20, call, checked.number)) == Reply(0, "")

    for start in (1024, 2048):
        written = np.frombuffer(host.memory[start : start + 16], np.float32)
        np.testing.assert_array_equal(written, [1, 2, 3, 4])


def test_a_known_call_is_not_checked_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    operator = operators_of(OLDEST)["aclnnRmsNorm"]

    def check(arguments: Any, setting: Setting) -> Plan:
        asked.append(setting)
        return operator.check(arguments, setting)

    monkeypatch.setitem(operators_of(OLDEST), operator.name, replace(operator, check=check))
    kind, payload = Kind.CHECK, encode_request(Check(rms_norm()))[16:]
    request = decode_request(kind, payload)
    assert isinstance(request, Check)
    checked = bench.device.check(request.call)
    run = encode_request(Run(WORKSPACE, 16 << 20, rms_norm(), checked.number))[16:]
    for known in (run, run):
        again = decode_request(Kind.RUN, known)
        assert isinstance(again, Batch)
        assert bench.device.run_batch(again) == [Reply(0, "")]
    assert len(asked) == 1

    # A number that nobody knows is no obstacle: the call is all there.
    unknown = encode_request(Run(WORKSPACE, 16 << 20, rms_norm(), checked.number + 1))[16:]
    again = decode_request(Kind.RUN, unknown)
    assert isinstance(again, Batch)
    assert bench.device.run_batch(again) == [Reply(0, "")]
    assert len(asked) == 2


def test_calls_that_are_not_used_are_forgotten(bench: Bench) -> None:
    numbers = []
    for rows in range(1, 1030):
        call = rms_norm()
        call.arguments["x"] = call.arguments["yOut"] = tensor(rows, 4, address=BASE)
        call.arguments["rstdOut"] = tensor(rows, 1, address=BASE)
        request = decode_request(Kind.CHECK, encode_request(Check(call))[16:])
        assert isinstance(request, Check)
        numbers.append(bench.device.check(request.call).number)

    assert len(set(numbers)) == len(numbers)
    assert len(bench.device.calls) == 1024


def test_bye_ends_the_process_by_itself(host: Host) -> None:
    assert host.ask(Bye()) == Reply(0, "")
    assert host.process.wait(timeout=900) == 0


@pytest.mark.parametrize("greeted", [True, False])
def test_hanging_up_ends_the_process_silently(host: Host, greeted: bool) -> None:
    if greeted:
        host.ask(HELLO)
    assert host.end() == (0, "")


MALFORMED = [
    ("no frame", b"GET / HTTP/1.1\r\n\r\n", "magic number"),
    ("unknown kind", encode_frame(7, b""), "kind 7"),
    ("huge", struct.pack("<IIQ", pyaclnn.mock.protocol.wire.MAGIC, 2, 2**60), "at most"),
    ("truncated call", encode_frame(2, b"\x05\0\0\0ab"), "payload has 6 bytes"),
    ("not UTF-8", encode_frame(2, b"\x02\0\0\0\xff\xff" + bytes(8)), "UTF-8"),
    ("BYE with a payload", encode_frame(4, b"x"), "1 bytes follow"),
    ("a second HELLO", encode_request(HELLO), "second HELLO"),
]


@pytest.mark.parametrize(
    ("frame", "text"), [row[1:] for row in MALFORMED], ids=[row[0] for row in MALFORMED]
)
def test_a_malformed_frame_ends_the_process(host: Host, frame: bytes, text: str) -> None:
    host.ask(HELLO)
    host.send(frame)

    assert host.frames.next() is None
    status, err = host.end()
    assert status == 3
    assert text in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_nothing_works_before_hello(host: Host) -> None:
    host.send(encode_request(Check(rms_norm())))

    assert host.frames.next() is None
    assert host.end()[0] == 3


@pytest.mark.parametrize(
    ("hello", "text"),
    [
        (Hello(PROTOCOL_VERSION + 1, 0, BASE, SIZE, "Ascend910B3"), "speaks protocol version"),
        (Hello(PROTOCOL_VERSION, 0, BASE, SIZE, "Ascend999"), "chip 'Ascend999' is unknown"),
        (
            Hello(PROTOCOL_VERSION, 0, BASE, SIZE + 4096, "Ascend910B3"),
            f"has {SIZE} bytes, which is less than",
        ),
    ],
)
def test_a_device_that_cannot_start_says_why(host: Host, hello: Hello, text: str) -> None:
    reply = host.ask(hello)

    assert (reply.status, text in reply.text) == (507033, True)
    assert host.ask(HELLO) == Reply(0, "")


def test_an_unknown_operator_says_so(host: Host) -> None:
    host.ask(HELLO)

    checked = host.ask(Check(Call("aclnnFoo")))
    assert checked.status == 999001
    assert "does not implement aclnnFoo" in checked.text
    assert host.ask(Run(0, 0, Call("aclnnFoo"))).status == 507015


@pytest.mark.parametrize("end", ["SystemExit(3)", "KeyboardInterrupt"])
def test_a_package_that_wants_to_end_the_process_ends_its_own_calls_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    (tmp_path / "mock").mkdir()
    (tmp_path / "mock" / "operators.py").write_text(f"raise {end}", encoding="utf-8")
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(tmp_path))
    with closing(Host()) as host:
        host.ask(HELLO)
        checked = host.ask(Check(Call("aclnnNobodysOwn", 0, {})))
        ran = host.ask(Run(0, 0, Call("aclnnNobodysOwn", 0, {})))
        assert (checked.status, ran.status) == (561000, 507015)
        assert end.partition("(")[0] in checked.text
        assert host.ask(Check(rms_norm())).status == 0
        assert host.ask(Bye()) == Reply(0, "")
        assert host.end()[0] == 0


def test_memory_outside_of_the_device_is_an_exception_of_the_kernel(host: Host) -> None:
    call = rms_norm()
    call.arguments["x"] = tensor(1, 4, address=BASE + SIZE - 4)
    host.ask(HELLO)

    reply = host.ask(Run(WORKSPACE, 16 << 20, call))

    assert reply.status == 507015
    assert "x with shape [1, 4]" in reply.text


def test_interrupts_are_the_hosts_business(host: Host) -> None:
    host.ask(HELLO)
    host.process.send_signal(signal.SIGINT)

    assert host.ask(Check(rms_norm())).status == 0
    assert host.end() == (0, "")


def test_a_call_of_another_shape_is_an_inner_error(bench: Bench) -> None:
    few = bench.device.check(Call("aclnnRmsNorm", 0, {"x": None}))
    assert (few.status, "arrived with 1 arguments" in few.text) == (561000, True)

    call = rms_norm()
    call.arguments["epsilon"] = 1
    wrong = bench.device.check(call)
    assert (wrong.status, "epsilon arrived as int" in wrong.text) == (561000, True)

    null = bench.device.check(Call(call.operator, 0, {**call.arguments, "epsilon": None}))
    assert null.status == 561000


def test_a_fault_inside_an_operator_never_looks_like_success(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> NoReturn:
        raise ZeroDivisionError("a fault")

    device = bench.device
    sound = operators_of(OLDEST)["aclnnRmsNorm"]
    faulty = Operator(
        sound.name, sound.executor_kind, sound.parameters, sound.arguments, sound.check, fail
    )
    monkeypatch.setitem(operators_of(OLDEST), sound.name, faulty)
    assert device.check(rms_norm()).status == 0
    ran = device.run(Run(WORKSPACE, 16 << 20, rms_norm()))
    assert (ran.status, "ZeroDivisionError: a fault" in ran.text) == (507015, True)

    unchecked = Operator(
        sound.name, sound.executor_kind, sound.parameters, sound.arguments, fail, fail
    )
    monkeypatch.setitem(operators_of(OLDEST), sound.name, unchecked)
    checked = device.check(rms_norm())
    assert (checked.status, checked.launches) == (561000, 0)
    assert "ZeroDivisionError: a fault" in checked.text


def test_a_kernel_never_sees_what_phase_one_refuses(bench: Bench) -> None:
    call = rms_norm()
    call.arguments["gamma"] = None

    reply = bench.device.run(Run(WORKSPACE, 16 << 20, call))

    assert (reply.status, "gamma is NULL" in reply.text) == (507015, True)


def loaded_with(module: str) -> set[str]:
    """The modules that a new interpreter has after importing one."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {module}; "
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=900
    )
    return set(done.stdout.split())


def test_the_device_process_needs_no_compiled_binding() -> None:
    found = loaded_with("pyaclnn.mock.device.device")

    rooms = {".".join(name.split(".")[:2]) for name in found if name.startswith("pyaclnn")}
    assert rooms == {
        "pyaclnn",
        "pyaclnn.base",
        "pyaclnn.cann",
        "pyaclnn.facts",
        "pyaclnn.mock",
        "pyaclnn.reference",
    }
    cann = {name for name in found if name.startswith("pyaclnn.cann.")}
    assert cann == {"pyaclnn.cann.packaged"}


def test_the_device_process_starts_without_numpy() -> None:
    found = loaded_with("pyaclnn.mock.device.process")

    assert "pyaclnn.mock.device.process" in found
    assert "numpy" not in found


def test_numbers_that_are_none_are_no_warnings() -> None:
    with warnings.catch_warnings(), np.errstate():
        warnings.simplefilter("error")
        ignore_floating_point_errors()
        assert np.isnan(np.zeros((0, 2)).mean(axis=0)).all()
        assert np.isinf(np.ones(1) / 0).all()
