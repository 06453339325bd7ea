/* SPDX-License-Identifier: Apache-2.0 */
/* The device process as a child, of this process or of the fork server. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct mock_child {
    pid_t process;  /* 0: there is none, or none yet */
    int connection; /* to the fork server, or 0: it is a child of this process */
    pid_t starter;  /* of the fork server, a child of this process that ends at once, or 0 */
};

/* Start a device process, with descriptors (the last one followed by -1) as 3, 4 and so on,
 * whose numbers are its arguments; returns errno. Where PYACLNN_MOCK_FORK_SERVER names a process,
 * the fork server may be asked instead, and `mock_child_receive` has its answer. */
int mock_child_start(const char *python, const int *descriptors, struct mock_child *child);
/* Receive the answer of the fork server, if it was asked. false: it has not come. If it refuses,
 * the child is started here; *failed is errno of that. */
bool mock_child_receive(const char *python, const int *descriptors, struct mock_child *child,
                        int *failed);
/* Give up an answer that does not come. */
void mock_child_give_up(struct mock_child *child);
/* Return whether a child has ended, with the way it did; `si_pid` is 0 if that is not known. */
bool mock_child_has_ended(const struct mock_child *child, siginfo_t *end);
/* Kill a child, and the processes that it has started. */
void mock_child_kill(const struct mock_child *child);
/* Wait for the end of a child that ends, and forget it. */
void mock_child_collect(struct mock_child *child);
/* Forget a child of the process that this one was forked from. */
void mock_child_forked(struct mock_child *child);
