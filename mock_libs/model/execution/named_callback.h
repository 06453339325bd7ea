/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program that are called when something happens to the runtime, in lists.
 * Source: CANN: runtime stream_state_callback_manager.cc. */
#pragma once

#include "acl/acl.h"

enum mock_callback_list {
    MOCK_ON_STREAM_STATE,
    MOCK_ON_DEVICE_STATE,
    MOCK_ON_TASK_ABORT,
    MOCK_ON_INIT,
    MOCK_ON_FINALIZE,
    MOCK_ON_SNAPSHOT,
    MOCK_ON_GRAPH_END,
    MOCK_CALLBACK_LISTS
};

/* A function of another type, as which it is called. */
typedef void (*mock_callback)(void);

/* Register a function, or with NULL remove the name, also one that is unknown. */
aclError mock_named_callback_set(enum mock_callback_list list, const char *name,
                                 mock_callback function, void *data);
/* The same for functions that have no name but differ by themselves, for a number or an
 * object; registering one twice and removing one that is unknown is refused. */
aclError mock_callback_add(enum mock_callback_list list, uintptr_t key, mock_callback function,
                           void *data);
aclError mock_callback_remove(enum mock_callback_list list, uintptr_t key, mock_callback function);

/* Calls one function of a list; a status other than 0 ends it. */
typedef int (*mock_caller)(mock_callback function, void *data, const void *what);
/* Call those of a key, or with UINTPTR_MAX all, in the order of registration, without the lock.
 * Returns the last status. */
int mock_callbacks_call(enum mock_callback_list list, uintptr_t key, mock_caller call,
                        const void *what);
