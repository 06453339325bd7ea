/* SPDX-License-Identifier: Apache-2.0 */
/* PYACLNN_MOCK_MODE: order and time of the execution of streams.
 *
 *     deferred       work runs only when it is waited for, and only what must (the default)
 *     shuffled:SEED  during a wait, tasks of all streams run in a random order that the seed
 *                    decides; only events order streams
 *     eager          work runs when it is submitted, unless something blocks it */
#include "mode.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum { DEFERRED, SHUFFLED, EAGER } mode;
static uint64_t random_state = 1;
static char config_error[256];

bool mock_is_shuffled(void)
{
    return mode == SHUFFLED;
}

bool mock_is_eager(void)
{
    return mode == EAGER;
}

const char *mock_mode_config_error(void)
{
    return config_error[0] == '\0' ? NULL : config_error;
}

/* splitmix64: good from any seed on */
uint64_t mock_mode_random(void)
{
    uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

bool mock_mode_set(const char *text)
{
    static const char shuffled[] = "shuffled:";
    if (text[0] == '\0' || strcmp(text, "deferred") == 0) {
        mode = DEFERRED;
        return true;
    }
    if (strcmp(text, "eager") == 0) {
        mode = EAGER;
        return true;
    }
    const char *number = text + sizeof shuffled - 1;
    if (strncmp(text, shuffled, sizeof shuffled - 1) != 0 || !isdigit((unsigned char)number[0])) {
        return false;
    }
    char *end = NULL;
    const uint64_t seed = strtoull(number, &end, 10);
    if (*end != '\0') {
        return false;
    }
    mode = SHUFFLED;
    random_state = seed;
    return true;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("PYACLNN_MOCK_MODE");
    if (text != NULL && !mock_mode_set(text)) {
        snprintf(config_error, sizeof config_error,
                 "PYACLNN_MOCK_MODE is '%s'; it must be deferred, shuffled:SEED or eager", text);
    }
}
