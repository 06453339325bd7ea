/* SPDX-License-Identifier: Apache-2.0 */
/* The device process as a child, of this process or of the fork server. */
#include "child_process.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fork_server.h"
#include "python_process.h"

static const char PROGRAM[] = "pyaclnn.mock.device.process";

enum { TO_REPORT = 1000 }; /* milliseconds in which a server that is not stopped reports an end */

static void reap(pid_t process)
{
    while (process > 0 && waitpid(process, NULL, 0) < 0 && errno == EINTR) {
    }
}

int mock_child_start(const char *python, const int *descriptors, struct mock_child *child)
{
    *child = (struct mock_child){0};
    const int connection = mock_fork_server_ask(python, descriptors, &child->starter);
    if (connection > 0) {
        child->connection = connection;
        return 0;
    }
    mock_child_give_up(child); /* of a server that cannot be asked */
    return mock_spawn(python, PROGRAM, descriptors, &child->process);
}

static ssize_t receive(int connection, void *message, size_t bytes, int flags)
{
    ssize_t got;
    do {
        got = recv(connection, message, bytes, flags | MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    return got;
}

static bool is_to_come(ssize_t got)
{
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool mock_child_receive(const char *python, const int *descriptors, struct mock_child *child,
                        int *failed)
{
    *failed = 0;
    if (child->connection <= 0 || child->process > 0) {
        return true;
    }
    int32_t process = 0;
    const ssize_t got = receive(child->connection, &process, sizeof process, 0);
    if (is_to_come(got)) {
        return false;
    }
    reap(child->starter); /* its server has answered, or could not start */
    child->starter = 0;
    if (got == sizeof process && process > 0) {
        child->process = process;
        return true;
    }
    close(child->connection);
    child->connection = 0;
    *failed = mock_spawn(python, PROGRAM, descriptors, &child->process);
    return true;
}

void mock_child_give_up(struct mock_child *child)
{
    if (child->starter > 0) {
        kill(-child->starter, SIGKILL); /* it leads a group */
        reap(child->starter);
    }
    mock_child_forked(child);
}

/* Read how a child of the fork server has ended. The message stays for the next one who asks; until
 * the connection is closed, the server has not reaped the child, so its pid is nobody else's. */
static bool has_ended_there(const struct mock_child *child, siginfo_t *end)
{
    int32_t message[2];
    const ssize_t got = receive(child->connection, message, sizeof message, MSG_PEEK);
    if (got == sizeof message) {
        end->si_pid = child->process;
        end->si_code = message[0];
        end->si_status = message[1];
    }
    return !is_to_come(got); /* without a message, the server has ended */
}

bool mock_child_has_ended(const struct mock_child *child, siginfo_t *end)
{
    memset(end, 0, sizeof *end);
    if (child->connection > 0) {
        return has_ended_there(child, end);
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
    struct pollfd report = {.fd = child->connection, .events = POLLIN};
    if (child->connection == 0) {
        reap(child->process);
    } else {
        while (poll(&report, 1, TO_REPORT) < 0 && errno == EINTR) {
        }
    }
    mock_child_forked(child);
}

void mock_child_forked(struct mock_child *child)
{
    if (child->connection > 0) {
        close(child->connection);
    }
    *child = (struct mock_child){0};
}
