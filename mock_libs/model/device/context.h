/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: one current per thread, by its handle. */
#pragma once

#include "device.h"

struct stream;

struct context {
    void *handle;
    struct device *device;
    bool primary;
    struct stream *default_stream;
    struct stream *streams; /* every stream of the context, the default one included */
    uint32_t events;        /* alive, made in this context */
    aclError stopped;       /* the failure that stopped the context (ACL_STOP_ON_FAILURE) */
    char first_failure[1024]; /* of all its streams, as text; "": none */
    int64_t options[4];     /* aclSysParamOpt */
    pid_t host_thread_in;   /* the process in which it has a thread for host functions, or 0 */
    aclrtFloatOverflowMode overflow_mode;
};

struct context *mock_current_context(void);
/* The same; that there is none is a violation. */
struct context *mock_context_or_violation(void);
void mock_set_current_context(const struct context *context);
int64_t *mock_process_options(void);
/* The current context of a device that still answers, or NULL after mock_fail; *status gets the
 * code. */
struct context *mock_usable_context(aclError *status);

/* Keep the text of a failure, if it is the context's first. */
void mock_context_keep_failure(struct context *context, const char *text);
/* The code of a failure with its text, which may be NULL, and the text of the context's first one. */
aclError mock_context_fail(const struct context *context, aclError code, const char *text);

/* The device of the calling thread's current context, or NULL. */
struct device *mock_current_device(void);
/* Return whether the current context requires deterministic results. */
bool mock_deterministic(void);
