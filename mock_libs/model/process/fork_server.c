/* SPDX-License-Identifier: Apache-2.0 */
/* The fork server, from the side of hosts. Its socket has an abstract name, so there is nothing to
 * clean up. */
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
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "hash.h"
#include "python_process.h"
#include "variable.h"

extern char **environ;

static const char PROGRAM[] = "pyaclnn.mock.device.fork_server";

enum { BACKLOG = 1024, MAX_DESCRIPTORS = 8 };

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
    static const char *const READ[] = {"PYTHON", "LD_",    "GLIBC_", "MALLOC_", "LC_",
                                       "LANG",   "LOCPATH", "HOME=",  "TZ",      "COV",
                                       "NPY_",   "NUMPY_",  "OMP_",   "KMP_",    "OPENBLAS_",
                                       "GOTO_",  "MKL_"};
    bool read = false;
    for (size_t i = 0; i < sizeof READ / sizeof READ[0]; i++) {
        read = read || strncmp(entry, READ[i], strlen(READ[i])) == 0;
    }
    return read;
}

/* Return whether modules are found in the same folders from wherever a process starts. */
static bool has_absolute_path(char **environment)
{
    static const char NAME[] = "PYTHONPATH=";
    const char *folders = NULL;
    for (size_t i = 0; environment[i] != NULL && folders == NULL; i++) {
        folders = strncmp(environment[i], NAME, strlen(NAME)) == 0 ? environment[i] + strlen(NAME)
                                                                    : NULL;
    }
    bool absolute = true;
    for (const char *each = folders; each != NULL && *each != '\0';) {
        absolute = absolute && *each == '/';
        each = strchr(each, ':');
        each = each == NULL ? NULL : each + 1;
        absolute = absolute && (each == NULL || *each != '\0');
    }
    return absolute;
}

/* Return whether a server would be left to this process by its own starter. */
static bool adopts_orphans(void)
{
    int adopts = 0;
    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0);
}

/* Return whether a server can do what a new process would. */
static bool is_possible(long session, const char *python)
{
    return session > 0 && (kill((pid_t)session, 0) == 0 || errno == EPERM) && python[0] == '/' &&
           has_absolute_path(environ);
}

/* The name of the server for an environment. */
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
static bool start_server(const char *python, const struct sockaddr_un *name, socklen_t length,
                         pid_t *starter)
{
    const int descriptors[] = {new_socket(), -1};
    const bool started = descriptors[0] >= 0 && !adopts_orphans() &&
                         bind(descriptors[0], (const struct sockaddr *)name, length) == 0 &&
                         listen(descriptors[0], BACKLOG) == 0 &&
                         mock_spawn(python, PROGRAM, descriptors, starter) == 0;
    const bool is_there = started || errno == EADDRINUSE; /* another process starts it */
    if (descriptors[0] >= 0) {
        close(descriptors[0]);
    }
    return is_there;
}

/* Connect to a server of this user. -1: there is none, or it takes nobody. */
static int connect_to(const struct sockaddr_un *name, socklen_t length)
{
    const int descriptor = new_socket();
    const struct timeval longest = {.tv_sec = 1}, always = {0};
    struct ucred server;
    socklen_t bytes = sizeof server;
    if (descriptor >= 0 &&
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest) == 0 &&
        connect(descriptor, (const struct sockaddr *)name, length) == 0 &&
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &always, sizeof always) == 0 &&
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &server, &bytes) == 0 &&
        server.uid == geteuid()) {
        return descriptor;
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return -1;
}

/* The calling thread, the personality of the process and the environment, each a text with a zero behind it, to be
 * freed, or NULL: no host memory. */
static char *write_request(char **environment, size_t *length)
{
    char *text = NULL;
    FILE *request = open_memstream(&text, length);
    if (request == NULL) {
        return NULL;
    }
    fprintf(request, "%ld%c%x%c", syscall(SYS_gettid), '\0', (unsigned)personality(0xFFFFFFFF),
            '\0');
    for (size_t i = 0; environment[i] != NULL; i++) {
        fprintf(request, "%s%c", environment[i], '\0');
    }
    const bool whole = ferror(request) == 0;
    if (fclose(request) == 0 && whole) {
        return text;
    }
    free(text);
    return NULL;
}

/* Send a request with the descriptors that the process gets; false also if it is too long. */
static bool send_request(int connection, char *request, size_t length, const int *descriptors)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(MAX_DESCRIPTORS * sizeof(int))];
    } control = {.room = {0}};
    int sent[MAX_DESCRIPTORS] = {STDERR_FILENO};
    size_t count = 1;
    for (size_t i = 0; descriptors[i] >= 0; i++) {
        sent[count++] = descriptors[i];
    }
    struct iovec part = {.iov_base = request, .iov_len = length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), sent, count * sizeof(int));
    return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

int mock_fork_server_ask(const char *python, const int *descriptors, pid_t *starter)
{
    const long session = session_of_environment();
    char **environment = is_possible(session, python) ? mock_python_environment() : NULL;
    if (environment == NULL) {
        return -1;
    }
    socklen_t length;
    size_t bytes = 0;
    const struct sockaddr_un name = name_of(session, python, environment, &length);
    char *request = write_request(environment, &bytes);
    int connection = request == NULL ? -1 : connect_to(&name, length);
    if (request != NULL && connection < 0 && start_server(python, &name, length, starter)) {
        connection = connect_to(&name, length);
    }
    if (connection >= 0 && !send_request(connection, request, bytes, descriptors)) {
        close(connection);
        connection = -1;
    }
    free(request);
    free(environment);
    return connection;
}
