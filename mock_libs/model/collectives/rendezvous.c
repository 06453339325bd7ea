/* SPDX-License-Identifier: Apache-2.0 */
/* Rendezvous of the ranks of a communicator. The socket has an abstract name, so there is
 * nothing to clean up; the process checks the user of each peer. */
#include "rendezvous.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error_message.h"
#include "hccl_error.h"
#include "python_path.h"
#include "python_process.h"
#include "remedy.h"

enum { BACKLOG = 1024 };

static const char PROGRAM[] = "pyaclnn.mock.collectives.process";
static const char MAGIC[] = "pyaclnn simulated HCCL\n";

/* Processes that this one has started and not collected. */
struct meeting {
    pid_t process;
    struct meeting *next;
};

static struct meeting *meetings;

void mock_rendezvous_collect(void)
{
    for (struct meeting **link = &meetings; *link != NULL;) {
        struct meeting *meeting = *link;
        if (waitpid(meeting->process, NULL, WNOHANG) == 0) {
            link = &meeting->next;
        } else {
            *link = meeting->next;
            free(meeting);
        }
    }
}

void mock_rendezvous_forked(void)
{
    while (meetings != NULL) {
        struct meeting *meeting = meetings;
        meetings = meeting->next;
        free(meeting);
    }
}

static struct sockaddr_un place_of(const struct mock_address *address, socklen_t *length)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    const size_t bytes = strnlen(address->name, sizeof address->name);
    memcpy(place.sun_path + 1, address->name, bytes); /* the zero before it: no file */
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes);
    return place;
}

static int new_socket(const char **call)
{
    *call = "socket";
    return mock_descriptor_above(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

/* *taken, if it is asked for: another process listens there, which is no failure. */
static int listen_at(const struct mock_address *address, bool *taken)
{
    socklen_t length;
    const struct sockaddr_un place = place_of(address, &length);
    const char *call;
    const int descriptor = new_socket(&call);
    bool ready = descriptor >= 0;
    if (ready) {
        call = "bind";
        ready = bind(descriptor, (const struct sockaddr *)&place, length) == 0;
    }
    if (ready) {
        call = "listen";
        ready = listen(descriptor, BACKLOG) == 0;
    }
    if (!ready) {
        if (taken != NULL && (*taken = errno == EADDRINUSE)) {
            close(descriptor);
            return -1;
        }
        mock_fail((aclError)HCCL_E_SYSCALL, "no socket for the ranks to meet at: %s",
                  mock_remedy(call, errno));
        if (descriptor >= 0) {
            close(descriptor);
        }
        return -1;
    }
    return descriptor;
}

static HcclResult start(int descriptor, struct meeting *meeting)
{
    char python[PATH_MAX];
    if (!mock_python_find(python)) {
        return MOCK_HCCL_FAIL(HCCL_E_SYSCALL,
                           "no Python is known that could run the process in which ranks meet; set "
                           "PYACLNN_MOCK_PYTHON to one that can import pyaclnn");
    }
    const int descriptors[] = {descriptor, -1};
    const int failed = mock_spawn(python, PROGRAM, descriptors, &meeting->process);
    if (failed != 0) {
        mock_fail((aclError)HCCL_E_SYSCALL, "%s", mock_spawn_failure(python, failed));
    }
    return failed == 0 ? HCCL_SUCCESS : HCCL_E_SYSCALL;
}

static HcclResult open_at(const struct mock_address *address, bool *taken)
{
    struct meeting *meeting = calloc(1, sizeof *meeting);
    const int descriptor = meeting == NULL ? -1 : listen_at(address, taken);
    const HcclResult result = descriptor < 0 ? HCCL_E_SYSCALL : start(descriptor, meeting);
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (result != HCCL_SUCCESS) {
        free(meeting);
        return result;
    }
    meeting->next = meetings;
    meetings = meeting;
    return HCCL_SUCCESS;
}

HcclResult mock_rendezvous_open(struct mock_address *address)
{
    uint64_t chance[2];
    mock_rendezvous_collect();
    if (getrandom(chance, sizeof chance, 0) != (ssize_t)sizeof chance) {
        return MOCK_HCCL_FAIL(HCCL_E_SYSCALL, "no random name: %s",
                              mock_remedy("getrandom", errno));
    }
    snprintf(address->name, sizeof address->name, "pyaclnn-hccl-%016llx%016llx",
             (unsigned long long)chance[0], (unsigned long long)chance[1]);
    return open_at(address, NULL);
}

HcclResult mock_rendezvous_share(const struct mock_address *address)
{
    bool taken = false;
    mock_rendezvous_collect();
    const HcclResult result = open_at(address, &taken);
    return taken ? HCCL_SUCCESS : result;
}

int mock_rendezvous_connect(const struct mock_address *address)
{
    socklen_t length;
    const struct sockaddr_un place = place_of(address, &length);
    const char *call;
    const int descriptor = new_socket(&call);
    if (descriptor < 0) {
        mock_fail((aclError)HCCL_E_TCP_CONNECT, "no socket to the other ranks: %s",
                  mock_remedy(call, errno));
        return -1;
    }
    if (connect(descriptor, (const struct sockaddr *)&place, length) != 0) {
        const bool gone = errno == ECONNREFUSED;
        mock_fail((aclError)HCCL_E_TCP_CONNECT, "EI0006: %s",
                  gone ? "the ranks of this root info do not meet any more, or on another machine"
                       : mock_remedy("connect", errno));
        close(descriptor);
        return -1;
    }
    return descriptor;
}

void mock_address_write(const struct mock_address *address, HcclRootInfo *info)
{
    memset(info, 0, sizeof *info);
    snprintf(info->internal, sizeof info->internal, "%s%s", MAGIC, address->name);
}

bool mock_address_read(const HcclRootInfo *info, struct mock_address *address)
{
    const size_t length = sizeof MAGIC - 1;
    memset(address, 0, sizeof *address);
    if (memcmp(info->internal, MAGIC, length) != 0 ||
        memchr(info->internal + length, '\0', sizeof address->name) == NULL) {
        return false;
    }
    strcpy(address->name, info->internal + length);
    return address->name[0] != '\0';
}
