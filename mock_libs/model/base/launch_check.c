/* SPDX-License-Identifier: Apache-2.0 */
/* Checks before a kernel is queued: its memory exists, and results do not overlap. */
#include "launch_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address_query.h"
#include "data_type.h"
#include "objects.h"
#include "violation.h"

/* The bytes of a view, from `distance` bytes behind its address on. */
struct extent {
    int64_t distance;
    uint64_t bytes;
    bool empty, dense, too_large;
};

static struct extent extent_of(const struct tensor *tensor)
{
    const int64_t bits = mock_data_type_bits(tensor->data_type);
    struct extent extent = {.dense = true};
    int64_t low = tensor->offset, high = tensor->offset, step, dense = 1;
    for (uint32_t i = tensor->rank; i-- > 0;) {
        const int64_t dim = tensor->dims[i], stride = tensor->strides[i];
        extent.empty = extent.empty || dim <= 0;
        extent.dense = extent.dense && (dim == 1 || stride == dense);
        extent.too_large = extent.too_large || __builtin_mul_overflow(dim - 1, stride, &step) ||
                           __builtin_mul_overflow(dense, dim, &dense) ||
                           __builtin_add_overflow(step < 0 ? low : high, step,
                                                  step < 0 ? &low : &high);
    }
    int64_t from, to;
    extent.too_large = extent.too_large || __builtin_mul_overflow(low, bits, &from) ||
                       __builtin_mul_overflow(high, bits, &to) ||
                       __builtin_add_overflow(to, bits + 7, &to);
    if (!extent.too_large) {
        extent.distance = (from - (from % 8 + 8) % 8) / 8;
        extent.bytes = (uint64_t)(to / 8 - extent.distance);
    }
    return extent;
}

static const char *argument_of(const struct executor *executor, const void *handle)
{
    for (size_t i = 0; i < executor->used_count; i++) {
        if (executor->used[i].handle == handle) {
            return executor->used[i].argument;
        }
    }
    return "an argument";
}

size_t mock_check_objects(const struct executor *executor)
{
    size_t gone = 0;
    for (size_t i = 0; i < executor->used_count; i++) {
        const struct mock_used *used = &executor->used[i];
        enum mock_mark mark;
        struct mock_history history;
        if (mock_handle_fate(used->handle, used->kind, &mark, &history) != MOCK_LIVE) {
            gone++;
            /* For a repeatable executor this was reported when it happened. */
            if (!executor->repeatable) {
                mock_violate(MOCK_OBJECT_DESTROYED_BETWEEN_PHASES, mock_kind_name(used->kind),
                             used->handle, &history, "%s, given to phase 1 as %s, is gone",
                             mock_kind_name(used->kind), used->argument);
            }
        }
    }
    return gone;
}

void mock_check_results(const struct executor *executor)
{
    for (size_t i = 0; i < executor->slot_count; i++) {
        const struct mock_tensor_slot *slot = &executor->slots[i];
        if (slot->argument < MAX_ARGUMENTS &&
            (executor->plan.unwritten >> slot->argument & 1u) != 0) {
            mock_violate(MOCK_RESULT_NOT_WRITTEN, mock_kind_name(MOCK_TENSOR), slot->handle, NULL,
                         "%s of %s has another shape than the result: both phases succeed, and "
                         "it keeps what it holds",
                         argument_of(executor, slot->handle), executor->operator_name);
        }
    }
}

/* The error of a memory range, or NULL; `what` names it in the report. */
static const char *check_memory(const char *what, int device, const void *address,
                                int64_t distance, uint64_t bytes, enum mock_rule beyond)
{
    struct mock_history history;
    const enum mock_address_class class =
        mock_address_classify(device, address, distance, bytes, &history);
    switch (class) {
    case MOCK_IN_BLOCK:
        return NULL;
    case MOCK_IN_PADDING:
    case MOCK_OUT_OF_BLOCK:
        mock_violate(beyond, "device memory", address, &history,
                     "%s takes %llu bytes from %lld bytes behind this address on; its block has "
                     "fewer%s",
                     what, (unsigned long long)bytes, (long long)distance,
                     class == MOCK_IN_PADDING ? ", and padding that CANN does not promise" : "");
        return class == MOCK_IN_PADDING ? NULL
                                        : "the kernel reached beyond a block of device memory";
    case MOCK_ON_OTHER_DEVICE:
        mock_violate(MOCK_ADDRESS_ON_ANOTHER_DEVICE, "device memory", address, &history,
                     "%s lies on another device than %d, where the stream runs", what, device);
        return "the kernel reached for memory of another device";
    case MOCK_NOT_LIVE:
        mock_violate(MOCK_ADDRESS_NOT_ON_DEVICE, "address", address, &history,
                     address == NULL ? "%s has a NULL address"
                                     : "%s is no live memory from aclrtMalloc",
                     what);
        return "the kernel reached for an address that is no device memory";
    }
    return NULL;
}

