/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in environment variables. */
#include "variable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool read_number(const char *text, long least, long most, long *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value >= least && *value <= most;
}

long mock_variable_number(const char *variable, long fallback, long least, long most)
{
    long value = fallback;
    const char *text = getenv(variable);
    const bool usable =
        text == NULL || text[0] == '\0' || read_number(text, least, most, &value);
    return usable ? value : -1;
}

/* Variables of CANN with values that CANN accepts without a word; they are reported. */
static const struct {
    const char *name;
    long most;
    const char *effect;
} REPORTED[] = {
    {"ACLNN_CACHE_LIMIT", 10000000, "the operator cache keeps nothing, or the most it can"},
    {"ASCEND_GLOBAL_LOG_LEVEL", 4, "everything is logged, or nothing"},
};

__attribute__((constructor)) static void report(void)
{
    for (size_t i = 0; i < sizeof REPORTED / sizeof REPORTED[0]; i++) {
        const char *name = REPORTED[i].name;
        if (mock_variable_number(name, 0, 0, REPORTED[i].most) < 0) {
            fprintf(stderr, "simulated NPU: %s is '%s'; it must be a number from 0 to %ld: %s\n",
                    name, getenv(name), REPORTED[i].most, REPORTED[i].effect);
        }
    }
}
