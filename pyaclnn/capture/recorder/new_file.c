/* SPDX-License-Identifier: Apache-2.0 */
/* New files of a trace. */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* A program that has closed its standard streams may still write to their numbers. */
int capture_create_file(const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || file > STDERR_FILENO) {
        return file;
    }
    const int above = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    close(file);
    errno = error;
    return above;
}

static struct iovec text_of(const char *text)
{
    return (struct iovec){(void *)(uintptr_t)text, strlen(text)};
}

void capture_report_incomplete(const char *path, int error)
{
    const struct iovec message[] = {text_of("pyaclnn capture: "), text_of(path), text_of(" is incomplete: "),
                                    text_of(strerror(error)), text_of("\n")};
    if (writev(STDERR_FILENO, message, sizeof message / sizeof message[0]) < 0) {
        errno = 0; /* nobody listens */
    }
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
