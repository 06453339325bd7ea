/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: one current per thread. */
#include "context.h"

#include <stdio.h>
#include <string.h>

#include "error_message.h"
#include "fault.h"
#include "violation.h"
#include "wire.h"

/* The handle, not the object: a context that another thread destroyed is recognised. */
static _Thread_local void *current;
static int64_t process_options[4];

int64_t *mock_process_options(void)
{
    return process_options;
}

struct context *mock_current_context(void)
{
    return mock_handle_get(current, MOCK_CONTEXT);
}

struct context *mock_context_or_violation(void)
{
    struct context *context = mock_current_context();
    if (context == NULL && current == NULL) {
        mock_violate(MOCK_NO_CONTEXT, "context", NULL, NULL,
                     "this thread has not made any context current");
    } else if (context == NULL) {
        mock_violate_object(MOCK_CONTEXT_GONE, MOCK_CONTEXT, current,
                            "the context that this thread made current was destroyed");
    }
    return context;
}

void mock_set_current_context(const struct context *context)
{
    current = context == NULL ? NULL : context->handle;
    if (context != NULL) {
        mock_fault_set_device(context->device->id);
    }
}

struct context *mock_usable_context(aclError *status)
{
    struct context *context = mock_context_or_violation();
    if (context == NULL) {
        *status = mock_fail(ACL_ERROR_RT_CONTEXT_NULL,
                            "this thread has no current context; call aclrtSetDevice or "
                            "aclrtSetCurrentContext on it first");
        return NULL;
    }
    *status = mock_device_alive(context->device);
    if (*status == ACL_SUCCESS && context->stopped != ACL_SUCCESS) {
        *status = mock_context_fail(context, context->stopped, NULL);
    }
    return *status == ACL_SUCCESS ? context : NULL;
}

void mock_context_keep_failure(struct context *context, const char *text)
{
    if (context->first_failure[0] == '\0') {
        snprintf(context->first_failure, sizeof context->first_failure, "%s",
                 mock_message_body(text));
    }
}

aclError mock_context_fail(const struct context *context, aclError code, const char *text)
{
    const char *first = context->first_failure;
    if (text == NULL) {
        return mock_fail(code,
                         "the context was stopped by an earlier failure (ACL_STOP_ON_FAILURE); "
                         "reset device %d; its first failure: %s",
                         context->device->id, first);
    }
    const bool later = strcmp(mock_message_body(text), first) != 0;
    return mock_fail(code, "%s%s%s", text, later ? "; the first failure of this context: " : "",
                     later ? first : "");
}

struct device *mock_current_device(void)
{
    aclError status;
    struct context *context = mock_usable_context(&status);
    return context == NULL ? NULL : context->device;
}

bool mock_deterministic(void)
{
    const struct context *context = mock_current_context();
    return context != NULL && context->options[ACL_OPT_DETERMINISTIC] != 0;
}
