/* SPDX-License-Identifier: Apache-2.0 */
/* New files of a trace. */
#include "new_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int capture_create_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

int capture_replace_file(int file, const char *path)
{
    char old[PATH_MAX + 64], fresh[PATH_MAX + 64];
    snprintf(old, sizeof old, "%s.old", path);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    close(file);
    unlink(fresh);
    const int made = capture_create_file(fresh);
    if (made >= 0) {
        unlink(old);
        if (link(path, old) != 0) { /* the file system has no links */
            rename(path, old);
        }
        rename(fresh, path);
    }
    return made;
}
