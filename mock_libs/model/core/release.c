/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated release of CANN. */
#include "release.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

enum { MAX_LIBRARIES = 16, LONGEST_PATH = 512 };

static struct {
    const struct mock_release *release;
    char path[LONGEST_PATH];
} libraries[MAX_LIBRARIES];
static size_t count;
/* A copy, for a library may go before this one. */
static struct mock_release now;

void mock_release_add(const struct mock_release *release)
{
    Dl_info file;
    const char *path = dladdr(release, &file) != 0 ? file.dli_fname : "?";
    pthread_mutex_lock(&mock_functions_lock);
    if (count == 0) {
        now = *release;
    }
    if (count < MAX_LIBRARIES) {
        libraries[count].release = release;
        snprintf(libraries[count].path, LONGEST_PATH, "%s", path);
        count++;
    }
    pthread_mutex_unlock(&mock_functions_lock);
}

void mock_release_drop(const struct mock_release *release)
{
    pthread_mutex_lock(&mock_functions_lock);
    for (size_t i = 0; i < count; i++) {
        if (libraries[i].release == release) {
            count--;
            memmove(&libraries[i], &libraries[i + 1], (count - i) * sizeof libraries[0]);
        }
    }
    if (count > 0) {
        now = *libraries[0].release;
    }
    pthread_mutex_unlock(&mock_functions_lock);
}

const struct mock_release *mock_release_current(void)
{
    return &now;
}

/* NULL if all libraries are of one release, or the refusal. */
static bool is_one(char *text, size_t room)
{
    bool one = true;
    pthread_mutex_lock(&mock_functions_lock);
    for (size_t i = 1; one && i < count; i++) {
        one = strcmp(libraries[i].release->name, now.name) == 0;
        if (!one) {
            snprintf(text, room,
                     "%s is of CANN %s, and %s of CANN %s: a process simulates one release; start "
                     "another process for the other one",
                     libraries[0].path, now.name, libraries[i].path, libraries[i].release->name);
        }
    }
    pthread_mutex_unlock(&mock_functions_lock);
    return one;
}

const char *mock_release_config_error(void)
{
    static _Thread_local char text[2 * LONGEST_PATH + 256];
    const char *wanted = getenv("PYACLNN_MOCK_CANN");
    if (!is_one(text, sizeof text)) {
        return text;
    }
    if (wanted == NULL || wanted[0] == '\0' || strcmp(wanted, now.name) == 0 ||
        strcmp(wanted, now.version) == 0) {
        return NULL;
    }
    snprintf(text, sizeof text,
             "PYACLNN_MOCK_CANN is '%.64s', and the libraries of this process are those of CANN %s: "
             "`pyaclnn mock run` finds those that are wanted, if there are any",
             wanted, now.name);
    return text;
}
