# SPDX-License-Identifier: Apache-2.0
"""The simulated NPU itself under load, and between processes that talk nonsense."""

from __future__ import annotations

import os
import random
import re
import sys
from struct import calcsize
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.chips import find_chip
from pyaclnn.mock.device.device import Device
from pyaclnn.mock.protocol.batch import Batch, Run
from pyaclnn.mock.protocol.memory import DeviceMemory
from pyaclnn.mock.protocol.values import Call, Tensor
from pyaclnn.mock.protocol.wire import (
    Check,
    CheckReply,
    Kind,
    Request,
    WireError,
    decode_request,
    encode_reply,
)
from tests.mock_device.host_wire import encode_request
from tests.mock_libs.programs import HERE as NPU
from tests.mock_libs.sanitized import OPTIONS, build_libraries, preload, start

from .stage import HERE

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kept import Keep
    from tests.mock_libs.programs import Programs

CALLS = int(os.environ.get("PYACLNN_STRESS_CALLS", "400000"))
MESSAGES = int(os.environ.get("PYACLNN_FUZZ_MESSAGES", "4000"))
FRAME = 16
BASE, SIZE = 1 << 40, 1 << 20


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["deferred", "shuffled:1", "eager"])
def test_eight_threads_on_two_devices(programs: Programs, mode: str) -> None:
    program = programs.build(str(HERE / "c" / "stress.c"))
    share = CALLS if mode == "deferred" else CALLS // 4
    result = programs.run([program, str(share)], {"PYACLNN_MOCK_MODE": mode})
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout.split()[0]) >= share


@pytest.mark.exhaustive
def test_a_leak_under_load_would_be_seen(programs: Programs) -> None:
    program = programs.build(str(HERE / "c" / "stress.c"))
    result = programs.run([program, "40000", "leak"])
    assert result.returncode == 1
    assert re.fullmatch(r"memory grew by \d+ bytes\n", result.stderr)


# ---- the device process, and a host that talks nonsense ------------------------------------------


def _requests() -> list[Request | Run]:
    def tensor(dims: tuple[int, ...], at: int) -> Tensor:
        strides = tuple(reversed([8**axis for axis in range(len(dims))]))
        return Tensor(0, 2, dims, strides, 0, dims, BASE + at)

    call = Call(
        "aclnnRmsNorm",
        0,
        {
            "x": tensor((4, 8), 0),
            "gamma": tensor((8,), 1024),
            "epsilon": 1e-6,
            "yOut": tensor((4, 8), 2048),
            "rstdOut": tensor((4, 1), 4096),
        },
    )
    return [Check(call), Run(BASE + 8192, 4096, call)]


def _mutated(frame: bytes, dice: random.Random) -> bytes:
    payload = bytearray(frame[FRAME:])
    for _ in range(dice.choice((1, 1, 2, 5))):
        place = dice.randrange(len(payload))
        choice = dice.randrange(5)
        if choice == 0:
            payload[place] = dice.randrange(256)
        elif choice == 1:
            payload[place : place + 8] = dice.choice(
                (b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7, dice.randbytes(8))
            )
        elif choice == 2:
            del payload[place:]
        elif choice == 3:
            payload[place:place] = dice.randbytes(dice.randrange(64))
        else:
            del payload[place : place + dice.randrange(16)]
        if not payload:
            break
    return bytes(payload)


@pytest.fixture
def device() -> Iterator[Device]:
    descriptor = os.memfd_create("fuzzed")
    os.ftruncate(descriptor, SIZE)
    made = Device(find_chip("Ascend910B3"), DeviceMemory(descriptor, BASE, SIZE))
    yield made
    made.memory.close()
    os.close(descriptor)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_device_understands_or_refuses_every_message(device: Device) -> None:
    dice = random.Random(20)
    answers = refusals = 0
    for _ in range(MESSAGES):
        request = dice.choice(_requests())
        frame = encode_request(request)
        kind = int.from_bytes(frame[4:8], "little")
        try:
            understood = decode_request(kind, _mutated(frame, dice))
            answer = (
                device.check(understood.call)
                if isinstance(understood, Check)
                else device.run_batch(understood)
                if isinstance(understood, Batch)
                else None
            )
        except WireError:
            refusals += 1
            continue
        assert answer is not None
        assert encode_reply(kind, answer)
        answers += 1
    assert min(answers, refusals) > MESSAGES // 20


# ---- the host, and a device process that talks nonsense ------------------------------------------

