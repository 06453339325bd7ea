/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of Python that serve this one. */
#include "child_process.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fork_server.h"
#include "python_process.h"

int mock_child_start(const char *python, const char *module, const int *descriptors,
                     struct mock_child *child)
{
    char **environment = mock_python_environment();
    if (environment == NULL) {
        return ENOMEM;
    }
    child->connection =
        mock_fork_server_start(python, module, descriptors, environment, &child->process);
    const int failed =
        child->connection > 0
            ? 0
            : mock_spawn(python, module, descriptors, environment, &child->process);
    free(environment);
    return failed;
}

/* Read how a child of the fork server has ended. The message stays for the next one who asks; until
 * the connection is closed, the server has not reaped the child, so its pid is nobody else's. */
static bool ended_there(const struct mock_child *child, siginfo_t *end, int flags)
{
    int32_t message[2];
    ssize_t got;
    do {
        got = recv(child->connection, message, sizeof message, MSG_PEEK | flags);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof message) {
        end->si_pid = child->process;
        end->si_code = message[0];
        end->si_status = message[1];
        return true;
    }
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK); /* the server has ended */
}

bool mock_child_has_ended(const struct mock_child *child, siginfo_t *end)
{
    memset(end, 0, sizeof *end);
    if (child->connection > 0) {
        return ended_there(child, end, MSG_DONTWAIT);
    }
    return waitid(P_PID, (id_t)child->process, end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           end->si_pid != 0;
}

void mock_child_kill(const struct mock_child *child)
{
    siginfo_t end;
    if (!mock_child_has_ended(child, &end) || end.si_pid != 0) {
        kill(-child->process, SIGKILL);
    }
}

void mock_child_collect(struct mock_child *child)
{
    siginfo_t end;
    if (child->connection > 0) {
        ended_there(child, &end, 0);
        close(child->connection);
    } else {
        while (waitpid(child->process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    *child = (struct mock_child){0};
}

void mock_child_forked(struct mock_child *child)
{
    if (child->connection > 0) {
        close(child->connection);
    }
    *child = (struct mock_child){0};
}