static const void *address_in(const uint8_t *message, const struct mock_tensor_slot *slot)
{
    uint64_t value;
    memcpy(&value, message + slot->address_at, sizeof value);
    return (const void *)(uintptr_t)value;
}

/* Add the memory of one tensor to the launch; what makes it impossible, or NULL. */
static const char *inspect_tensor(const struct executor *executor, size_t index, int device,
                                  struct mock_launch *launch, bool *dense)
{
    const struct mock_tensor_slot *slot = &executor->slots[index];
    const struct tensor *tensor = mock_handle_get(slot->handle, MOCK_TENSOR);
    if (tensor == NULL) {
        launch->is_partial = true;
        return NULL; /* a cached executor goes on without it */
    }
    const char *name = argument_of(executor, slot->handle);
    const struct extent extent = extent_of(tensor);
    const void *address = address_in(launch->message, slot);
    if (extent.empty) {
        return NULL;
    }
    const bool is_output = mock_is_output(executor, slot->argument);
    const size_t item = mock_data_type_size(tensor->data_type);
    const uint64_t bytes = extent.too_large ? UINT64_MAX : extent.bytes;
    const char *refused =
        check_memory(name, device, address, extent.distance, bytes, MOCK_VIEW_OUT_OF_BOUNDS);
    if (refused != NULL) {
        return refused;
    }
    if (item > 0 && (uintptr_t)address % item != 0) {
        mock_violate(MOCK_ADDRESS_MISALIGNED, "device memory", address, NULL,
                     "%s has an address that is no multiple of its element's %zu bytes", name,
                     item);
    }
    dense[launch->range_count] = extent.dense;
    launch->ranges[launch->range_count++] =
        (struct mock_range){(const uint8_t *)address + extent.distance, extent.bytes,
                            is_output, false};
    return NULL;
}

/* Only dense views are compared: two that are not may lie between each other's elements. An output
 * may be exactly one of the inputs, unless it is known of the operator that it must lie apart; or
 * lie in one anyhow, where inputs may be more than what is read. */
static void check_overlap(const struct mock_launch *launch, const bool *dense,
                          const struct plan *plan)
{
    for (size_t i = 0; i < launch->range_count; i++) {
        for (size_t j = 0; j < launch->range_count; j++) {
            const struct mock_range *one = &launch->ranges[i], *other = &launch->ranges[j];
            const uintptr_t start = (uintptr_t)one->address, at = (uintptr_t)other->address;
            const bool same = start == at && one->bytes == other->bytes;
            const bool meet = start < at + other->bytes && at < start + one->bytes &&
                              (plan->apart || !same || other->written) &&
                              (!plan->bases || other->written);
            if (i != j && one->written && (!other->written || i < j) && dense[i] && dense[j] &&
                meet) {
                mock_violate(MOCK_TENSORS_OVERLAP, "device memory", one->address, NULL,
                             "%s of %llu bytes here overlaps %s at %p",
                             one->workspace ? "a workspace" : "an output",
                             (unsigned long long)one->bytes,
                             other->workspace ? "the workspace"
                             : other->written ? "another output"
                                              : "an input",
                             other->address);
                return;
            }
        }
    }
}

static const char *inspect(const struct executor *executor, const void *workspace, int device,
                           struct mock_launch *launch, bool *dense)
{
    const char *refused = NULL;
    for (size_t i = 0; i < executor->slot_count; i++) {
        const char *found = inspect_tensor(executor, i, device, launch, dense);
        refused = refused == NULL ? found : refused;
    }
    const uint64_t wanted = executor->plan.workspace_size;
    if (wanted > 0 && workspace != NULL) {
        const char *found =
            check_memory("the workspace", device, workspace, 0, wanted, MOCK_WORKSPACE_TOO_SMALL);
        refused = refused == NULL ? found : refused;
        if (found == NULL) {
            dense[launch->range_count] = true;
            launch->ranges[launch->range_count++] =
                (struct mock_range){workspace, wanted, true, true};
        }
    }
    check_overlap(launch, dense, &executor->plan);
    return refused;
}

bool mock_check_memory(const struct executor *executor, const void *workspace, int device,
                  struct mock_launch *launch)
{
    const size_t most = executor->slot_count + 1;
    launch->ranges = calloc(most, sizeof *launch->ranges);
    bool *dense = calloc(most, sizeof *dense);
    bool good = launch->ranges != NULL && dense != NULL;
    launch->spares_workspace = executor->plan.spares_workspace;
    if (good) {
        const char *reason = inspect(executor, workspace, device, launch, dense);
        if (reason != NULL) {
            launch->range_count = 0; /* it touches nothing */
            good = asprintf(&launch->refused, "EZ9999: AI Core exception in %s: %s",
                            executor->operator_name, reason) >= 0;
        }
    }
    if (!good) {
        free(launch->ranges);
    }
    free(dense);
    return good;
}
