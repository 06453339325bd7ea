/* SPDX-License-Identifier: Apache-2.0 */
/* Start, stop and fork of the device process. */
#include "device_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address_space.h"
#include "device_memory.h"
#include "error_message.h"
#include "fault.h"
#include "fork_server.h"
#include "kept_process.h"
#include "lock.h"
#include "mode.h"
#include "poll_source.h"
#include "poisoned_workspace.h"
#include "python_path.h"
#include "python_process.h"
#include "registered_memory.h"
#include "release.h"
#include "remedy.h"
#include "rlimit.h"
#include "variable.h"
#include "wire.h"
#include "wire_reader.h"

enum { PROTOCOL_VERSION = 8 };

/* Seconds: to answer, which takes long where the files lie far away; to end after BYE. */
enum { DEFAULT_PATIENCE = 60, MAX_PATIENCE = 3600, TO_END = 5 };

static aclError read_patience(struct device *device)
{
    const int64_t patience =
        mock_variable_number("PYACLNN_MOCK_PATIENCE", DEFAULT_PATIENCE, 1, MAX_PATIENCE);
    if (patience < 0) {
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                         "PYACLNN_MOCK_PATIENCE is '%s'; it must be a number of seconds from 1 to "
                         "%d",
                         getenv("PYACLNN_MOCK_PATIENCE"), MAX_PATIENCE);
    }
    device->patience = patience * 1000;
    return ACL_SUCCESS;
}

static aclError fail_without_answer(const struct device *device, const char *python)
{
    return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                     "device %d: '%s' did not answer within %lld s; if it only is slow, "
                     "set PYACLNN_MOCK_PATIENCE to more seconds",
                     device->id, python, (long long)device->patience / 1000);
}

static aclError handshake(struct device *device, const char *soc_name, const char *python,
                          bool is_kept)
{
    uint8_t hello[128];
    const uint32_t version = PROTOCOL_VERSION, name_length = (uint32_t)strlen(soc_name);
    const int32_t id = device->id;
    const uint64_t base = (uint64_t)(uintptr_t)device->heap.base;
    /* A process that had a device before opens the memory of this one. */
    const uint64_t host = is_kept ? (uint64_t)getpid() : 0;
    const uint64_t memory = is_kept ? (uint64_t)device->heap.descriptor : 0;
    size_t length = 0;
    const struct {
        const void *data;
        size_t bytes;
    } parts[] = {{&version, 4},          {&id, 4}, {&base, 8}, {&device->heap.bytes, 8},
                 {&host, 8}, {&memory, 8}, {&name_length, 4}, {soc_name, name_length}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        memcpy(hello + length, parts[i].data, parts[i].bytes);
        length += parts[i].bytes;
    }
    uint8_t *answer;
    size_t answer_length;
    const struct timespec deadline = mock_deadline(device->patience);
    if (!mock_device_request(device, MOCK_HELLO, hello, length, &deadline, &answer,
                             &answer_length)) {
        if (!device->lost) {
            return fail_without_answer(device, python);
        }
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                         "device %d: '%s'%s did not start as a device process; it must be a Python "
                         "that can import pyaclnn (set PYACLNN_MOCK_PYTHON)",
                         device->id, python, mock_rlimit_describe());
    }
    struct mock_reader reader = {answer, answer_length, 0, true};
    const uint32_t status = mock_read_u32(&reader);
    uint32_t text_length;
    const char *text = mock_read_string(&reader, &text_length);
    const aclError code =
        reader.ok && status == 0
            ? ACL_SUCCESS
            : mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d refused to start: %.*s",
                        device->id, (int)text_length, text);
    free(answer);
    return code;
}

static void close_open(int descriptor)
{
    if (descriptor >= 0) {
        close(descriptor);
    }
}

/* A fork of this process that was made meanwhile must not keep them, and closes them in `release`. */
static void close_given(struct device *device)
{
    for (int i = 0; i < 2; i++) {
        close_open(device->given[i]);
        device->given[i] = -1;
    }
}

