/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the host can give to a simulated device. */
#pragma once

#include <stdint.h>

/* A limit in bytes, and the words that explain it. */
struct mock_memory_limit {
    uint64_t bytes;
    const char *reason;
};

/* Return the memory of PYACLNN_MOCK_MEMORY; without that, half of what the machine or the
 * container has: kernels need as much again for what they compute. 0 bytes: the variable is no
 * number of MiB. */
struct mock_memory_limit mock_host_memory(void);
