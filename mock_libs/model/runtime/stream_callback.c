/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program that are called when any stream is created or destroyed. A registration is
 * never freed, so that a function may change the registrations while all are called. */
#include "stream_callback.h"

#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "error_message.h"

struct named {
    struct named *next;
    char *name;
    aclrtStreamStateCallback function; /* NULL: it was removed */
    void *data;
};

static struct named *all;

aclError mock_stream_callback_set(const char *name, aclrtStreamStateCallback function, void *data)
{
    struct named **place = &all;
    while (*place != NULL && strcmp((*place)->name, name) != 0) {
        place = &(*place)->next;
    }
    struct named *named = *place;
    if (function != NULL && named != NULL && named->function != NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "'%.128s' is registered already", name);
    }
    if (named == NULL && function != NULL) {
        char *copy = strdup(name);
        named = copy == NULL ? NULL : calloc(1, sizeof *named);
        if (named == NULL) {
            free(copy);
            return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a callback");
        }
        named->name = copy;
        *place = named;
    }
    if (named != NULL) {
        named->function = function;
        named->data = data;
    }
    return ACL_SUCCESS;
}

void mock_stream_callbacks_call(aclrtStream stream, aclrtStreamState state)
{
    for (const struct named *named = all; named != NULL; named = named->next) {
        const aclrtStreamStateCallback function = named->function;
        void *data = named->data;
        if (function != NULL) {
            mock_leave();
            function(stream, state, data);
            mock_enter();
        }
    }
}
