/* SPDX-License-Identifier: Apache-2.0 */
/* The fork server: a process that has imported Python, NumPy and this package, and forks for
 * those who would import them again.
 *
 * PYACLNN_MOCK_FORK_SERVER is the pid of a process, such as pytest. Processes of Python that are
 * started while it lives are forks, if the server would do as well as they. A fork has the host's
 * environment, folder and error output. What a process reads of its environment when it starts is
 * the same, for there is one server for each; and a host with other limits, namespaces,
 * permissions than the server is refused. Without a server, or refused, a host starts Python itself.
 */
#pragma once

#include <sys/types.h>

/* The text of a wrong value of the variable, or NULL. */
const char *mock_fork_server_config_error(void);
/* Start `main` of a module as `mock_spawn` does. Returns the connection to the server, which has
 * the process as its child: when that has ended, two numbers come, si_code and si_status of
 * siginfo_t. -1: the host has to start it. */
int mock_fork_server_start(const char *python, const char *module, const int *descriptors,
                           char **environment, pid_t *process);
