/* SPDX-License-Identifier: Apache-2.0 */
/* The device process: starting it, talking to it, noticing its death. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAME_MAGIC 0x4E4E4C41u
enum { PROTOCOL_VERSION = 1, MOST_ANSWER = 1 << 24 };

extern char **environ;

struct frame {
    uint32_t magic, kind;
    uint64_t length;
};

uint32_t mock_read_u32(struct mock_reader *reader)
{
    uint32_t value = 0;
    if (!reader->ok || reader->length - reader->position < sizeof value) {
        reader->ok = false;
        return 0;
    }
    memcpy(&value, reader->data + reader->position, sizeof value);
    reader->position += sizeof value;
    return value;
}

uint64_t mock_read_u64(struct mock_reader *reader)
{
    const uint64_t low = mock_read_u32(reader);
    return low | (uint64_t)mock_read_u32(reader) << 32;
}

const char *mock_read_string(struct mock_reader *reader, uint32_t *length)
{
    *length = mock_read_u32(reader);
    if (!reader->ok || reader->length - reader->position < *length) {
        reader->ok = false;
        *length = 0;
        return "";
    }
    const char *text = (const char *)reader->data + reader->position;
    reader->position += *length;
    return text;
}

/* ---- frames ------------------------------------------------------------------------------- */

static bool lose(struct device *device, const char *reason)
{
    device->lost = true;
    mock_fail(ACL_ERROR_RT_LOST_HEARTBEAT,
              "device %d is lost: %s (device process %ld); reset the device or restart the program",
              device->id, reason, (long)device->process);
    return false;
}

static bool send_all(struct device *device, const void *data, size_t length, int flags)
{
    const char *bytes = data;
    while (length > 0) {
        const ssize_t sent = send(device->socket, bytes, length, MSG_NOSIGNAL | flags);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return lose(device, "its process does not take requests any more");
        }
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool receive_all(struct device *device, void *data, size_t length)
{
    char *bytes = data;
    while (length > 0) {
        const ssize_t received = recv(device->socket, bytes, length, MSG_WAITALL);
        if (received < 0 && errno == EINTR) {
            continue;
        }
        if (received <= 0) {
            return lose(device, "its process ended while it was working");
        }
        bytes += received;
        length -= (size_t)received;
    }
    return true;
}

bool mock_device_request(struct device *device, enum mock_request kind, const void *payload,
                         size_t length, const uint8_t **answer, size_t *answer_length)
{
    if (device->lost) {
        return lose(device, "its process is gone");
    }
    struct frame frame = {FRAME_MAGIC, (uint32_t)kind, length};
    if (!send_all(device, &frame, sizeof frame, length > 0 ? MSG_MORE : 0) ||
        !send_all(device, payload, length, 0) || !receive_all(device, &frame, sizeof frame)) {
        return false;
    }
    if (frame.magic != FRAME_MAGIC || frame.kind != (uint32_t)kind || frame.length > MOST_ANSWER) {
        return lose(device, "its process answers nonsense");
    }
    if (frame.length > device->answer_capacity) {
        uint8_t *larger = realloc(device->answer, frame.length);
        if (larger == NULL) {
            return lose(device, "no memory for its answer");
        }
        device->answer = larger;
        device->answer_capacity = frame.length;
    }
    *answer = device->answer;
    *answer_length = frame.length;
    return receive_all(device, device->answer, frame.length);
}

aclError mock_device_alive(struct device *device)
{
    char byte;
    if (!device->lost) {
        /* Between requests the device process says nothing: readable means that it is gone. */
        const ssize_t got = recv(device->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return ACL_SUCCESS;
        }
    }
    lose(device, "its process is gone");
    return ACL_ERROR_RT_LOST_HEARTBEAT;
}

/* ---- start and stop ----------------------------------------------------------------------- */

/* Only what the device process needs; a sanitizer or profiler preloaded here is not for it. */
static char **child_environment(void)
{
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0, kept = 0; copy != NULL && i < count; i++) {
        if (strncmp(environ[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0) {
            copy[kept++] = environ[i];
        }
    }
    return copy;
}

/* Starts Python with the socket as descriptor 3 and the memory as descriptor 4; returns errno. */
static int spawn(const char *python, int socket, int memory, pid_t *process)
{
    static char bootstrap[] = "import sys; sys.path[:] = [p for p in sys.path if p]; "
                              "from pyaclnn.mock.device import main; sys.exit(main(sys.argv[1:]))";
    char option[] = "-c", three[] = "3", four[] = "4";
    char *arguments[] = {(char *)(uintptr_t)python, option, bootstrap, three, four, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, socket, 3);
    posix_spawn_file_actions_adddup2(&actions, memory, 4);
    /* A process group of its own: Ctrl-C is the host program's business. */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    char **environment = child_environment();
    const int failed = environment == NULL ? ENOMEM
                                           : posix_spawnp(process, python, &actions, &attributes,
                                                          arguments, environment);
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* The same descriptor above those that the child's end up on, or -1. */
static int move_up(int descriptor)
{
    const int moved = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
    if (descriptor >= 0) {
        close(descriptor);
    }
    return moved;
}

static aclError map_memory(struct device *device)
{
    device->memory_fd = move_up(memfd_create("pyaclnn-device", MFD_CLOEXEC));
    if (device->memory_fd < 0 || ftruncate(device->memory_fd, (off_t)device->memory_bytes) != 0) {
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d: no shared memory: %s",
                         device->id, strerror(errno));
    }
    device->base = mmap(NULL, device->memory_bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    device->alias = mmap(NULL, device->memory_bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_NORESERVE, device->memory_fd, 0);
    if (device->base == MAP_FAILED || device->alias == MAP_FAILED) {
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                         "device %d: %llu bytes of address space cannot be reserved: %s",
                         device->id, (unsigned long long)device->memory_bytes, strerror(errno));
    }
    return ACL_SUCCESS;
}

static aclError greet(struct device *device, const char *soc_name, const char *python)
{
    uint8_t hello[128];
    const uint32_t version = PROTOCOL_VERSION, name_length = (uint32_t)strlen(soc_name);
    const int32_t id = device->id;
    const uint64_t base = (uint64_t)(uintptr_t)device->base;
    size_t length = 0;
    const struct {
        const void *data;
        size_t bytes;
    } parts[] = {{&version, 4},          {&id, 4}, {&base, 8}, {&device->memory_bytes, 8},
                 {&name_length, 4}, {soc_name, name_length}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        memcpy(hello + length, parts[i].data, parts[i].bytes);
        length += parts[i].bytes;
    }
    const uint8_t *answer;
    size_t answer_length;
    if (!mock_device_request(device, MOCK_HELLO, hello, length, &answer, &answer_length)) {
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                         "device %d: '%s' did not start as a device process; it must be a Python "
                         "that can import pyaclnn (set PYACLNN_MOCK_PYTHON)",
                         device->id, python);
    }
    struct mock_reader reader = {answer, answer_length, 0, true};
    const uint32_t status = mock_read_u32(&reader);
    uint32_t text_length;
    const char *text = mock_read_string(&reader, &text_length);
    if (!reader.ok || status != 0) {
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d refused to start: %.*s",
                         device->id, (int)text_length, text);
    }
    return ACL_SUCCESS;
}

