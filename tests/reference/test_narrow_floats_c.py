# SPDX-License-Identifier: Apache-2.0
"""The C of the reference under AddressSanitizer, UBSan and ThreadSanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.mock_libs.sanitized import start

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
                double *numbers = calloc(12, sizeof *numbers);
                float *sums = calloc(2 * (size_t)width, sizeof *sums);
                double *scratch = calloc(3 * (size_t)width + 25, sizeof *scratch);
                const struct operand operands[] = {
                    {kind, (int64_t)(uintptr_t)x, width, 0, 1},
                    {kind, (int64_t)(uintptr_t)y, width, 0, 1},
                    {0, (int64_t)(uintptr_t)few, 0, 2, 5},
                };
                const struct operand both[] = {
                    {0, (int64_t)(uintptr_t)sums, 0, 0, 1},
                    {0, (int64_t)(uintptr_t)(sums + width), 0, 0, 1},
                };
                struct step steps[2 * 23] = {{22, 0, 2, 0, 0}, {0, 0, 2, 0, 0}, {0, 1, 3, 0, 0}};
                size_t count = 3;
                for (int code = 1; code < 9; code++)
                    steps[count++] = (struct step){code, code % 2 ? 3 : 0, 2, code < 4 ? 4 : 1, 1};
                for (int code = 9; code < 17; code++)
                    steps[count++] = (struct step){code, 0, 2, code == 12 ? 1 : 4, 0};
                for (int code = 17; code < 22; code++)
                    steps[count++] = (struct step){code, 2, 0, 1, 0};
                steps[count++] = (struct step){0, 3, 0, 0, 0};
                const struct piece piece = {0, 3, 0, width};
                const struct job job = {
                    steps, operands, both, &piece, numbers, (int64_t)count, 3, 2, 1, 4, 3, 1,
                    width, scratch,
                };
                run_strips(&job, 2);
                free(x), free(y), free(few), free(numbers), free(sums), free(scratch);
            }
    return 0;
}
"""


SHARED = """
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include "shared_job.h"
enum { ROUNDS = 3, PIECES = 40 };
struct sums {
    int64_t given[PIECES], totals[ROUNDS];
};
static void add(const void *context, int64_t round, int64_t piece)
{
    struct sums *sums = (struct sums *)context;
    sums->given[piece] += round + (round ? sums->totals[round - 1] : 1);
}
static void finish(const void *context, int64_t round)
{
    struct sums *sums = (struct sums *)context;
    for (int piece = 0; piece < PIECES; piece++)
        sums->totals[round] += sums->given[piece];
}
static void *jobs(void *unused)
{
    for (int i = 0; i < 300; i++) {
        struct sums sums = {0};
        run_shared(&(struct shared){add, finish, &sums, ROUNDS, PIECES}, 3);
        /* 1 each; 1 + 1 + 40 each; 42 + 2 + 1680 each */
        if (sums.totals[0] != 40 || sums.totals[1] != 1680 || sums.totals[2] != 68960)
            abort();
    }
    return unused;
}
int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, jobs, NULL);
    jobs(NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("code", "sanitizers"),
    [
        pytest.param(EVERY_COUNT, "address,undefined", id="conversions"),
        pytest.param(EVERY_STEP, "address,undefined", id="strips"),
        pytest.param(SHARED, "thread", id="threads"),
    ],
)
def test_sanitizers_find_nothing(tmp_path: Path, code: str, sanitizers: str) -> None:
    main, program = tmp_path / "main.c", tmp_path / "main"
    main.write_text(code, encoding="utf-8")
    flags = [
        "-std=c11",
        "-O1",
        "-fno-math-errno",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-fsanitize={sanitizers}",
    ]
    flags.append("-pthread")
    command = ["cc", *flags, "-fno-sanitize-recover=all", f"-I{FOLDER}", str(main)]
    sources = [str(path) for path in sorted(FOLDER.glob("*.c"))]
    subprocess.run([*command, *sources, "-lm", "-o", str(program)], check=True)
    done = subprocess.run([*start(), program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
