/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the program, as text. */
#include "place.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The place of a return address: function and offset if the object has symbols, and the offset
 * in the file, which addr2line understands. NULL: there is none. */
static const char *native_place(const struct mock_origin *origin, char *place)
{
    Dl_info info;
    if (origin->function == NULL) {
        return NULL;
    }
    int length = snprintf(place, MOCK_PLACE_BYTES, "%s", origin->function);
    if (origin->caller == NULL || dladdr(origin->caller, &info) == 0 || info.dli_fname == NULL) {
        return place;
    }
    const char *file = strrchr(info.dli_fname, '/');
    const size_t offset = (size_t)((const char *)origin->caller - (const char *)info.dli_fbase);
    length += snprintf(place + length, (size_t)(MOCK_PLACE_BYTES - length), ", called from ");
    if (info.dli_sname != NULL && length < MOCK_PLACE_BYTES) {
        length += snprintf(place + length, (size_t)(MOCK_PLACE_BYTES - length), "%s+0x%zx in ",
                           info.dli_sname,
                           (size_t)((const char *)origin->caller - (const char *)info.dli_saddr));
    }
    if (length < MOCK_PLACE_BYTES) {
        snprintf(place + length, (size_t)(MOCK_PLACE_BYTES - length), "%s+0x%zx",
                 file == NULL ? info.dli_fname : file + 1, offset);
    }
    return place;
}

const char *mock_place_of(const struct mock_origin *origin, char *place)
{
    const char *found = native_place(origin, place);
    if (found != NULL && origin->line != NULL) {
        const size_t length = strlen(place);
        snprintf(place + length, MOCK_PLACE_BYTES - length, ", for %s", origin->line);
    }
    return found;
}
