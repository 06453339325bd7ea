# SPDX-License-Identifier: Apache-2.0
"""Libraries in front of CANN are ELF files that need the recorder and the library behind them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.elf import read_library
from pyaclnn.capture.front import Front, write_front

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [f"aclFunction{i}" for i in range(300)]
PAGE = 0x10000


def front(machine: str) -> Front:
    unknown = frozenset(NAMES[7:9])
    return Front("libascendcl.so", "/real/libascendcl.so", "/recorder.so", "/table", 70000, NAMES,
                 unknown, machine)  # fmt: skip


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_front_has_the_names_of_the_library_behind_it(machine: str, tmp_path: Path) -> None:
    path = tmp_path / "libascendcl.so"
    path.write_bytes(write_front(front(machine)))
    found = read_library(path)
    assert (found.machine, found.soname) == (machine, "libascendcl.so")
    assert found.needed == ("/recorder.so", "/real/libascendcl.so")
    assert found.functions == set(NAMES)


def test_another_processor_is_refused() -> None:
    with pytest.raises(ValueError, match="it must be x86_64 or aarch64"):
        write_front(front("riscv64"))


def marked(place: int) -> int:
    return 70000 + place | (1 << 31 if NAMES[place] in NAMES[7:9] else 0)


def test_on_x86_each_function_loads_its_marked_number_and_jumps() -> None:
    image = write_front(front("x86_64"))
    code = image.index(b"\xf3\x0f\x1e\xfa\x41\xbb")
    for place in range(len(NAMES)):
        stub = image[code + 16 * place : code + 16 * place + 16]
        number, distance = struct.unpack("<I", stub[6:10])[0], struct.unpack("<i", stub[11:15])[0]
        assert number == marked(place)
        assert 16 * place + 15 + distance == 16 * len(NAMES)


def test_on_arm_each_function_loads_its_marked_number_in_two_halves_and_branches() -> None:
    image = write_front(front("aarch64"))
    code = image.index(struct.pack("<I", 0xD503245F))
    for place in range(len(NAMES)):
        _, low, high, branch = struct.unpack_from("<4I", image, code + 16 * place)
        assert (low >> 5 & 0xFFFF) | (high >> 5 & 0xFFFF) << 16 == marked(place)
        assert low & 31 == high & 31 == 16
        assert 16 * place + 12 + 4 * (branch & 0x3FFFFFF) == 16 * len(NAMES)
