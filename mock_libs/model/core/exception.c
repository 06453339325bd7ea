/* SPDX-License-Identifier: Apache-2.0 */
/* Failed kernels, as the exception callback gets them. */
#include "exception.h"

#include <pthread.h>
#include <stdlib.h>

static struct mock_exception_callbacks callbacks; /* the first is that of mock_exception_set */
static struct rtExceptionInfo *exceptions, **last_exception = &exceptions;

void mock_exception_set(aclrtExceptionInfoCallback callback)
{
    callbacks.functions[0] = callback;
}

bool mock_exception_change(aclrtExceptionInfoCallback from, aclrtExceptionInfoCallback to)
{
    int place = 1;
    while (place < MOCK_EXCEPTION_CALLBACKS && callbacks.functions[place] != from) {
        place++;
    }
    if (place == MOCK_EXCEPTION_CALLBACKS) {
        return false;
    }
    callbacks.functions[place] = to;
    return true;
}

static bool is_any_registered(void)
{
    int place = 0;
    while (place < MOCK_EXCEPTION_CALLBACKS && callbacks.functions[place] == NULL) {
        place++;
    }
    return place < MOCK_EXCEPTION_CALLBACKS;
}

void mock_exception_record(uint32_t stream, uint32_t device, uint64_t position, aclError code)
{
    struct rtExceptionInfo *info =
        is_any_registered() ? calloc(1, sizeof *info) : NULL;
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

struct rtExceptionInfo *mock_exception_take(struct mock_exception_callbacks *to)
{
    struct rtExceptionInfo *list = exceptions;
    if (list != NULL) {
        exceptions = NULL;
        last_exception = &exceptions;
        *to = callbacks;
    }
    return list;
}

void mock_exception_deliver(struct rtExceptionInfo *list,
                            const struct mock_exception_callbacks *to)
{
    while (list != NULL) {
        struct rtExceptionInfo *next = list->next;
        for (int i = 0; i < MOCK_EXCEPTION_CALLBACKS; i++) {
            if (to->functions[i] != NULL) {
                to->functions[i](list);
            }
        }
        free(list);
        list = next;
    }
}
