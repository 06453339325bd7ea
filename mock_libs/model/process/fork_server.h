/* SPDX-License-Identifier: Apache-2.0 */
/* The fork server: a process that has loaded Python, NumPy and this package, and forks for hosts
 * that would have a new one load them.
 *
 * PYACLNN_MOCK_FORK_SERVER is the pid of a process, such as pytest. While that lives, hosts ask a
 * server for their device processes; the first one starts it. A fork has the environment, folder
 * and error output of its host. There is one server for each set of variables that a process reads
 * when it starts. A host that differs from the server in what a process inherits otherwise, such as
 * limits, is refused, and starts Python itself. */
#pragma once

#include <sys/types.h>

/* The text of a wrong value of the variable, or NULL. */
const char *mock_fork_server_config_error(void);
/* Ask the server for a device process with descriptors, as `mock_spawn` would start it. Returns a
 * connection, on which come the pid of the fork (0: the host has to start it) and, when that has
 * ended, si_code and si_status of its siginfo_t, all of 32 bits. -1: there is no server. *starter is
 * the process that starts a server, or unchanged. */
int mock_fork_server_ask(const char *python, const int *descriptors, pid_t *starter);
