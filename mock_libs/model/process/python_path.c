/* SPDX-License-Identifier: Apache-2.0 */
/* Path of the Python that runs the device process. */
#include "python_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Return whether only the owner of a file, this process's user or root can have created a path. */
static bool is_trusted(const char *path, uid_t owner)
{
    struct stat found;
    return stat(path, &found) == 0 &&
           (found.st_uid == 0 || found.st_uid == owner || found.st_uid == geteuid());
}

/* Remove the last part of a path, which must equal a word, or begin with it if `begins`. */
static bool strip(char *path, const char *word, bool begins)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL || strncmp(slash + 1, word, strlen(word)) != 0 ||
        (!begins && strlen(slash + 1) != strlen(word))) {
        return false;
    }
    *slash = '\0';
    return true;
}

/* An installed library lies in PREFIX/lib/python3.N/site-packages/pyaclnn/mock/lib. No other folder
 * above it is looked at: it may be anybody's. */
static bool python_of_prefix(const char *library, const char *directory, char *python)
{
    char prefix[PATH_MAX], folder[PATH_MAX];
    struct stat own;
    snprintf(prefix, sizeof prefix, "%s", directory);
    if (!strip(prefix, "lib", false) || !strip(prefix, "mock", false) ||
        !strip(prefix, "pyaclnn", false) ||
        !(strip(prefix, "site-packages", false) || strip(prefix, "dist-packages", false)) ||
        !strip(prefix, "python3", true) || !strip(prefix, "lib", true) ||
        stat(library, &own) != 0) {
        return false;
    }
    const int length = snprintf(python, PATH_MAX, "%s/bin/python3", prefix);
    snprintf(folder, sizeof folder, "%s", python);
    return length < PATH_MAX && is_program(python) && strip(folder, "python3", false) &&
           is_trusted(folder, own.st_uid) && is_trusted(python, own.st_uid);
}

static char host_python[PATH_MAX];

void mock_python_set(const char *python)
{
    snprintf(host_python, sizeof host_python, "%s", python);
}

bool mock_python_find(char *python)
{
    const char *named = getenv("PYACLNN_MOCK_PYTHON");
    if (named != NULL && named[0] != '\0') {
        snprintf(python, PATH_MAX, "%s", named);
        return true;
    }
    Dl_info self;
    char library[PATH_MAX], directory[PATH_MAX];
    if (dladdr(&anchor, &self) != 0 && realpath(self.dli_fname, library) != NULL) {
        snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(library, '/') - library),
                 library);
        if (python_of_build(directory, python) || python_of_prefix(library, directory, python)) {
            return true;
        }
    }
    snprintf(python, PATH_MAX, "%s", host_python);
    return host_python[0] != '\0';
}
