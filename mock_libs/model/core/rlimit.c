/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits of memory for this process and its children. */
#include "rlimit.h"

#include <stdio.h>
#include <sys/resource.h>

const char *mock_rlimit_describe(void)
{
    static char text[192];
    static const struct {
        __rlimit_resource_t which;
        const char *what;
    } LIMITS[] = {{RLIMIT_AS, "address space (ulimit -v)"}, {RLIMIT_DATA, "data (ulimit -d)"}};
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof LIMITS / sizeof LIMITS[0]; i++) {
        struct rlimit limit;
        if (getrlimit(LIMITS[i].which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%llu KiB of %s",
                                       length == 0 ? ", which may have no more than " : " and ",
                                       (unsigned long long)limit.rlim_cur >> 10, LIMITS[i].what);
        }
    }
    if (length > 0) {
        snprintf(text + length, sizeof text - length, ",");
    }
    return text;
}
