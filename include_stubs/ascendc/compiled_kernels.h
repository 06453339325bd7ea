/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that were compiled for the host: the table by which a program or a library hands them to
 * the simulated NPU, as the data of aclrtCreateBinary or as the symbol pyaclnn_kernels.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PYACLNN_KERNELS_MAGIC "pyaclnn kernels"

/* Live global memory. */
struct pyaclnn_memory {
    uint8_t *address;
    uint64_t bytes;
};

/* A run of a kernel, in a process of its own. */
struct pyaclnn_run {
    const uint8_t *arguments;
    size_t bytes;
    size_t slot; /* each argument begins at a multiple of it and of its own alignment */
    uint32_t blocks;
    const struct pyaclnn_memory *memory;
    size_t memory_count;
    char *fault; /* the rule that the kernel broke, or "" */
    size_t fault_bytes;
};

struct pyaclnn_kernel {
    const char *name;
    void (*function)(void);
    void (*run)(void (*function)(void), const struct pyaclnn_run *run);
    const size_t *parameters; /* their sizes */
    size_t parameter_count;
};

struct pyaclnn_kernels {
    char magic[16];
    const struct pyaclnn_kernel *kernels;
    size_t count;
};
