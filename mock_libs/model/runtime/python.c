/* SPDX-License-Identifier: Apache-2.0 */
/* Which Python runs the device process. */
#include "python.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An address inside this library, by which it finds its own file. */
static const char anchor = 0;

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* A build tree has a file beside the libraries that names the interpreter of the build. */
static bool python_of_build(const char *directory, char *python)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/device-python", directory);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    const bool read = fgets(python, PATH_MAX, file) != NULL;
    fclose(file);
    if (read) {
        python[strcspn(python, "\n")] = '\0';
    }
    return read && is_program(python);
}

/* An installed library lies below the prefix of the environment it was installed into. */
static bool python_of_prefix(const char *directory, char *python)
{
    char prefix[PATH_MAX];
    snprintf(prefix, sizeof prefix, "%s", directory);
    for (char *slash = strrchr(prefix, '/'); slash != NULL && slash != prefix;
         slash = strrchr(prefix, '/')) {
        *slash = '\0';
        if (snprintf(python, PATH_MAX, "%s/bin/python3", prefix) < PATH_MAX && is_program(python)) {
            return true;
        }
    }
    return false;
}

void mock_find_python(char *python)
{
    const char *named = getenv("PYACLNN_MOCK_PYTHON");
    if (named != NULL && named[0] != '\0') {
        snprintf(python, PATH_MAX, "%s", named);
        return;
    }
    Dl_info self;
    char directory[PATH_MAX];
    if (dladdr(&anchor, &self) != 0 &&
        realpath(self.dli_fname, directory) != NULL) {
        *strrchr(directory, '/') = '\0';
        if (python_of_build(directory, python) || python_of_prefix(directory, python)) {
            return;
        }
    }
    snprintf(python, PATH_MAX, "python3");
}
