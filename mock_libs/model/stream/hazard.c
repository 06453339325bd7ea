/* SPDX-License-Identifier: Apache-2.0 */
/* Hazards: memory of queued work that is freed, read or written meanwhile. */
#include "hazard.h"

#include "address_space.h"
#include "callback.h"
#include "graph.h"
#include "memory_access.h"

/* MAX_TASKS: how far into a queue these checks look, so that a long one stays cheap. */
enum { MAX_HOPS = 16, MAX_TASKS = 2048 };

/* ---- what a task uses --------------------------------------------------------------------- */

static bool meet(const struct mock_range *range, const void *address, uint64_t bytes)
{
    const uintptr_t one = (uintptr_t)range->address, other = (uintptr_t)address;
    return one < other + bytes && other < one + range->bytes;
}

/* The first range of a task that meets other memory, or NULL; only written ones if asked. */
static const struct mock_range *find(const struct task *task, const void *address, uint64_t bytes,
                                     bool only_written, struct mock_range own[2])
{
    const struct mock_range *ranges;
    const size_t count = mock_task_ranges(task, own, &ranges);
    for (size_t i = 0; i < count; i++) {
        if ((ranges[i].written || !only_written) && meet(&ranges[i], address, bytes)) {
            return &ranges[i];
        }
    }
    return NULL;
}

/* The streams whose work can still run; a lost device has forgotten its own. */
static const struct stream *next_of(const struct stream *stream)
{
    stream = stream == NULL ? mock_stream_first() : stream->next_created;
    while (stream != NULL && stream->context->device->lost) {
        stream = stream->next_created;
    }
    return stream;
}

static bool is_near(const struct stream *stream, const struct task *task)
{
    return task != NULL && task->position <= stream->executed + MAX_TASKS;
}

static const char *name_of(const struct task *task)
{
    return task->origin.function == NULL ? "a call" : task->origin.function;
}

/* Return whether a task waits for something that may be queued later: a record, a flag, a value. */
static bool is_open(const struct task *task)
{
    return (task->kind == TASK_WAIT && task->as.event.source == NULL) ||
           task->kind == TASK_NOTIFY_WAIT || task->kind == TASK_VALUE_WAIT;
}

/* The block that holds an address, as far as it is known. */
static struct mock_history history_of(const void *address)
{
    struct mock_history history = {0};
    const struct device *device = mock_device_of(address);
    struct block block;
    return device != NULL && mock_memory_find(device, address, &block) ? block.history : history;
}

/* The memory of a value that a task writes or waits for, if it meets other memory, or NULL: such
 * tasks bring streams into an order, and so may meet each other. */
static const struct mock_range *value_of(const struct task *task, const void *address,
                                         uint64_t bytes, struct mock_range own[2])
{
    if (task->kind != TASK_VALUE_WRITE && task->kind != TASK_VALUE_WAIT) {
        return NULL;
    }
    own[0] = (struct mock_range){task->as.value.address, sizeof task->as.value.value, true, false};
    return meet(&own[0], address, bytes) ? &own[0] : NULL;
}

/* ---- the host and queued work --------------------------------------------------------------- */

void mock_hazard_free(const void *address, uint64_t bytes, enum mock_rule rule)
{
    struct mock_range own[2];
    for (const struct stream *stream = next_of(NULL); stream != NULL; stream = next_of(stream)) {
        for (const struct task *task = stream->first; is_near(stream, task); task = task->next) {
            const struct mock_range *range = find(task, address, bytes, false, own);
            if (range == NULL) {
                range = value_of(task, address, bytes, own);
            }
            if (range == NULL) {
                continue;
            }
            const struct mock_history history = history_of(address);
            const bool workspace = rule == MOCK_MEMORY_FREED_IN_USE && range->workspace;
            mock_violate(workspace ? MOCK_WORKSPACE_FREED_IN_USE : rule,
                         rule == MOCK_HOST_FREED_IN_FLIGHT ? "pinned memory" : "device memory",
                         address, &history,
                         "%s was queued on stream %d, which has not come to it yet", name_of(task),
                         stream->id);
            return;
        }
    }
}

