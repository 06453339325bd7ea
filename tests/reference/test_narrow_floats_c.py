# SPDX-License-Identifier: Apache-2.0
"""The C of the reference under AddressSanitizer and UBSan."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "pyaclnn/reference/arithmetic"

EVERY_COUNT = """
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
#include "narrow_floats.h"
int main(void)
{
    for (portable = 0; portable < 2; portable++)
        for (int bfloat = 0; bfloat < 2; bfloat++)
            for (size_t count = 1; count < 70000; count = count < 40 ? count + 1 : count * 40) {
                uint16_t *few = malloc(count * sizeof *few);
                float *many = malloc(count * sizeof *many);
                for (size_t i = 0; i < count; i++)
                    few[i] = (uint16_t)(i * 65521);
                widen(bfloat, few, (ptrdiff_t)count, many, 1, count);
                narrow(bfloat, many, few, (ptrdiff_t)count, 1, count);
                free(few);
                free(many);
            }
    return 0;
}
"""


EVERY_STEP = """
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
#include "narrow_floats.h"
#include "strips.h"
int main(void)
{
    for (portable = 0; portable < 2; portable++)
        for (int kind = 0; kind < 3; kind++)
            for (int64_t width = 1; width < 2100; width = width < 70 ? width + 1 : width * 2 + 1) {
                const size_t size = kind ? 2 : 4;
                void *x = calloc(3 * (size_t)width, size), *y = calloc(3 * (size_t)width, size);
                float *few = calloc((size_t)width / 5 + 1, sizeof *few);
                double *numbers = calloc(6, sizeof *numbers);
                double *sums = calloc((size_t)width, sizeof *sums);
                const struct operand operands[] = {
                    {kind, (int64_t)(uintptr_t)x, width, 0, 1},
                    {kind, (int64_t)(uintptr_t)y, width, 0, 1},
                    {0, (int64_t)(uintptr_t)few, 0, 2, 5},
                };
                const struct step steps[] = {
                    {0, 0, 0, 0}, {0, 1, 2, 0}, {8, 0, 0, 0}, {9, 1, 0, 1}, {10, 0, 0, 0},
                    {11, 0, 0, 1}, {12, 0, 0, 1}, {13, 0, 0, 1}, {14, 0, 0, 1}, {15, 0, 0, 1},
                    {16, 1, 1, 1}, {0, 0, 0, 0}, {2, 0, 0, 1}, {3, 0, 0, 1}, {4, 0, 0, 1},
                    {5, 0, 0, 1}, {6, 0, 0, 1}, {7, 0, 0, 1}, {1, 1, 0, 0},
                };
                const struct program program = {steps, sizeof steps / sizeof *steps, operands, 2};
                const struct piece piece = {0, 3, 0, width, numbers, sums};
                run_strips(&program, &piece);
                free(x), free(y), free(few), free(numbers), free(sums);
            }
    return 0;
}
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("code", [EVERY_COUNT, EVERY_STEP], ids=["conversions", "strips"])
def test_sanitizers_find_nothing(tmp_path: Path, code: str) -> None:
    main, program = tmp_path / "main.c", tmp_path / "main"
    main.write_text(code, encoding="utf-8")
    flags = [
        "-std=c11",
        "-O1",
        "-fno-math-errno",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsanitize=address,undefined",
    ]
    command = ["cc", *flags, "-fno-sanitize-recover=all", f"-I{FOLDER}", str(main)]
    sources = [str(path) for path in sorted(FOLDER.glob("*.c"))]
    subprocess.run([*command, *sources, "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
