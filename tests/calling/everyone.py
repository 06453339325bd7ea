# SPDX-License-Identifier: Apache-2.0
"""Calls operators of the libraries of telling.py by name, and compares what these wrote down.

``python everyone.py FOLDER OPERATOR...`` prints an operator whose arguments did not arrive, with
what was expected and what was told, and at the end how many were called.
"""

from __future__ import annotations

import ctypes
import random
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np

import pyaclnn
from pyaclnn.facts.operators.catalogue import Parameter, catalogue

TYPES = {"float32": 0, "float16": 1, "int8": 2, "int32": 3, "int64": 9, "float64": 11, "bool": 12}
LARGE = {"c": 2**7, "i": 2**31, "q": 2**63}


class Maker:
    """Makes arguments by chance, and the words for each in which an operator would tell it."""

    def __init__(self, device: pyaclnn.Device, seed: str) -> None:
        self.device = device
        self.chance = random.Random(seed)

    def make(self, parameter: Parameter) -> tuple[Any, str]:
        """Return an argument for a parameter, and how it is told."""
        if parameter.c_type.endswith("*") and not self.chance.randrange(6):
            return None, "NULL "
        made: tuple[Any, str] = getattr(self, f"make_{parameter.kind}")()
        return made

    def make_t(self) -> tuple[Any, str]:
        shape = tuple(self.chance.randint(1, 3) for _ in range(self.chance.randint(0, 4)))
        dtype = self.chance.choice(list(TYPES))
        array = pyaclnn.DeviceArray.empty(shape, dtype, self.device)
        # Four axes are NCHW if nothing else is said, which to most operators is the same as ND.
        form, storage = 0 if len(shape) == 4 else 2, f"{array.size},"
        if not self.chance.randrange(4):
            array, form = array.with_format("NCHW", shape or None), 0
            storage = "".join(f"{n}," for n in shape) or storage
        dims = "".join(f"{n}," for n in shape)
        return array, f"{TYPES[dtype]}@{array.address:#x}[{dims}]{form}<{storage}> "

    def make_a(self) -> tuple[Any, str]:
        number = self.chance.choice([np.float16(2.5), 7, -1.25, True, np.int8(-3)])
        value = np.asarray(number)
        text = value.tobytes().ljust(16, b"\0").hex()
        return number, f"{TYPES[str(value.dtype)]}:{text} "

    def _many(self, item: Any) -> tuple[Any, str]:
        made = [item() for _ in range(self.chance.randint(1, 20))]
        return [value for value, _ in made], f"({''.join(text for _, text in made)}) "

    def make_T(self) -> tuple[Any, str]:  # noqa: N802  # by the letter
        return self._many(self.make_t)

    def make_A(self) -> tuple[Any, str]:  # noqa: N802
        return self._many(self.make_a)

    def make_I(self) -> tuple[Any, str]:  # noqa: N802
        return self._many(lambda: self._listed(self.make_q()))

    def make_F(self) -> tuple[Any, str]:  # noqa: N802
        return self._many(lambda: self._listed(self.make_f()))

    def make_B(self) -> tuple[Any, str]:  # noqa: N802
        return self._many(lambda: self._listed(self.make_b()))

    @staticmethod
    def _listed(made: tuple[Any, str]) -> tuple[Any, str]:
        return made[0], f"{made[1].rstrip()},"

    def make_s(self) -> tuple[Any, str]:
        text = "".join(self.chance.choice("BNSDxyz_0") for _ in range(self.chance.randint(1, 40)))
        return text, f"{text} "

    def make_b(self) -> tuple[Any, str]:
        value = self.chance.choice([True, False])
        return value, f"{int(value)} "

    def make_d(self) -> tuple[Any, str]:
        value = self.chance.uniform(-1, 1) * 10.0 ** self.chance.randint(-200, 200)
        return value, f"{_hex(value)} "

    def make_f(self) -> tuple[Any, str]:
        value = self.chance.uniform(-1, 1) * 10.0 ** self.chance.randint(-30, 30)
        return value, f"{_hex(struct.unpack('f', struct.pack('f', value))[0])} "

    def _integer(self, low: int, high: int) -> tuple[Any, str]:
        value = self.chance.choice([low, high, -1 if low else 1, self.chance.randint(low, high)])
        return value, f"{value} "

    def make_c(self) -> tuple[Any, str]:
        return self._integer(-LARGE["c"], LARGE["c"] - 1)

    def make_i(self) -> tuple[Any, str]:
        return self._integer(-LARGE["i"], LARGE["i"] - 1)

    def make_q(self) -> tuple[Any, str]:
        return self._integer(-LARGE["q"], LARGE["q"] - 1)

    def make_Q(self) -> tuple[Any, str]:  # noqa: N802
        return self._integer(0, 2**64 - 1)

    def make_y(self) -> tuple[Any, str]:
        name = self.chance.choice(list(TYPES))
        return name, f"{TYPES[name]} "


def _hex(value: float) -> str:
    """Write a number as C's %a does: without zeros at the end."""
    head, _, exponent = value.hex().partition("p")
    return f"{head.rstrip('0').rstrip('.')}p{exponent}"


def main() -> None:
    """Call each operator twice: the second call goes by what the first has found out."""
    folder = Path(sys.argv[1])
    pyaclnn.select_backend(folder)
    log = ctypes.c_char.in_dll(ctypes.CDLL(str(folder / "libopapi.so")), "telling_log")
    living = ctypes.CDLL(str(folder / "libnnopbase.so")).telling_living
    with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
        for name in sys.argv[2:]:
            maker = Maker(device, name)
            made = [maker.make(parameter) for parameter in catalogue()[name].parameters]
            given, expected = [value for value, _ in made], "".join(text for _, text in made)
            before = living()
            for _ in range(2):
                ctypes.memset(ctypes.addressof(log), 0, 1)
                result = pyaclnn.op(name)(*given, stream=stream)
                told = ctypes.string_at(ctypes.addressof(log)).decode()
                if told != expected:
                    sys.stdout.write(f"{name}\n  expected {expected}\n  told     {told}\n")
            written = [
                value
                for value, parameter in zip(given, catalogue()[name].parameters, strict=True)
                if parameter.written
            ]
            returned = result if len(written) != 1 and isinstance(result, tuple) else (result,)
            for value, back in zip(written, returned, strict=True):
                same = value is back or getattr(back, "array", None) is value
                if not same and list(back) != list(value):
                    sys.stdout.write(f"{name}: {back!r} is returned for {value!r}\n")
            del result, returned, given, made, written, value, back
            if living() != before:
                sys.stdout.write(f"{name}: {living() - before} objects are left\n")
    sys.stdout.write(f"{len(sys.argv) - 2}\n")


if __name__ == "__main__":
    main()
