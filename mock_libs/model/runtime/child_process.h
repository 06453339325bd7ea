/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of Python that serve this one. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct mock_child {
    pid_t process;  /* 0: there is none */
    int connection; /* to the fork server, whose child it is; 0: it is a child of this process */
};

/* Start `main` of a module, with descriptors (the last one followed by -1) as 3, 4 and so on,
 * whose numbers are its arguments; returns errno. Where PYACLNN_MOCK_FORK_SERVER names a process,
 * it is a fork of one that has its modules already. */
int mock_child_start(const char *python, const char *module, const int *descriptors,
                     struct mock_child *child);
/* Return whether a child has ended, with the way it did; `si_pid` is 0 if that is not known. */
bool mock_child_has_ended(const struct mock_child *child, siginfo_t *end);
/* Kill a child, and the processes that it has started. */
void mock_child_kill(const struct mock_child *child);
/* Wait for the end of a child, and forget it. */
void mock_child_collect(struct mock_child *child);
/* Forget a child of the process that this one was forked from. */
void mock_child_forked(struct mock_child *child);
