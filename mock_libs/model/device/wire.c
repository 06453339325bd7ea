/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to device processes, and detection of their death. */
#include "wire.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "error_message.h"
#include "interrupt.h"
#include "lock.h"
#include "poll_source.h"
#include "rlimit.h"

/* A device process that is stopped for so long is taken for dead, as a device that misses its
 * heartbeats; one that works is given all the time it takes. */
enum { HEARTBEAT_SECONDS = 5 };

/* Return a reason that names SIGKILL if that ended the process, which the parent learns a moment
 * after the socket's end; NULL if something else did. */
static const char *reason_of_kill(const struct mock_child *process)
{
    const int moments = process->connection > 0 ? 1000 : 100; /* the fork server may be busy */
    const struct timespec moment = {.tv_nsec = 1000000};
    siginfo_t end = {.si_pid = 0};
    for (int i = 0; i < moments && process->process > 0 && !mock_child_has_ended(process, &end);
         i++) {
        nanosleep(&moment, NULL);
    }
    if (end.si_pid == 0 || end.si_code != CLD_KILLED || end.si_status != SIGKILL) {
        return NULL;
    }
    static char text[384];
    snprintf(text, sizeof text,
             "its process%s was killed (SIGKILL): the machine or the container ran out of memory, "
             "or somebody ended it",
             mock_rlimit_describe());
    return text;
}

/* The first reason stays: what fails after it is a consequence. */
static void mark_lost(struct device *device, const char *reason)
{
    if (!device->lost) {
        const char *killed = device->loss == NULL ? reason_of_kill(&device->process) : NULL;
        device->lost = true;
        device->loss = killed == NULL ? reason : killed;
        mock_signal_progress();
    }
}

static void pump(struct device *device)
{
    bool answered = false;
    const char *reason = device->lost || !device->channel.connected
                             ? NULL
                             : mock_channel_pump(&device->channel, &answered);
    if (reason != NULL) {
        mark_lost(device, reason);
    }
    if (answered) {
        mock_signal_progress();
    }
}

aclError mock_device_alive(struct device *device)
{
    pump(device);
    return !device->lost ? ACL_SUCCESS
                         : mock_fail(ACL_ERROR_RT_LOST_HEARTBEAT,
                                     "device %d is lost: %s; reset the device or restart the "
                                     "program",
                                     device->id, device->loss);
}

bool mock_wire_is_busy(struct device *device, enum mock_request kind)
{
    if (device->channel.exchanges[kind].busy) {
        pump(device);
    }
    return !device->lost && device->channel.exchanges[kind].busy;
}

bool mock_wire_start(struct device *device, enum mock_request kind, const void *payload,
                     size_t length)
{
    if (mock_wire_is_busy(device, kind)) {
        return false;
    }
    if (device->lost) {
        return true;
    }
    const char *reason = mock_channel_send(&device->channel, kind, payload, length);
    if (reason != NULL) {
        mark_lost(device, reason);
    }
    return true;
}

uint8_t *mock_wire_take(struct device *device, enum mock_request kind, size_t *length)
{
    struct mock_exchange *exchange = &device->channel.exchanges[kind];
    if (exchange->answer == NULL) {
        pump(device);
    }
    uint8_t *answer = exchange->answer;
    if (answer != NULL) {
        *length = exchange->length;
        *exchange = (struct mock_exchange){0};
        mock_signal_progress();
    }
    return answer;
}

void mock_wire_abandon(struct device *device, enum mock_request kind)
{
    struct mock_exchange *exchange = &device->channel.exchanges[kind];
    if (exchange->answer != NULL) {
        free(exchange->answer);
        *exchange = (struct mock_exchange){0};
    } else {
        exchange->abandoned = exchange->busy;
    }
}

bool mock_device_request(struct device *device, enum mock_request kind, const void *payload,
                         size_t length, const struct timespec *deadline, uint8_t **answer,
                         size_t *answer_length)
{
    const uint64_t session = device->session;
    bool in_time = true;
    while (in_time && device->session == session &&
           !mock_wire_start(device, kind, payload, length)) {
        in_time = mock_wait_progress(deadline);
    }
    if (!in_time) {
        return false;
    }
    while (device->session == session && !device->lost) {
        *answer = mock_wire_take(device, kind, answer_length);
        if (*answer != NULL) {
            return true;
        }
        if (!device->lost && !mock_wait_progress(deadline)) {
            mock_wire_abandon(device, kind);
            return false;
        }
    }
    mock_fail(ACL_ERROR_RT_LOST_HEARTBEAT, "device %d is lost: %s; reset the device or restart "
              "the program", device->id,
              device->session == session ? device->loss : "it was reset during the call");
    return false;
}

/* ---- waiting ------------------------------------------------------------------------------ */

/* Return whether a signal has stopped the process, which answers nothing then. */
static bool is_stopped(const struct device *device)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)device->process.process);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = descriptor < 0 ? -1 : read(descriptor, text, sizeof text - 1);
    if (descriptor >= 0) {
        close(descriptor);
    }
    text[length < 0 ? 0 : length] = '\0';
    const char *name_end = strrchr(text, ')'); /* the state is the letter behind the name */
    return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'T';
}

/* Check a device that is waited for. */
static void watch(struct device *device)
{
    struct timespec now;
    pump(device);
    if (device->lost || device->process.process <= 0 || !is_stopped(device)) {
        device->stopped_since = 0;
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (device->stopped_since == 0) {
        device->stopped_since = now.tv_sec;
    }
    if (device->ending || now.tv_sec - device->stopped_since > HEARTBEAT_SECONDS) {
        mark_lost(device, "its process has been stopped and does not go on");
    }
}

enum { MAX_SOCKETS = MOCK_MAX_DEVICES + MOCK_MAX_POLL_SOURCES };

static struct pollfd sockets[MAX_SOCKETS];
static size_t socket_count;

static void add_socket(struct device *device)
{
    if (!device->lost) {
        const short out = device->channel.outgoing_length > 0 ? POLLOUT : 0;
        sockets[socket_count++] = (struct pollfd){.fd = device->channel.socket,
                                                  .events = (short)(POLLIN | out)};
    }
}

/* Let Python handle signals. true: a handler has raised, and the wait is over. */
static bool is_interrupted(void)
{
    if (!mock_interrupt_due()) {
        return false;
    }
    mock_unlock();
    const bool interrupted = mock_interrupted();
    mock_lock();
    return interrupted;
}

bool mock_wait_progress(const struct timespec *deadline)
{
    socket_count = 0;
    mock_devices_visit_connected(add_socket);
    socket_count += mock_poll_source_list(sockets + socket_count, MAX_SOCKETS - socket_count);
    const enum mock_wait_result pause = mock_lock_wait(sockets, socket_count, deadline);
    mock_devices_visit_connected(pause == MOCK_NO_PROGRESS ? watch : pump);
    mock_poll_source_dispatch();
    return pause != MOCK_TIMED_OUT && !is_interrupted();
}
