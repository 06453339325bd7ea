/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies of failed system calls. */
#include "remedy.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char SANDBOX[] = "a sandbox refuses it: allow it in the seccomp profile of the process";

static const struct {
    int error;
    const char *text;
} REMEDIES[] = {
    {EMFILE, "the process has too many open files: raise the limit (ulimit -n)"},
    {ENFILE, "the machine has too many open files: raise fs.file-max"},
    {EFBIG, "files may not be so large: raise the limit (ulimit -f)"},
    {ENOMEM, "memory ran out: raise the limit (ulimit -v) or that of the container"},
    {EAGAIN, "there are too many processes: raise the limit (ulimit -u) or that of the container"},
    {EPERM, SANDBOX},
    {EACCES, SANDBOX},
    {ENOSYS, SANDBOX},
};

const char *mock_remedy(const char *call, int error)
{
    static char text[256];
    const char *remedy = "see the manual page of the system call";
    for (size_t i = 0; i < sizeof REMEDIES / sizeof REMEDIES[0]; i++) {
        remedy = REMEDIES[i].error == error ? REMEDIES[i].text : remedy;
    }
    snprintf(text, sizeof text, "%s: %s; %s", call, strerror(error), remedy);
    return text;
}
