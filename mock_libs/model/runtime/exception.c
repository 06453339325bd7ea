/* SPDX-License-Identifier: Apache-2.0 */
/* Failed kernels, as the exception callback gets them. */
#include "exception.h"

#include <pthread.h>
#include <stdlib.h>

static aclrtExceptionInfoCallback exception_callback;
static struct rtExceptionInfo *exceptions, **last_exception = &exceptions;

void mock_exception_set(aclrtExceptionInfoCallback callback)
{
    exception_callback = callback;
}

void mock_exception_record(uint32_t stream, uint32_t device, uint64_t position, aclError code)
{
    struct rtExceptionInfo *info =
        exception_callback == NULL ? NULL : calloc(1, sizeof *info);
    if (info != NULL) {
        info->task = (uint32_t)position;
        info->stream = stream;
        info->thread = (uint32_t)(uintptr_t)pthread_self();
        info->device = device;
        info->code = (uint32_t)code;
        *last_exception = info;
        last_exception = &info->next;
    }
}

struct rtExceptionInfo *mock_exception_take(aclrtExceptionInfoCallback *callback)
{
    struct rtExceptionInfo *list = exceptions;
    exceptions = NULL;
    last_exception = &exceptions;
    *callback = exception_callback;
    return list;
}

void mock_exception_deliver(struct rtExceptionInfo *list, aclrtExceptionInfoCallback callback)
{
    while (list != NULL) {
        struct rtExceptionInfo *next = list->next;
        if (callback != NULL) {
            callback(list);
        }
        free(list);
        list = next;
    }
}
