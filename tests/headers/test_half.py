# SPDX-License-Identifier: Apache-2.0
"""float16 of host programs in C++, ``aclnn/opdev/fp16_t.h``, against NumPy."""

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
