/* SPDX-License-Identifier: Apache-2.0 */
/* Failed kernels, as the exception callback gets them. */
#ifndef MOCK_EXCEPTION_H
#define MOCK_EXCEPTION_H

#include <stdint.h>

#include "acl/acl.h"

/* CANN keeps this structure to itself; callers see it through getters. */
struct rtExceptionInfo {
    uint32_t task, stream, thread, device, code;
    struct rtExceptionInfo *next;
};

void mock_exception_set(aclrtExceptionInfoCallback callback);
/* Record a failed kernel for the callback, which is called without the lock. */
void mock_exception_record(uint32_t stream, uint32_t device, uint64_t position, aclError code);
struct rtExceptionInfo *mock_exception_take(aclrtExceptionInfoCallback *callback);
void mock_exception_deliver(struct rtExceptionInfo *list, aclrtExceptionInfoCallback callback);

#endif
