/* SPDX-License-Identifier: Apache-2.0 */
/* Start of Python as a server process. */
#include "python_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "release.h"
#include "remedy.h"

enum { FIRST = 3, MAX_DESCRIPTORS = 4, ABOVE = 10 };

extern char **environ;

static bool sets(const char *entry, const char *name)
{
    return strncmp(entry, name, strlen(name)) == 0 && entry[strlen(name)] == '=';
}

/* Only what the process needs; a sanitizer or profiler preloaded here is not for it, and an entry
 * without a name cannot be taken out of it again. It gets the release even if the host has not set
 * it. */
char **mock_python_environment(void)
{
    static char release[64];
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **copy = calloc(count + 2, sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (environ[i][0] != '=' && !sets(environ[i], "LD_PRELOAD") &&
            !sets(environ[i], "PYACLNN_MOCK_CANN")) {
            copy[kept++] = environ[i];
        }
    }
    snprintf(release, sizeof release, "PYACLNN_MOCK_CANN=%s", mock_release_current()->name);
    copy[kept] = release;
    return copy;
}

int mock_spawn(const char *python, const char *module, const int *descriptors, pid_t *process)
{
    char option[] = "-c", lines[256], numbers[MAX_DESCRIPTORS][4];
    char *arguments[3 + MAX_DESCRIPTORS + 1] = {(char *)(uintptr_t)python, option, lines};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    snprintf(lines, sizeof lines,
             "import sys; sys.path[:] = [p for p in sys.path if p]; "
             "from %s import main; sys.exit(main(sys.argv[1:]))",
             module);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < MAX_DESCRIPTORS && descriptors[i] >= 0; i++) {
        posix_spawn_file_actions_adddup2(&actions, descriptors[i], FIRST + i);
        snprintf(numbers[i], sizeof numbers[i], "%d", FIRST + i);
        arguments[3 + i] = numbers[i];
    }
    /* A process group of its own: Ctrl-C is the host program's business. */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    char **environment = mock_python_environment();
    const int failed = environment == NULL ? ENOMEM
                                           : posix_spawnp(process, python, &actions, &attributes,
                                                          arguments, environment);
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

int mock_descriptor_above(int descriptor)
{
    if (descriptor < 0) {
        return -1;
    }
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, ABOVE);
    const int reason = errno == EINVAL ? EMFILE : errno; /* the limit is below ABOVE */
    close(descriptor);
    errno = reason;
    return moved;
}

const char *mock_spawn_failure(const char *python, int error)
{
    static char text[PATH_MAX + 256];
    const bool is_path = strchr(python, '/') != NULL;
    if (access("/dev/null", R_OK | W_OK) != 0) {
        snprintf(text, sizeof text,
                 "/dev/null cannot be opened: %s; Python as a process needs it: create it (mknod "
                 "-m 666 /dev/null c 1 3)",
                 strerror(errno));
    } else if (is_path && access(python, X_OK) == 0 && error != ENOEXEC && error != EACCES) {
        snprintf(text, sizeof text, "cannot start '%s': %s", python,
                 mock_remedy("posix_spawn", error));
    } else {
        snprintf(text, sizeof text,
                 "cannot start '%s': %s; PYACLNN_MOCK_PYTHON names the Python to start", python,
                 strerror(error));
    }
    return text;
}
