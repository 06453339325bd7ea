/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the Python that runs a device process: a server that has imported what that needs
 * forks the process. This program ends as the fork does, and the fork dies with it. Where the
 * server declines, this program becomes Python. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

static const char DEVICE[] = "mock.device.process";

enum { STANDARD = 3, MOST = 8, ABOVE = 20, STATUS = 32 };

/* The same file by a number that is none of those that Python is to have. */
static int moved(int descriptor)
{
    const int above = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, ABOVE);
    close(descriptor);
    return above;
}

/* What the fork shall be: its limits, its folder, arguments and variables, each ended by a zero. */
static int request(char **arguments)
{
    const int file = moved(memfd_create("request", MFD_CLOEXEC));
    char folder[PATH_MAX];
    if (file < 0 || getcwd(folder, sizeof folder) == NULL) {
        return -1;
    }
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        struct rlimit limit = {0, 0};
        getrlimit(which, &limit);
        dprintf(file, "%llu ", (unsigned long long)limit.rlim_cur);
    }
    dprintf(file, "%c%s%c", 0, folder, 0);
    for (char **word = arguments + 1; *word != NULL; word++) {
        dprintf(file, "%s%c", *word, 0);
    }
    dprintf(file, "%c", 0);
    for (char **variable = environ; *variable != NULL; variable++) {
        dprintf(file, "%s%c", *variable, 0);
    }
    return lseek(file, 0, SEEK_SET) == 0 ? file : -1;
}

/* A connection to the server in the folder of this program's name, or -1. */
static int connection(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int length = (int)(strrchr(name, '/') - name);
    const int made = moved(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s/socket", length, name);
    return connect(made, (struct sockaddr *)&address, sizeof address) == 0 ? made : -1;
}

/* Send the texts, the standard streams and, of the descriptors behind them, as many as Python has. */
static int sends(int server, int file, int own)
{
    char byte = '.', room[CMSG_SPACE((MOST + 1) * sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    const size_t bytes = (size_t)(own + 1) * sizeof(int);
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room,
                             .msg_controllen = CMSG_SPACE(bytes)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){CMSG_LEN(bytes), SOL_SOCKET, SCM_RIGHTS};
    int given[MOST + 1] = {file};
    for (int i = 0; i < own; i++) {
        given[i + 1] = i;
    }
    memcpy(CMSG_DATA(head), given, bytes);
    return sendmsg(server, &message, MSG_NOSIGNAL) == 1;
}

int main(int count, char **arguments)
{
    char answer = '-', text[STATUS] = "";
    const int own = count; /* its name, -c, the code, and a word for each further descriptor */
    /* Other processes of the simulated NPU look at who has started them. */
    const int forks = own >= STANDARD && own <= MOST && strstr(arguments[2], DEVICE) != NULL;
    const int server = forks ? connection(arguments[0]) : -1;
    const int file = server < 0 ? -1 : request(arguments);
    if (file < 0 || !sends(server, file, own) || read(server, &answer, 1) != 1 || answer != '+') {
        arguments[0] = (char[]){PYTHON};
        execv(PYTHON, arguments);
        return 127;
    }
    for (int i = 0; i < own; i++) {
        close(i);
    }
    if (read(server, text, STATUS - 1) <= 0) {
        return 1;
    }
    const int status = atoi(text);
    if (status >= 0) {
        return status;
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(-status, SIG_DFL);
    return kill(getpid(), -status);
}
