/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated chip. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct chip {
    const char *soc_name, *family;
    bool recent; /* has bfloat16, infinities in its arithmetic, and operators that come compiled */
    uint64_t memory_bytes;
    int ai_cores, vector_cores;
    uint32_t streams, events;
    int64_t l2_bytes;
};

/* The chip that PYACLNN_MOCK_SOC names, or NULL when it names none (after mock_fail). */
const struct chip *mock_chip(void);
/* The known chip of a name, or NULL. */
const struct chip *mock_chip_named(const char *name);
