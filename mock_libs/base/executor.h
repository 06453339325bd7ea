/* SPDX-License-Identifier: Apache-2.0 */
/* Executors and the cache of phase-1 answers. The lock is held. */
#ifndef MOCK_BASE_EXECUTOR_H
#define MOCK_BASE_EXECUTOR_H

#include "call.h"
#include "rule_numbers.inc"

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
    struct mock_used *used;
    size_t used_count;
    int device; /* current in phase 1 */
    struct plan plan;
    bool repeatable, from_cache;
    bool refused; /* to be made repeatable */
};

/* The workspace's address and size stand before the call in the message of phase 2. */
enum { PREFIX = 16 };

/* Fills in where the tensors are now; false: one of them is gone. */
bool mock_write_addresses(uint8_t *message, const struct mock_tensor_slot *slots, size_t count);
void mock_executor_free(struct executor *executor);
/* The operator whose phase 1 failed last on this thread, so that it made no executor; or NULL. */
const char *mock_failed_operator(void);

/* Records that what no longer exists was used. */
void mock_executor_report_dead(const aclOpExecutor *handle);
/* The executor behind a handle, or NULL with CANN's code in *status. */
struct executor *mock_executor_find(const aclOpExecutor *handle, aclnnStatus *status);

/* Looks at the memory a kernel is going to use: reports what is wrong with it, lists the ranges,
 * and says whether the kernel can run there. false: no host memory. */
bool mock_inspect(const struct executor *executor, const void *workspace, int device,
                  struct mock_launch *launch);
/* Reports every object of phase 1 that was destroyed since; how many there are. */
size_t mock_inspect_objects(const struct executor *executor);

/* Asks the device, or the cache, and makes an executor. Takes over the bytes and slots of a call
 * that succeeds. null_pointers: which of the two result pointers are NULL (1 size, 2 executor). */
aclnnStatus mock_executor_create(struct mock_call *call, uint32_t null_pointers,
                                 uint64_t *workspace_size, aclOpExecutor **executor);

/* The calling thread's cache: a plan by the bytes of its call, addresses left out. */
bool mock_cache_find(const uint8_t *key, size_t length, struct plan *plan);
void mock_cache_store(const uint8_t *key, size_t length, const struct plan *plan);

#endif
