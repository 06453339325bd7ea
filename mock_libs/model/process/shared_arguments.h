/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a kernel on the host, which the launches that a graph repeats share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"

/* Arguments of a launch. */
struct mock_kernel_arguments {
    const void *data;
    size_t bytes, slot; /* as in struct pyaclnn_run */
    bool on_device;     /* read when the kernel runs, and not copied */
    const aclrtPlaceHolderInfo *holders; /* pointers into the copy, to write */
    size_t holder_count;
};

/* A copy of arguments with one user, with the pointers into it; NULL: no memory. */
uint8_t *mock_shared_arguments(const struct mock_kernel_arguments *arguments);
/* One user more, one less, of which the last one frees them; NULL: nothing. */
void mock_shared_arguments_use(uint8_t *copy);
void mock_shared_arguments_drop(uint8_t *copy);