/* Move a descriptor away from those of standard streams; the first error is kept. */
static int move_above(int descriptor, int *error)
{
    const int moved = mock_descriptor_above(descriptor);
    *error = moved < 0 && *error == 0 ? errno : *error;
    return moved;
}

static void look_later(void *owner)
{
    (void)owner; /* whoever waits looks */
}

/* Start the process, and wait for the fork server if that is asked; returns errno. */
static int start_process(struct device *device, const char *python, const int *descriptors)
{
    struct mock_child *child = &device->process;
    int failed = mock_child_start(python, descriptors, child);
    struct mock_poll_source answer = {.descriptor = child->connection, .look = look_later};
    const struct timespec deadline = mock_deadline(device->patience);
    if (child->connection <= 0) {
        return failed;
    }
    mock_poll_source_add(&answer);
    mock_signal_progress(); /* who waits already polls it, too */
    while (!mock_child_receive(python, descriptors, child, &failed)) {
        if (!mock_wait_progress(&deadline)) {
            mock_child_give_up(child);
            failed = ETIMEDOUT;
            break;
        }
    }
    mock_poll_source_remove(&answer);
    return failed;
}

aclError mock_process_start(struct device *device)
{
    const struct chip *chip = mock_device_chip();
    if (chip == NULL) {
        return ACL_ERROR_RT_DEV_SETUP_ERROR;
    }
    const char *config_error = mock_release_config_error();
    config_error = config_error == NULL ? mock_fault_config_error() : config_error;
    config_error = config_error == NULL ? mock_mode_config_error() : config_error;
    config_error = config_error == NULL ? mock_fork_server_config_error() : config_error;
    if (config_error != NULL) {
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "%s", config_error);
    }
    char python[PATH_MAX];
    if (!mock_python_find(python)) {
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                         "device %d: no Python is known that could run the device process; set "
                         "PYACLNN_MOCK_PYTHON to one that can import pyaclnn",
                         device->id);
    }
    int pair[2], life[2];
    device->lost = false;
    device->loss = NULL;
    device->chip = chip;
    device->process = (struct mock_child){0};
    device->heap.base = device->heap.alias = MAP_FAILED;
    device->heap.descriptor = device->lifeline = -1;
    device->given[0] = device->given[1] = -1;
    device->session++;
    device->stopped_since = 0;
    device->ending = false;
    device->heap.bytes = chip->memory_bytes;
    aclError status = read_patience(device);
    status = status == ACL_SUCCESS ? mock_device_map_memory(device) : status;
    if (status == ACL_SUCCESS && mock_process_attach(device)) {
        if (handshake(device, chip->soc_name, python, true) == ACL_SUCCESS) {
            return ACL_SUCCESS;
        }
        mock_process_stop(device); /* another one may start */
        device->lost = false;
        device->loss = NULL;
        device->heap.bytes = chip->memory_bytes;
        status = mock_device_map_memory(device);
    }
    if (status == ACL_SUCCESS && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        status = mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d: no socket: %s", device->id,
                           mock_remedy("socketpair", errno));
    }
    if (status == ACL_SUCCESS && pipe2(life, O_CLOEXEC) != 0) {
        status = mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d: no pipe: %s", device->id,
                           mock_remedy("pipe2", errno));
        close(pair[0]);
        close(pair[1]);
    }
    if (status == ACL_SUCCESS) {
        int refused = 0;
        device->channel.socket = move_above(pair[0], &refused);
        device->channel.connected = device->channel.socket >= 0;
        if (device->channel.connected) {
            mock_lock_enable_polling();
        }
        device->lifeline = move_above(life[1], &refused);
        device->given[0] = move_above(pair[1], &refused);
        device->given[1] = move_above(life[0], &refused);
        const int descriptors[] = {device->given[0], device->heap.descriptor, device->given[1], -1};
        const int failed = refused != 0 ? 0 : start_process(device, python, descriptors);
        close_given(device);
        if (refused != 0) {
            status = mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d: no descriptor: %s",
                               device->id, mock_remedy("fcntl", refused));
        } else if (failed == ETIMEDOUT) {
            status = fail_without_answer(device, python);
        } else {
            status = failed == 0 ? handshake(device, chip->soc_name, python, false)
                                 : mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d: %s",
                                             device->id, mock_spawn_failure(python, failed));
        }
    }
    if (status != ACL_SUCCESS) {
        mock_process_stop(device);
    }
    return status;
}

