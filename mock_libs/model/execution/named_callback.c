/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program that are called when something happens to the runtime. A registration is
 * never freed, so that a function may change the registrations while all are called. */
#include "named_callback.h"

#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "error_message.h"

struct registration {
    struct registration *next;
    enum mock_callback_list list;
    uintptr_t key;
    char *name;
    mock_callback function; /* NULL: it was removed */
    void *data;
};

static struct registration *all;

static aclError append(struct registration wanted)
{
    struct registration **place = &all;
    while (*place != NULL) {
        place = &(*place)->next;
    }
    *place = malloc(sizeof **place);
    if (*place == NULL) {
        free(wanted.name);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a callback");
    }
    **place = wanted;
    return ACL_SUCCESS;
}

aclError mock_named_callback_set(enum mock_callback_list list, const char *name,
                                 mock_callback function, void *data)
{
    struct registration *found = all;
    while (found != NULL &&
           (found->list != list || found->name == NULL || strcmp(found->name, name) != 0)) {
        found = found->next;
    }
    if (function != NULL && found != NULL && found->function != NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "'%.128s' is registered already", name);
    }
    if (found != NULL) {
        found->function = function;
        found->data = data;
        return ACL_SUCCESS;
    }
    char *copy = function == NULL ? NULL : strdup(name);
    if (copy == NULL) {
        return function == NULL ? ACL_SUCCESS
                                : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                            "no host memory for a callback");
    }
    return append((struct registration){NULL, list, 0, copy, function, data});
}

static struct registration *find(enum mock_callback_list list, uintptr_t key,
                                 mock_callback function)
{
    struct registration *each = all;
    while (each != NULL &&
           (each->list != list || each->key != key || each->function != function)) {
        each = each->next;
    }
    return each;
}

aclError mock_callback_add(enum mock_callback_list list, uintptr_t key, mock_callback function,
                           void *data)
{
    if (function == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the callback is NULL");
    }
    if (find(list, key, function) != NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the callback is registered already");
    }
    return append((struct registration){NULL, list, key, NULL, function, data});
}

aclError mock_callback_remove(enum mock_callback_list list, uintptr_t key, mock_callback function)
{
    struct registration *found = function == NULL ? NULL : find(list, key, function);
    if (found == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the callback is not registered");
    }
    found->function = NULL;
    return ACL_SUCCESS;
}

int mock_callbacks_call(enum mock_callback_list list, uintptr_t key, mock_caller call,
                        const void *what)
{
    int status = 0;
    for (const struct registration *each = all; each != NULL && status == 0; each = each->next) {
        const mock_callback function = each->function;
        void *data = each->data;
        if (function != NULL && each->list == list && (key == UINTPTR_MAX || each->key == key)) {
            mock_leave();
            status = call(function, data, what);
            mock_enter();
        }
    }
    return status;
}
