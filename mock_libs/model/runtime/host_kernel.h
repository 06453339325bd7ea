/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels compiled for the host: binaries that hold them, and their launch. */
#pragma once

#include "acl/acl.h"
#include "ascendc/host_kernel.h"

/* A loaded binary. A function handle is the address of a kernel in its list. */
struct mock_binary {
    struct pyaclnn_kernels table;
    struct mock_binary *next;
};

/* Load a table of kernels. NULL after mock_fail: it is none, or there is no host memory. */
struct mock_binary *mock_binary_new(const void *data, size_t bytes);
/* The binary behind a handle, or NULL. */
struct mock_binary *mock_binary_find(const void *handle);
/* Queued kernels keep running. */
void mock_binary_free(struct mock_binary *binary);
/* The kernel behind a function handle, or NULL. */
const struct pyaclnn_kernel *mock_binary_kernel(const void *function);

/* Queue a kernel with a copy of its arguments; `slot` as in struct pyaclnn_run. */
aclError mock_host_kernel_launch(const struct pyaclnn_kernel *kernel, uint32_t blocks,
                                 aclrtStream stream, const void *arguments, size_t bytes,
                                 size_t slot);
