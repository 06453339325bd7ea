/* SPDX-License-Identifier: Apache-2.0 */
/* Executors and the cache of phase-1 answers. The lock is held. */
#ifndef MOCK_BASE_EXECUTOR_H
#define MOCK_BASE_EXECUTOR_H

#include "call.h"

/* What the device said to a phase 1. */
struct plan {
    bool individual;     /* CANN's generated operators; the others are composite */
    uint32_t outputs;    /* the last arguments of the operator */
    uint32_t launches;   /* 0: nothing to run, 1: a kernel, 2: phase 2 fails */
    uint64_t workspace_size;
};

struct executor {
    const char *operator_name;
    uint8_t *message;
    size_t length;
    uint32_t arguments;
    struct mock_tensor_slot *slots;
    size_t slot_count;
    struct plan plan;
    bool repeatable, from_cache;
};

/* The executor behind a handle, or NULL with CANN's code in *status. */
struct executor *mock_executor_find(const aclOpExecutor *handle, aclnnStatus *status);

/* Asks the device, or the cache, and makes an executor. Takes over the bytes and slots of a call
 * that succeeds. null_pointers: which of the two result pointers are NULL (1 size, 2 executor). */
aclnnStatus mock_executor_create(struct mock_call *call, uint32_t null_pointers,
                                 uint64_t *workspace_size, aclOpExecutor **executor);

/* The calling thread's cache: a plan by the bytes of its call, addresses left out. */
bool mock_cache_find(const uint8_t *key, size_t length, struct plan *plan);
void mock_cache_store(const uint8_t *key, size_t length, const struct plan *plan);

#endif