# The reply of phase 1, up to the length of its text.
CHECKED = "<iIQIQQQIII"
LIAR = """#!{python}
import os, random, socket, struct
dice = random.Random(int(os.environ["LIAR"]))
host = socket.socket(fileno=3)
def answer(kind, payload):
    host.sendall(struct.pack("<IIQ", 0x4E4E4C41, kind, len(payload)) + payload)
def take(count):
    data = b""
    while len(data) < count:
        more = host.recv(count - len(data))
        if not more:
            raise SystemExit
        data += more
    return data
first = True
while True:
    magic, kind, length = struct.unpack("<IIQ", take(16))
    take(length)
    if first and dice.random() < 0.9:
        answer(kind, struct.pack("<iI", 0, 0))
    elif kind == 4:
        answer(4, struct.pack("<iI", 0, 0))
        break
    else:
        choice = dice.randrange(5)
        if choice == 0:
            answer(kind, dice.randbytes(dice.randrange(64)))
        elif choice == 1 and kind == 3:
            shapes, rank = dice.choice((0, 1, 2, 1 << 31)), dice.choice((0, 2, 1 << 30))
            answer(kind, struct.pack("<iIIIIqq", dice.randrange(2), 0, shapes, dice.randrange(8),
                                     rank, dice.randrange(1 << 62), dice.randrange(9)))
        elif choice == 1:
            answer(kind, struct.pack("{checked}", 0, dice.randrange(3), dice.randrange(1 << 64),
                                     dice.randrange(4), dice.randrange(1 << 64),
                                     dice.randrange(1 << 64), dice.randrange(1 << 64),
                                     dice.randrange(3), dice.randrange(2),
                                     dice.choice((0, dice.randrange(1 << 32)))))
        elif choice == 2:
            host.sendall(dice.randbytes(dice.randrange(1, 32)))
            break
        elif choice == 3:
            host.sendall(struct.pack("<IIQ", 0x4E4E4C41, kind, dice.randrange(1 << 64)))
            break
        else:
            answer(dice.randrange(6), struct.pack("{checked}", 0, 0, 1, 1, 0, 0, 0, 0, 0, 0))
    first = False
"""
HOST = """
import os
statuses = set()
for seed in range(FIRST, FIRST + COUNT):
    os.environ['LIAR'] = str(seed)
    if lib.aclrtSetDevice(0) != 0:
        continue
    problem = RmsNormGrad(rows=8 + seed % 8)
    size, made = ffi.new('uint64_t *'), ffi.new('aclOpExecutor **')
    status = lib.aclnnRmsNormGradGetWorkspaceSize(*problem.tensors, size, made)
    statuses.add(status)
    if status == 0:
        # A liar may ask for any number of bytes; what it gets is another matter.
        lib.aclnnRmsNormGrad(problem.memory[0], size[0], made[0], NULL)
        lib.aclrtSynchronizeStreamWithTimeout(NULL, 1000)
    for each in problem.tensors: call('aclDestroyTensor', each)
    for each in problem.memory: call('aclrtFree', each)
    lib.aclrtResetDevice(0)
print(len(statuses) > 2, 0 in statuses)
"""


@pytest.fixture
def liar(tmp_path: Path) -> Path:
    empty = encode_reply(Kind.CHECK, CheckReply(0))
    assert len(empty) == FRAME + calcsize(CHECKED), "the liar writes another reply than the device"
    liar = tmp_path / "liar"
    liar.write_text(LIAR.format(python=sys.executable, checked=CHECKED), encoding="utf-8")
    liar.chmod(0o755)
    return liar


@pytest.mark.exhaustive
def test_sanitizers_find_nothing_in_a_host_that_is_lied_to(
    programs: Programs, liar: Path, keep: Keep
) -> None:
    folder = build_libraries(keep, "address")[0].removeprefix("-L")
    code = f"""
import pathlib, sys
sys.path.append({str(NPU)!r})
import npu
npu.libdir = lambda: pathlib.Path({folder!r})
from npu import *
load()
assert "libasan" in pathlib.Path("/proc/self/maps").read_text()
"""
    code += HOST.replace("FIRST", "100").replace("COUNT", "300")
    found = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    watched = {**OPTIONS, **found, "LD_PRELOAD": preload("address")}
    result = programs.run(
        [*start(), sys.executable, "-c", code], {**watched, "PYACLNN_MOCK_PYTHON": str(liar)}
    )
    assert (result.returncode, result.stdout) == (0, "True True\n"), result.stderr
    assert not re.search("runtime error|AddressSanitizer: ", result.stderr), result.stderr


@pytest.mark.exhaustive
def test_the_host_survives_every_answer(programs: Programs, liar: Path) -> None:
    code = HOST.replace("FIRST", "0").replace("COUNT", "60")
    result: subprocess.CompletedProcess[str] = programs.python(code, PYACLNN_MOCK_PYTHON=str(liar))
    assert (result.returncode, result.stdout) == (0, "True True\n"), result.stderr