void mock_hazard_host_access(const void *address, uint64_t bytes, bool writes)
{
    struct mock_range own[2];
    /* It goes on when the host function has returned that this thread runs. */
    const struct stream *waiting = mock_handle_get(mock_post_running(), MOCK_STREAM);
    for (const struct stream *stream = next_of(NULL); stream != NULL; stream = next_of(stream)) {
        if (stream == waiting) {
            continue;
        }
        for (const struct task *task = stream->first; is_near(stream, task); task = task->next) {
            if (find(task, address, bytes, !writes, own) != NULL) {
                const struct mock_history history = history_of(address);
                mock_violate(MOCK_MEMORY_USED_BEFORE_SYNCHRONIZE, "memory", address, &history,
                             "%s was queued on stream %d and %s this memory when it runs",
                             name_of(task), stream->id, writes ? "uses" : "writes");
                return;
            }
        }
    }
}

/* ---- host memory under a copy --------------------------------------------------------------- */

/* The host side of a copy, or NULL. */
static const void *host_side(const struct task *task, uint64_t *pitch)
{
    if (task->kind != TASK_COPY || (task->as.copy.to_device && task->as.copy.from_device)) {
        return NULL;
    }
    const bool to_host = !task->as.copy.to_device;
    *pitch = to_host ? task->as.copy.copy.destination_pitch : task->as.copy.copy.source_pitch;
    return to_host ? task->as.copy.copy.destination : task->as.copy.copy.source;
}

/* Four lanes at once: this runs over every byte of every queued copy. */
static uint64_t sum_of(const struct task *task, const uint8_t *bytes, uint64_t pitch)
{
    const uint64_t PRIME = 0x9E3779B97F4A7C15u;
    uint64_t lanes[4] = {1, 2, 3, 4}, words[4];
    for (uint64_t row = 0; row < task->as.copy.copy.height; row++, bytes += pitch) {
        uint64_t at = 0;
        for (; at + sizeof words <= task->as.copy.copy.width; at += sizeof words) {
            __builtin_memcpy(words, bytes + at, sizeof words);
            for (int i = 0; i < 4; i++) {
                lanes[i] = (lanes[i] ^ words[i]) * PRIME;
                lanes[i] ^= lanes[i] >> 29;
            }
        }
        for (; at < task->as.copy.copy.width; at++) {
            lanes[0] = (lanes[0] ^ bytes[at]) * PRIME;
        }
    }
    return (lanes[0] * 3) ^ (lanes[1] * 5) ^ (lanes[2] * 7) ^ (lanes[3] * 11);
}

/* Causes that may change host memory before a task runs: a callback; the host itself, when a
 * stream waits for an event that is recorded later; another queued task. */
static bool may_change(const void *address, uint64_t bytes, const struct task *but)
{
    struct mock_range own[2];
    for (const struct stream *stream = next_of(NULL); stream != NULL; stream = next_of(stream)) {
        if (stream->submitted - stream->executed > MAX_TASKS) {
            return true; /* further back is not searched */
        }
        for (const struct task *task = stream->first; task != NULL; task = task->next) {
            if (task->kind == TASK_CALLBACK || is_open(task) ||
                (task != but && find(task, address, bytes, true, own) != NULL)) {
                return true;
            }
        }
    }
    return false;
}

static void checksum_host(struct task *task)
{
    uint64_t pitch = 0;
    const void *host = host_side(task, &pitch);
    if (host == NULL || task->origin.recorded) { /* a recorder's own memory is no concern of the program */
        return;
    }
    const uint64_t bytes = mock_pitched_bytes(task->as.copy.copy.width, task->as.copy.copy.height, pitch);
    task->as.copy.checked = !may_change(host, bytes, task);
    if (task->as.copy.checked) {
        task->as.copy.sum = sum_of(task, host, pitch);
    }
}

void mock_hazard_copy(const struct task *task)
{
    uint64_t pitch = 0;
    const void *host = host_side(task, &pitch);
    if (host != NULL && task->as.copy.checked && sum_of(task, host, pitch) != task->as.copy.sum) {
        const struct mock_history history = {.created = task->origin};
        mock_violate(MOCK_HOST_CHANGED_IN_FLIGHT, "copy of host memory", host, &history,
                     "the host has written to this memory since %s queued the copy",
                     name_of(task));
    }
}

