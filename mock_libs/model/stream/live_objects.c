/* SPDX-License-Identifier: Apache-2.0 */
/* Live objects: reported at aclFinalize, when a device closes, at exit, and on request. */
#include "live_objects.h"

#include <stdarg.h>
#include <stdio.h>

#include "address_space.h"
#include "pinned_memory.h"
#include "stream.h"

/* Made by the runtime itself, not by the program. */
static bool is_internal(const struct mock_live_object *living)
{
    if (living->kind == MOCK_CONTEXT) {
        return ((const struct context *)living->object)->primary;
    }
    if (living->kind == MOCK_STREAM) {
        const struct stream *stream = living->object;
        return stream == stream->context->default_stream || stream->graph != NULL;
    }
    return false;
}

static enum mock_rule at_end;

static void report(const struct mock_live_object *living, void *data)
{
    (void)data;
    if (*living->reported || is_internal(living)) {
        return;
    }
    *living->reported = true;
    if (living->kind == MOCK_EXECUTOR) {
        mock_violate(MOCK_EXECUTOR_NEVER_USED, mock_kind_name(living->kind), living->handle,
                     living->history,
                     living->mark == MOCK_MARK_REPEATABLE
                         ? "this repeatable executor was not destroyed"
                         : "neither phase 2 nor aclDestroyAclOpExecutor has got this executor");
        return;
    }
    mock_violate(at_end, mock_kind_name(living->kind), living->handle, living->history,
                 "this %s was not destroyed", mock_kind_name(living->kind));
}

static void report_host(struct block *block, void *data)
{
    (void)data;
    if (!block->reported && !block->history.created.recorded) {
        block->reported = true;
        mock_violate(at_end, "pinned memory", (void *)(uintptr_t)block->offset, &block->history,
                     "these %llu bytes were not freed by aclrtFreeHost",
                     (unsigned long long)block->requested);
    }
}

static void report_block(struct heap *heap, const struct block *block, void *data)
{
    const int *device = data;
    mock_violate(at_end, "device memory", heap->base + block->offset, &block->history,
                 "these %llu bytes of device %d were not freed",
                 (unsigned long long)block->requested, *device);
}

static void report_device(struct device *device)
{
    if (device->reported) {
        return;
    }
    device->reported = true;
    mock_violate(at_end, "device", NULL, &device->history, "device %d was not reset", device->id);
    mock_heap_visit(&device->heap, report_block, &device->id);
}

static void report_addresses(void)
{
    for (struct reservation *space = mock_spaces(); space != NULL; space = space->next) {
        if (!space->reported && space->number == 0) { /* or else a handle represents it */
            space->reported = true;
            mock_violate(at_end, "reserved addresses", space->base, &space->history,
                         "these %llu bytes of addresses were not given back by "
                         "aclrtReleaseMemAddress",
                         (unsigned long long)space->bytes);
        }
    }
}

void mock_live_objects_report(enum mock_rule rule)
{
    at_end = rule;
    mock_violations_begin();
    mock_handles_visit(report, NULL);
    mock_pinned_visit(report_host, NULL);
    mock_devices_visit(report_device);
    report_addresses();
    mock_violations_end(rule);
}

static void unmark_handle(const struct mock_live_object *living, void *data)
{
    (void)data;
    *living->reported = true;
}

static void unmark_pinned(struct block *block, void *data)
{
    (void)data;
    block->reported = true;
}

static void unmark_device(struct device *device)
{
    device->reported = true;
}

void mock_live_objects_forget(void)
{
    mock_handles_visit(unmark_handle, NULL);
    mock_pinned_visit(unmark_pinned, NULL);
    mock_devices_visit(unmark_device);
    for (struct reservation *space = mock_spaces(); space != NULL; space = space->next) {
        space->reported = true;
    }
}

/* ---- for the tools ----------------------------------------------------------------------- */

struct listing {
    char *text;
    size_t capacity, length;
};

static struct listing listing;

__attribute__((format(printf, 1, 2))) static void list(const char *format, ...)
{
    va_list arguments;
    const size_t left = listing.length < listing.capacity ? listing.capacity - listing.length : 0;
    va_start(arguments, format);
    const int written =
        vsnprintf(left > 0 ? listing.text + listing.length : NULL, left, format, arguments);
    va_end(arguments);
    listing.length += (size_t)written;
}

static void list_one(const char *kind, const void *handle, const struct mock_origin *origin)
{
    list("%s %p %s %s\n", kind, handle, origin->function == NULL ? "-" : origin->function,
         origin->line == NULL ? "-" : origin->line);
}

static void list_handle(const struct mock_live_object *living, void *data)
{
    (void)data;
    if (!is_internal(living)) {
        list_one(mock_kind_name(living->kind), living->handle, &living->history->created);
    }
}

static void list_host(struct block *block, void *data)
{
    (void)data;
    if (!block->history.created.recorded) {
        list_one("pinned_memory", (void *)(uintptr_t)block->offset, &block->history.created);
    }
}

static void list_block(struct heap *heap, const struct block *block, void *data)
{
    (void)data;
    list_one("device_memory", heap->base + block->offset, &block->history.created);
}

static void list_device(struct device *device)
{
    const char *line = device->history.created.line;
    list("device %d aclrtSetDevice %s\n", device->id, line == NULL ? "-" : line);
    mock_heap_visit(&device->heap, list_block, NULL);
}

size_t mock_live_objects_list(char *text, size_t capacity)
{
    listing = (struct listing){text, capacity, 0};
    mock_handles_visit(list_handle, NULL);
    mock_pinned_visit(list_host, NULL);
    mock_devices_visit(list_device);
    for (const struct reservation *space = mock_spaces(); space != NULL; space = space->next) {
        if (space->number == 0) {
            list_one("reserved_addresses", space->base, &space->history.created);
        }
    }
    return listing.length;
}
