/* SPDX-License-Identifier: Apache-2.0 */
/* Failed kernels, as the exception callback gets them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"

/* CANN keeps this structure to itself; callers see it through getters. */
struct rtExceptionInfo {
    uint32_t task, stream, thread, device, code;
    struct rtExceptionInfo *next;
};

enum { MOCK_EXCEPTION_CALLBACKS = 17 };

struct mock_exception_callbacks {
    aclrtExceptionInfoCallback functions[MOCK_EXCEPTION_CALLBACKS]; /* NULL: a free place */
};

/* Put a callback, or NULL, in the place of another one, or of NULL. false: there is none. */
bool mock_exception_change(aclrtExceptionInfoCallback from, aclrtExceptionInfoCallback to);
void mock_exception_set(aclrtExceptionInfoCallback callback);
/* Record a failed kernel for the callbacks, which are called without the lock. */
void mock_exception_record(uint32_t stream, uint32_t device, uint64_t position, aclError code);
/* *to is filled in if there are any. */
struct rtExceptionInfo *mock_exception_take(struct mock_exception_callbacks *to);
void mock_exception_deliver(struct rtExceptionInfo *list,
                            const struct mock_exception_callbacks *to);
