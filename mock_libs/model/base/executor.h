/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: the state between the two phases of an operator. The lock is held. */
#pragma once

#include "argument_builder.h"
#include "cache.h"
#include "call.h"
#include "hccl/hccl.h"

/* Bits of a mask of arguments. */
enum { MAX_ARGUMENTS = 64 };

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
    HcclComm group; /* whose ranks run it together, or NULL */
    struct plan plan;
    struct assembly *assembly; /* of a package, as long as its arguments come; or NULL */
    bool repeatable, from_cache;
    bool refused; /* to be made repeatable */
};

/* Take over the bytes and slots of a call; NULL: no host memory. */
struct executor *mock_executor_new(struct mock_call *call, const struct plan *plan,
                                   bool from_cache);
void mock_executor_free(struct executor *executor);
/* Fill in where the tensors are now; false: one of them is gone. */
bool mock_write_addresses(uint8_t *message, const struct mock_tensor_slot *slots, size_t count);
/* Return whether the operator writes an argument, given its number. */
bool mock_is_output(const struct executor *executor, uint32_t argument);

/* Report the use of an executor that no longer exists. */
void mock_executor_report_dead(const aclOpExecutor *handle);
/* The executor behind a handle, or NULL with CANN's code in *status. */
struct executor *mock_executor_find(const aclOpExecutor *handle, aclnnStatus *status);