void mock_hazard_host_written(const void *address, uint64_t bytes)
{
    if (mock_device_of(address) != NULL) {
        return;
    }
    for (const struct stream *stream = next_of(NULL); stream != NULL; stream = next_of(stream)) {
        for (struct task *task = stream->first; is_near(stream, task); task = task->next) {
            uint64_t pitch = 0;
            const void *host = host_side(task, &pitch);
            if (host == NULL || !task->as.copy.checked) {
                continue;
            }
            const struct mock_range range = {
                host, mock_pitched_bytes(task->as.copy.copy.width, task->as.copy.copy.height, pitch), false,
                false};
            if (meet(&range, address, bytes)) {
                task->as.copy.checked = false;
            }
        }
    }
}

/* ---- streams against each other ------------------------------------------------------------- */

/* Return whether a stream, before one of its positions, waits for what may be queued behind any
 * work. */
static bool is_retained(const struct stream *stream, uint64_t before)
{
    const struct task *task = stream->first;
    while (task != NULL && task->position < before && !is_open(task)) {
        task = task->next;
    }
    return task != NULL && task->position < before;
}

/* Return whether a stream, before one of its positions, waits for a position of another,
 * directly or by way of third streams. A wait that cannot be followed yet counts as one. */
static bool waits_for(const struct stream *stream, uint64_t before, const struct stream *source,
                      uint64_t position, int hops)
{
    for (const struct task *task = stream->first; task != NULL && task->position < before;
         task = task->next) {
        if (is_open(task)) {
            return true;
        }
        if (task->kind != TASK_WAIT) {
            continue;
        }
        const struct stream *other = mock_handle_get(task->as.event.source, MOCK_STREAM);
        if (hops == MAX_HOPS || (other == source && task->as.event.position > position) ||
            (other != NULL && other != stream && other != source &&
             waits_for(other, task->as.event.position, source, position, hops + 1))) {
            return true;
        }
    }
    return false;
}

/* The range of a task that may not be used at the same time as a range of another. */
static const struct mock_range *conflicts(const struct task *task, const struct mock_range *range)
{
    struct mock_range own[2];
    const struct mock_range *ranges;
    const size_t count = mock_task_ranges(task, own, &ranges);
    for (size_t i = 0; i < count; i++) {
        if ((ranges[i].written || range->written) &&
            meet(&ranges[i], range->address, range->bytes)) {
            return range; /* `own` ends here */
        }
    }
    return NULL;
}

static bool report_conflict(const struct stream *stream, const struct task *task,
                         const struct stream *other, bool workspace)
{
    struct mock_range own[2];
    const struct mock_range *ranges;
    const size_t count = mock_task_ranges(task, own, &ranges);
    for (const struct task *earlier = other->first; is_near(other, earlier);
         earlier = earlier->next) {
        for (size_t i = 0; i < count; i++) {
            if (ranges[i].workspace != workspace || conflicts(earlier, &ranges[i]) == NULL ||
                is_retained(other, earlier->position) ||
                waits_for(stream, task->position, other, earlier->position, 0)) {
                continue;
            }
            const struct mock_history history = history_of(ranges[i].address);
            mock_violate(workspace ? MOCK_WORKSPACE_SHARED_BY_STREAMS : MOCK_STREAMS_NOT_ORDERED,
                         "memory", ranges[i].address, &history,
                         "%s on stream %d and %s on stream %d use it, and no event orders them",
                         name_of(earlier), other->id, name_of(task), stream->id);
            return true;
        }
    }
    return false;
}

void mock_hazard_queued(const struct stream *stream, struct task *task)
{
    if (stream->lane != NULL) {
        mock_graph_record_memory(stream->lane, task); /* nothing is queued before a replay */
        return;
    }
    checksum_host(task);
    mock_access_check(stream, task);
    bool reported = false;
    for (const struct stream *other = next_of(NULL); other != NULL && !reported;
         other = next_of(other)) {
        reported = other != stream && (report_conflict(stream, task, other, true) ||
                                       report_conflict(stream, task, other, false));
    }
}