static void release(struct device *device)
{
    if (device->channel.connected) {
        mock_lock_disable_polling();
    }
    mock_channel_close(&device->channel);
    mock_registered_close(device);
    mock_space_close(device);
    close_open(device->heap.descriptor);
    close_open(device->lifeline);
    close_given(device);
    if (device->heap.base != MAP_FAILED) {
        munmap(device->heap.base, device->heap.bytes);
    }
    if (device->heap.alias != MAP_FAILED) {
        munmap(device->heap.alias, device->heap.bytes);
    }
    mock_heap_clear(&device->heap);
    mock_workspaces_forget();
    device->streams = device->events = 0;
    free(device->environment);
    device->environment = NULL;
    mock_signal_progress();
}

/* The thread that would answer BYE has still to answer another request. */
static bool is_held(const struct device *device)
{
    const struct mock_exchange *exchanges = device->channel.exchanges;
    return exchanges[MOCK_HELLO].busy || exchanges[MOCK_CHECK].busy || exchanges[MOCK_FORGET].busy;
}

/* Ask the process to end, and wait for it; it has ended when its end of the socket closes. */
static void let_end(struct device *device)
{
    const struct timespec deadline = mock_deadline(TO_END * 1000);
    uint8_t *answer;
    size_t length;
    device->ending = true;
    if (device->lost || is_held(device) ||
        !mock_device_request(device, MOCK_BYE, "", 0, &deadline, &answer, &length)) {
        return;
    }
    free(answer);
    while (!device->lost && mock_wait_progress(&deadline)) {
    }
}

void mock_process_stop(struct device *device)
{
    if (device->process.process > 0 && !mock_process_detach(device)) {
        let_end(device);
        mock_child_kill(&device->process);
        mock_child_collect(&device->process);
    }
    release(device);
}

void mock_process_kill(struct device *device)
{
    if (device->lost || device->process.process <= 0) {
        return;
    }
    device->loss = "a fault was injected";
    mock_child_kill(&device->process);
    close_open(device->lifeline); /* which kills it, too, where the fork server has ended */
    device->lifeline = -1;
    /* Its end of the socket closes with it: from then on every call sees the loss. */
    struct pollfd end = {.fd = device->channel.socket, .events = 0};
    while (poll(&end, 1, TO_END * 1000) < 0 && errno == EINTR) {
    }
}

/* The device process must see the end of its socket when the parent ends, whatever the child does;
 * and the parent's memory must not change under what the child frees or copies. */
static void end_with_parent(struct device *device)
{
    mock_child_forked(&device->process);
    device->changing = false;
    mock_lock_enable_polling(); /* for what closing takes back */
    if (!device->open) { /* another thread of the parent was about to start it */
        release(device);
        return;
    }
    mock_space_forked(device);
    mmap(device->heap.alias, device->heap.bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    mock_lock_disable_polling();
    mock_channel_close(&device->channel);
    close(device->heap.descriptor);
    close(device->lifeline);
    device->heap.descriptor = device->lifeline = -1;
    device->lost = true;
    device->loss = "it belongs to the process that this one was forked from";
}

void mock_process_forked(void)
{
    mock_devices_visit_connected(end_with_parent);
    mock_process_kept_forked();
}
