# SPDX-License-Identifier: Apache-2.0
"""The C conversions under AddressSanitizer and UBSan."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "pyaclnn/reference/arithmetic/narrow_floats.c"

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


@pytest.mark.exhaustive
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    main, program = tmp_path / "main.c", tmp_path / "main"
    main.write_text(EVERY_COUNT, encoding="utf-8")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    command = ["cc", *flags, "-fno-sanitize-recover=all", f"-I{SOURCE.parent}", str(main)]
    subprocess.run([*command, str(SOURCE), "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
