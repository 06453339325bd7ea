/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in environment variables, and names of variables. */
#include "variable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Those of the simulated NPU; another name of this kind is mistyped, and has no effect. */
static const char KIND[] = "PYACLNN_MOCK_";
static const char *const KNOWN[] = {"ALLOW",     "CANN",     "DEVICES", "FAULTS", "FORK_SERVER",
                                    "MEMORY",    "MODE",     "OPERATORS", "PATIENCE", "PYTHON",
                                    "REPORT",    "SOC",      "STRICT"};

static bool is_known(const char *name, size_t length)
{
    bool known = false;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        known = known || (strlen(KNOWN[i]) == length && strncmp(KNOWN[i], name, length) == 0);
    }
    return known;
}

static void report_unknown(const char *entry)
{
    const char *name = entry + strlen(KIND);
    const size_t length = strcspn(name, "=");
    if (strncmp(entry, KIND, strlen(KIND)) != 0 || is_known(name, length)) {
        return;
    }
    fprintf(stderr, "simulated NPU: %s%.*s is no variable that it reads; there are", KIND,
            (int)length, name);
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        fprintf(stderr, " %s%s", KIND, KNOWN[i]);
    }
    fputc('\n', stderr);
}

__attribute__((constructor)) static void report(void)
{
    for (char **entry = environ; *entry != NULL; entry++) {
        report_unknown(*entry);
    }
    for (size_t i = 0; i < sizeof REPORTED / sizeof REPORTED[0]; i++) {
        const char *name = REPORTED[i].name;
        if (mock_variable_number(name, 0, 0, REPORTED[i].most) < 0) {
            fprintf(stderr, "simulated NPU: %s is '%s'; it must be a number from 0 to %ld: %s\n",
                    name, getenv(name), REPORTED[i].most, REPORTED[i].effect);
        }
    }
}