aclError mock_process_start(struct device *device)
{
    const struct chip *chip = mock_chip();
    if (chip == NULL) {
        return ACL_ERROR_RT_DEV_SETUP_ERROR;
    }
    char python[PATH_MAX];
    int pair[2];
    device->lost = false;
    device->process = 0;
    device->base = device->alias = MAP_FAILED;
    device->memory_fd = device->socket = -1;
    device->memory_bytes = chip->memory_bytes;
    device->heap.limit = chip->memory_bytes;
    aclError status = map_memory(device);
    if (status == ACL_SUCCESS && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        status = mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d: no socket: %s", device->id,
                           strerror(errno));
    }
    if (status == ACL_SUCCESS) {
        mock_find_python(python);
        device->socket = move_up(pair[0]);
        const int theirs = move_up(pair[1]);
        const int failed = spawn(python, theirs, device->memory_fd, &device->process);
        close(theirs);
        status = failed == 0 ? greet(device, chip->soc_name, python)
                             : mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                                         "device %d: cannot start '%s': %s", device->id, python,
                                         strerror(failed));
    }
    if (status != ACL_SUCCESS) {
        mock_process_stop(device);
    }
    return status;
}

void mock_process_stop(struct device *device)
{
    const uint8_t *answer;
    size_t length;
    if (device->process > 0) {
        if (!device->lost) {
            mock_device_request(device, MOCK_BYE, "", 0, &answer, &length);
        }
        if (device->lost) {
            kill(device->process, SIGKILL);
        }
        while (waitpid(device->process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (device->socket >= 0) {
        close(device->socket);
    }
    if (device->memory_fd >= 0) {
        close(device->memory_fd);
    }
    if (device->base != MAP_FAILED) {
        munmap(device->base, device->memory_bytes);
    }
    if (device->alias != MAP_FAILED) {
        munmap(device->alias, device->memory_bytes);
    }
    free(device->answer);
    free(device->heap.items);
    device->answer = NULL;
    device->answer_capacity = 0;
    device->heap = (struct heap){0};
    device->streams = device->events = 0;
    device->process = 0;
}
