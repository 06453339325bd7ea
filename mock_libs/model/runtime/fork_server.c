/* SPDX-License-Identifier: Apache-2.0 */
/* The fork server. The first process that needs it starts it, and the last one leaves it: it ends
 * soon after. The socket has an abstract name, so there is nothing to clean up. */
#include "fork_server.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hash.h"
#include "python_process.h"
#include "variable.h"

static const char PROGRAM[] = "pyaclnn.mock.device.fork_server";

/* Seconds until a server counts as stuck. */
enum { TO_ANSWER = 20, BACKLOG = 1024, MAX_DESCRIPTORS = 8 };

/* The process in whose lifetime there are servers, 0: none, or -1. */
static long session_of_environment(void)
{
    return mock_variable_number("PYACLNN_MOCK_FORK_SERVER", 0, 1, INT_MAX);
}

const char *mock_fork_server_config_error(void)
{
    static char text[160];
    if (session_of_environment() >= 0) {
        return NULL;
    }
    snprintf(text, sizeof text,
             "PYACLNN_MOCK_FORK_SERVER is '%.32s'; it must be the pid of a process",
             getenv("PYACLNN_MOCK_FORK_SERVER"));
    return text;
}

/* Return whether a process reads a variable when it starts: the interpreter, the system's loader
 * and C library, those of NumPy, and tools that measure. */
static bool is_read_at_start(const char *entry)
{
    static const char *const READ[] = {"PYTHON", "LD_",  "GLIBC_", "MALLOC_", "LC_",  "LANG",
                                       "HOME=",  "NPY_", "NUMPY_", "OMP_",   "OPENBLAS_", "COV"};
    bool read = false;
    for (size_t i = 0; i < sizeof READ / sizeof READ[0]; i++) {
        read = read || strncmp(entry, READ[i], strlen(READ[i])) == 0;
    }
    return read;
}

/* The name of the server that does what a new process would. */
static struct sockaddr_un name_of(long session, const char *python, char **environment,
                                  socklen_t *length)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    uint64_t hash = mock_hash(MOCK_HASH_EMPTY, python, strlen(python));
    for (size_t i = 0; environment[i] != NULL; i++) {
        if (is_read_at_start(environment[i])) { /* in any order */
            hash += mock_hash(MOCK_HASH_EMPTY, environment[i], strlen(environment[i]));
        }
    }
    const int written = snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
                                 "pyaclnn-fork-server-%ld-%016llx", session,
                                 (unsigned long long)hash);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)written);
    return name;
}

static int new_socket(void)
{
    return mock_descriptor_above(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

/* Start a server, which is nobody's child. It listens already: whoever comes waits for it. */
static bool start_server(const char *python, char **environment, const struct sockaddr_un *name,
                         socklen_t length)
{
    const int descriptors[] = {new_socket(), -1};
    pid_t starter;
    bool started = descriptors[0] >= 0 &&
                   bind(descriptors[0], (const struct sockaddr *)name, length) == 0 &&
                   listen(descriptors[0], BACKLOG) == 0 &&
                   mock_spawn(python, PROGRAM, descriptors, environment, &starter) == 0;
    if (started) {
        int status = 0;
        while (waitpid(starter, &status, 0) < 0 && errno == EINTR) {
        }
    }
    started = started || errno == EADDRINUSE; /* another process starts it */
    if (descriptors[0] >= 0) {
        close(descriptors[0]);
    }
    return started;
}

/* Connect to a server of this user. -1: there is none. */
static int connect_to(const struct sockaddr_un *name, socklen_t length)
{
    const int descriptor = new_socket();
    const struct timeval longest = {.tv_sec = TO_ANSWER};
    struct ucred server;
    socklen_t bytes = sizeof server;
    if (descriptor >= 0 && connect(descriptor, (const struct sockaddr *)name, length) == 0 &&
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &server, &bytes) == 0 &&
        server.uid == geteuid() &&
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest) == 0) {
        return descriptor;
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return -1;
}

/* A file with the module and the environment, each text followed by a zero, or NULL. */
static FILE *write_request(const char *module, char **environment)
{
    const int file = memfd_create("pyaclnn-start", MFD_CLOEXEC);
    FILE *request = file < 0 ? NULL : fdopen(file, "w");
    if (request == NULL) {
        return NULL;
    }
    fwrite(module, 1, strlen(module) + 1, request);
    for (size_t i = 0; environment[i] != NULL; i++) {
        fwrite(environment[i], 1, strlen(environment[i]) + 1, request);
    }
    if (fflush(request) == 0) {
        return request;
    }
    fclose(request);
    return NULL;
}

/* Send a request with the descriptors that the process gets. */
static bool send_request(int connection, int request, const int *descriptors)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(MAX_DESCRIPTORS * sizeof(int))];
    } control = {.room = {0}};
    int sent[MAX_DESCRIPTORS] = {request, STDERR_FILENO};
    size_t count = 2;
    for (size_t i = 0; descriptors[i] >= 0; i++) {
        sent[count++] = descriptors[i];
    }
    struct iovec part = {.iov_base = &(char){0}, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), sent, count * sizeof(int));
    return sendmsg(connection, &message, MSG_NOSIGNAL) == 1;
}

/* Receive the pid of the process; false: the server refuses, or has ended. */
static bool receive_pid(int connection, pid_t *process)
{
    int32_t pid = 0;
    ssize_t got;
    do {
        got = recv(connection, &pid, sizeof pid, 0);
    } while (got < 0 && errno == EINTR);
    const struct timeval always = {0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &always, sizeof always);
    *process = pid;
    return got == sizeof pid && pid > 0;
}

int mock_fork_server_start(const char *python, const char *module, const int *descriptors,
                           char **environment, pid_t *process)
{
    const long session = session_of_environment();
    if (session <= 0 || (kill((pid_t)session, 0) != 0 && errno != EPERM)) {
        return -1;
    }
    socklen_t length;
    const struct sockaddr_un name = name_of(session, python, environment, &length);
    int connection = connect_to(&name, length);
    if (connection < 0 && start_server(python, environment, &name, length)) {
        connection = connect_to(&name, length);
    }
    FILE *request = connection < 0 ? NULL : write_request(module, environment);
    const bool forked = request != NULL &&
                        send_request(connection, fileno(request), descriptors) &&
                        receive_pid(connection, process);
    if (request != NULL) {
        fclose(request);
    }
    if (connection >= 0 && !forked) {
        close(connection);
    }
    return forked ? connection : -1;
}
