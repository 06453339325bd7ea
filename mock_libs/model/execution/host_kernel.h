/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels compiled for the host: binaries that hold them, and their launch. */
#pragma once

#include "acl/acl.h"
#include "ascendc/compiled_kernels.h"
#include "shared_arguments.h"

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
/* The binary with a kernel, which is a function handle, or NULL. */
struct mock_binary *mock_binary_of(const void *function);
/* The kernel with this code, or NULL. */
const struct pyaclnn_kernel *mock_kernel_of(const void *code);
/* A function handle as a kernel, or NULL with the code in *status. */
const struct pyaclnn_kernel *mock_kernel_find(const void *function, aclError *status);

/* Queue a kernel. */
aclError mock_host_kernel_launch(const struct pyaclnn_kernel *kernel, uint32_t blocks,
                                 aclrtStream stream,
                                 const struct mock_kernel_arguments *arguments);
