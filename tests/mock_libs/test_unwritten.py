# SPDX-License-Identifier: Apache-2.0
"""Poison that is written when its memory is first reached: only time and memory differ."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.releases import NEWEST

from . import npu
from .npu import NULL, ffi

if TYPE_CHECKING:
    from .programs import Programs

FRESH, USED = b"\xff\x7f", b"\xfd\x7f"
SIZE = 8 << 20
SIZES = (64, 4096, 128 << 10, 300_032, 1 << 20)
DEVICE_TO_DEVICE = 3

# A program of its own, on a device in whose memory no block has lain.
BEGIN = """
import os
from pathlib import Path
SIZE = 8 << 20
def resident():
    links = Path("/proc/self/fd").iterdir()
    found = [link for link in links if "pyaclnn-device" in os.path.realpath(link)]
    return max(link.stat().st_blocks * 512 for link in found)
def is_there():
    print(resident() >= SIZE, end=" ")
def wait():
    call("aclrtSynchronizeStream", NULL)
call("aclrtSetDevice", 0)
block = device_memory(SIZE)
"""
REACHED = {
    "nobody": ("", False),
    "a copy to the host": ("read(block, 64)", True),
    "a copy to the device": ("write(block, bytes(64))", True),
    "a copy on the device": (
        f"call('aclrtMemcpy', device_memory(64), 64, block, 64, {DEVICE_TO_DEVICE})",
        True,
    ),
    "a fill": ("call('aclrtMemset', block, 64, 0, 64)", True),
    "the end of the block": ("call('aclrtFree', block)", False),
    "a queued copy behind the end of the block": (
        """host = pinned(64)
call("aclrtMemcpyAsync", host, 64, block, 64, DEVICE_TO_HOST, NULL)
call("aclrtFree", block)
wait()
assert bytes(ffi.buffer(host, 64)) == b"\\xfe\\xff" * 32""",
        True,
    ),
    "a copy between kernels, which the device makes": (
        """host, problem = pinned(64), RmsNormGrad()
problem.launch()
call("aclrtMemcpyAsync", host, 64, block, 64, DEVICE_TO_HOST, NULL)
problem.launch()
wait()
assert bytes(ffi.buffer(host, 64)) == b"\\xff\\x7f" * 32""",
        True,
    ),
    "a workspace that its kernel spares": ("RmsNormGrad().launch(); wait()", False),
    "a kernel": (
        """problem = RmsNormGrad()
call("aclSetRawTensorAddr", problem.tensors[4], block)
problem.launch()
wait()""",
        True,
    ),
    "another process": (
        "key = ffi.new('char[65]')\ncall('aclrtIpcMemGetExportKey', block, SIZE, key, 65, 0)",
        True,
    ),
    "the host, at the same address": ("value('aclrtMemAllocManaged', 'void *', SIZE, 1)", True),
}


@pytest.mark.parametrize(("by", "is_there"), REACHED.values(), ids=list(REACHED))
def test_poison_is_written_when_its_memory_is_reached(
    by: str, is_there: bool, programs: Programs
) -> None:
    result = programs.python(f"{BEGIN}is_there()\n{by}\nis_there()\n", PYACLNN_MOCK_CANN=NEWEST)
    assert (result.stdout.split(), result.returncode) == (["False", str(is_there)], 0), (
        result.stderr
    )


def test_memory_that_another_process_may_read_is_written_at_once(programs: Programs) -> None:
    export = REACHED["another process"][0]
    result = programs.python(
        f"{BEGIN}{export}\nbefore = resident()\ndevice_memory(SIZE)\nprint(resident() - before)",
        PYACLNN_MOCK_CANN=NEWEST,
    )
    assert int(result.stdout) >= SIZE, result.stderr


def test_behind_a_workspace_its_block_is_as_it_was(problem: npu.RmsNormGrad) -> None:
    executor = problem.check()
    used = problem.size
    npu.call("aclrtFree", problem.workspace)
    problem.workspace = npu.device_memory(used + SIZE)
    assert problem.run(executor) == 0
    npu.call("aclrtSynchronizeStream", NULL)
    halves = np.frombuffer(npu.read(problem.workspace, used), "<u2")
    assert halves[:64].tobytes() == USED * 64
    assert {*np.unique(halves)} <= {0x7FFD, 0x7FFF}
    behind = ffi.cast("char *", problem.workspace) + used
    assert npu.read(behind, SIZE) == FRESH * (SIZE // 2)


def test_a_result_whose_tensor_is_gone_is_not_written_over(programs: Programs) -> None:
    """The executor of the second call is from the cache, and goes on without the tensor."""
    result = programs.python("""
call("aclrtSetDevice", 0)
ones = b"\\0\\0\\x80\\x3f" * (1 << 18)
x = device_memory(len(ones))
write(x, ones)
for gone in (False, True):
    out = device_memory(len(ones))
    tensors = tensor((1 << 18,), x), tensor((1 << 18,), out)
    size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
    call("aclnnNegGetWorkspaceSize", *tensors, size, executor)
    if gone:
        call("aclDestroyTensor", tensors[1])
    call("aclnnNeg", device_memory(size[0]) if size[0] else NULL, size[0], executor[0], NULL)
    call("aclrtSynchronizeStream", NULL)
print(read(out, len(ones)) == b"\\0\\0\\x80\\xbf" * (1 << 18))
""")
    assert result.stdout == "True\n", result.stderr
    assert "object-destroyed-between-phases" in result.stderr


class Model:
    """Blocks of device memory and what they must contain."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.blocks: list[tuple[Any, bytearray]] = []

    def allocate(self) -> None:
        size = self.random.choice(SIZES)
        self.blocks.append((npu.device_memory(size), bytearray(FRESH * (size // 2))))

    def free(self) -> None:
        address, _ = self.blocks.pop(self.random.randrange(len(self.blocks)))
        npu.call("aclrtFree", address)

    def part(self) -> tuple[Any, bytearray, int, int]:
        address, content = self.random.choice(self.blocks)
        start = self.random.randrange(len(content))
        length = self.random.choice((1, *SIZES))
        end = min(len(content), start + length)
        return ffi.cast("char *", address) + start, content, start, end

    def write(self) -> None:
        address, content, start, end = self.part()
        data = self.random.randbytes(end - start)
        npu.write(address, data)
        content[start:end] = data

    def fill(self) -> None:
        address, content, start, end = self.part()
        npu.call("aclrtMemset", address, end - start, 7, end - start)
        content[start:end] = b"\x07" * (end - start)

    def read(self) -> None:
        address, content, start, end = self.part()
        assert npu.read(address, end - start) == content[start:end]

    def copy(self) -> None:
        source, given, start, end = self.part()
        target, content = self.random.choice(self.blocks)
        length = min(end - start, len(content))
        if content is not given:
            npu.call("aclrtMemcpy", target, length, source, length, DEVICE_TO_DEVICE)
            content[:length] = given[start : start + length]

    def step(self) -> None:
        others = (self.write, self.fill, self.read, self.copy, self.free)
        is_new = len(self.blocks) < 20 and self.random.random() < 0.4
        (self.allocate if is_new or not self.blocks else self.random.choice(others))()


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("seed", range(4))
def test_memory_is_as_if_poison_were_written_at_once(seed: int) -> None:
    model = Model(seed)
    for _ in range(400):
        model.step()
    for address, content in model.blocks:
        assert npu.read(address, len(content)) == content
        npu.call("aclrtFree", address)
