# SPDX-License-Identifier: Apache-2.0
"""Signatures to be called, values for them, and C functions that look whether they arrive.

A signature is a letter for each parameter, as in ``struct binding_operator``.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CASES", "C_TYPES", "FULL", "REAL", "checker", "program", "values_of"]

C_TYPES = {"b": "_Bool", "d": "double", "f": "float", "c": "int8_t", "i": "int32_t"}
C_TYPES |= {"y": "int32_t", "q": "int64_t", "Q": "uint64_t"}
"""C types of other letters are pointers, represented as 64-bit numbers."""

REAL = sorted({"".join(p.kind for p in entry.parameters) for entry in catalogue().values()})
"""Every distinct signature of the operators of CANN 8.1 and 9.x."""


def _random_signatures(count: int) -> list[str]:
    chosen = random.Random(11)
    mixes = ["tqQibcydf", "tdfb", "df", "qf"]
    return [
        "".join(chosen.choice(mixes[i % 4]) for _ in range(chosen.randint(0, 60)))
        for i in range(count)
    ]


FULL = [letter * (64 + some) for letter in "qd" for some in (4, 6, 8)]
"""Such that the 64 words on the stack that are passed are all used, on one machine or another."""

CASES = [*REAL, *FULL, *_random_signatures(150)]

_EXTREMES = {
    "c": (-(2**7), 2**7 - 1, -1),
    "i": (-(2**31), 2**31 - 1, -1),
    "y": (-1, 0, 27),
    "q": (-(2**63) + 1, 2**63 - 1, -1),
    "Q": (0, 2**64 - 1, 2**63),
    "b": (False, True, True),
    "d": (-1e300, 2.5e-308, -0.5),
    "f": (-(2.0**120), 1.25, -0.0625),
}


def values_of(kinds: str, seed: int) -> list[int | float]:
    """A value for each parameter, extreme ones among them."""
    chosen = random.Random(f"{kinds} {seed}")
    values: list[int | float] = []
    for kind in kinds:
        if kind in _EXTREMES and chosen.random() < 0.4:
            values.append(chosen.choice(_EXTREMES[kind]))
        elif kind in "df":
            values.append(chosen.randint(-(2**20), 2**20) / 64)
        elif kind == "b":
            values.append(chosen.random() < 0.5)
        elif kind in "ciyq":
            bits = {"c": 7, "i": 31, "y": 31, "q": 63}[kind]
            values.append(chosen.randint(-(2**bits) + 1, 2**bits - 1))
        else:
            values.append(chosen.getrandbits(64))
    return values


def _literal(kind: str, value: float) -> str:
    if kind in "df":
        return f"{float(value).hex()}{'f' if kind == 'f' else ''}"
    if kind in "bciyq":
        return f"{int(value)}ll"
    return f"{int(value)}ull"


def checker(number: int, kinds: str) -> str:
    """A function that answers 0 if all arrives, and its number by the first out-parameter."""
    typed = [f"{C_TYPES.get(kind, 'void *')} a{i}, " for i, kind in enumerate(kinds)]
    tests = [
        f"a{i} != ({C_TYPES.get(kind, 'void *')}){_literal(kind, value)}"
        for i, (kind, value) in enumerate(zip(kinds, values_of(kinds, number), strict=True))
    ]
    return (
        f"int check_{number}({''.join(typed)}uint64_t *size, void **executor)\n"
        f"{{ *size = {number}; *executor = size; return {' || '.join(tests) or '0'}; }}"
    )


def program(convention: Path) -> str:
    """A program that calls every checker by the machine's convention and counts what goes wrong."""
    header = convention.with_name("launcher.h").read_text(encoding="utf-8")
    lines = ["#include <stddef.h>", "#include <stdint.h>", "#include <stdio.h>", header]
    lines += [convention.with_suffix(end).read_text(encoding="utf-8") for end in (".h", ".c")]
    lines += [checker(number, kinds) for number, kinds in enumerate(CASES)]
    lines.append("static int wrong, called;")
    lines.append(
        "static void look(void *function, const char *kinds, const union binding_value *values,"
        " uint64_t number)\n{"
        "    struct binding_operator op = {function, NULL, NULL, NULL, kinds, NULL};\n"
        "    uint64_t size = 1u << 31;\n    void *executor = NULL;\n"
        "    if (!binding_reaches(kinds)) return;\n    called++;\n"
        "    if (binding_by_convention(&op, values, &size, &executor) != 0 || size != number ||"
        ' executor != &size) { wrong++; printf("wrong: %s\\n", kinds); }\n}'
    )
    for number, kinds in enumerate(CASES):
        values = zip(kinds, values_of(kinds, number), strict=True)
        words = [
            f"{{.real = {_literal('d', v)}}}"
            if k in "df"
            else f"{{.bits = (uint64_t){_literal(k, v)}}}"
            for k, v in values
        ]
        listed = ", ".join(words) or "{.bits = 0}"
        lines.append(f"static const union binding_value values_{number}[] = {{{listed}}};")
    lines.append("int main(void)\n{")
    lines += [
        f'    look((void *)check_{number}, "{kinds}", values_{number}, {number});'
        for number, kinds in enumerate(CASES)
    ]
    lines.append('    printf("%d called, %d wrong\\n", called, wrong);\n    return wrong != 0;\n}')
    return "\n".join(lines)
