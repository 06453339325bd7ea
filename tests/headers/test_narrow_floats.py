# SPDX-License-Identifier: Apache-2.0
"""Narrow floats of host programs in C++, ``aclnn/opdev``: float16 against NumPy, float4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.product.commands import compile_program, run

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
#include <cstdio>
#include "aclnn/opdev/fp16_t.h"
int main()
{
    static_assert(sizeof(op::fp16_t) == 2, "two bytes");
    float a, b;
    while (std::scanf("%f %f", &a, &b) == 2) {
        op::fp16_t x(a), y = b, z;
        z = x * y;
        z += op::fp16_t(1);
        std::printf("%x %x %x %d\\n", x.val, y.val, z.val, x < y);
    }
    return static_cast<float>(op::fp16_t(static_cast<uint16_t>(0x3c00))) == 1 ? 0 : 1;
}
"""


def test_numbers_are_rounded_as_numpy_rounds_them(tmp_path: Path) -> None:
    (tmp_path / "half.cpp").write_text(PROGRAM, encoding="utf-8")
    compile_program(tmp_path / "half.cpp", tmp_path / "half")
    pairs = np.random.default_rng(3).normal(size=(200, 2)).astype(np.float32)
    (tmp_path / "in").write_text("\n".join(f"{a!r} {b!r}" for a, b in pairs.tolist()))
    done = run("sh", "-c", "./half < in", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    x, y = pairs.astype(np.float16).T
    z = x * y + np.float16(1)
    expected = [
        f"{a:x} {b:x} {c:x} {less:d}"
        for a, b, c, less in zip(*(v.view(np.uint16) for v in (x, y, z)), x < y, strict=True)
    ]
    assert done.stdout.splitlines() == expected


FLOAT4 = """
#include <cstdio>
#include "aclnn/opdev/float4_e2m1.h"
int main()
{
    static_assert(sizeof(op::float4_e2m1) == 1, "one byte");
    for (int bits = 0; bits < 16; bits++)
        std::printf("%g ", static_cast<float>(op::float4_e2m1(static_cast<uint8_t>(bits))));
    double x;
    while (std::scanf("%lf", &x) == 1) {
        const float narrow = static_cast<float>(x);
        op::float4_e2m1 y(x), same = narrow, zero;
        if ((narrow == x && y.val != same.val) || zero.val != 0) return 1;
        std::printf("%x ", y.val);
    }
    return op::float4_e2m1(3) < op::float4_e2m1(-6) ? 1 : 0;
}
"""
MAGNITUDES = ("0", "0.5", "1", "1.5", "2", "3", "4", "6")  # OCP Microscaling 1.0, table 5
ROUNDED = {
    "0": 0, "1e-45": 0, "0.2499": 0, "0.25": 0, "0.250000001": 1, "0.5": 1, "0.749999999": 1,
    "0.75": 2, "1": 2, "1.25": 2, "1.2501": 3, "1.5": 3, "1.7499": 3, "1.75": 4, "2": 4, "2.5": 4,
    "2.500000001": 5, "3": 5, "3.4999": 5, "3.5": 6, "4": 6, "5": 6, "5.000000001": 7, "6": 7,
    "7": 7, "3e38": 7, "inf": 7, "nan": 0,
}  # fmt: skip


def test_float4_has_sixteen_values_and_rounds_to_the_even_one_of_two(tmp_path: Path) -> None:
    (tmp_path / "narrow.cpp").write_text(FLOAT4, encoding="utf-8")
    compile_program(tmp_path / "narrow.cpp", tmp_path / "narrow")
    (tmp_path / "in").write_text("\n".join([*ROUNDED, *(f"-{x}" for x in ROUNDED)]))
    done = run("sh", "-c", "./narrow < in", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    values = [*MAGNITUDES, *(f"-{x}" for x in MAGNITUDES)]
    rounded = [*ROUNDED.values(), *(x + 8 for x in ROUNDED.values())]
    assert done.stdout.split() == values + [f"{bits:x}" for bits in rounded]
