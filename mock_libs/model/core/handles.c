/* SPDX-License-Identifier: Apache-2.0 */
/* Table of all handles of the simulated NPU, and their history. */
#include "handles.h"

#include <stdlib.h>

/* Layout of a handle: 0xAC, 0x80 | kind, generation (24 bits), slot (24 bits). As a pointer it
 * faults at once: bits 63 to 55 differ, which no x86-64 address may do, and on aarch64, which
 * ignores the top byte of an address, bit 55 alone puts it into the kernel's half. */
enum { SLOT_BITS = 24, GENERATION_BITS = 24 };
static const uint64_t TAG = 0xAC80ULL << 48;
static const uint64_t SLOT_MASK = (1ULL << SLOT_BITS) - 1;
static const uint64_t GENERATION_MASK = (1ULL << GENERATION_BITS) - 1;

/* A place is used again only after many others, so that stale handles keep their history. */
enum { RESTING = 1024 };

struct slot {
    void *object;
    uint32_t generation;
    uint32_t next_free; /* slot number plus one; 0 ends the list */
    enum mock_kind kind;
    bool reported;
    unsigned needed, needed_repeatable;
    enum mock_mark mark, mark_before;
    struct mock_history history, before; /* of this generation and of the one before it */
};

static struct slot *slots;
static size_t slot_count, slot_capacity, free_count;
static uint32_t first_free, last_free;

static void *encode(size_t index)
{
    const struct slot *slot = &slots[index];
    const uint64_t value = TAG | ((uint64_t)slot->kind << 48) |
                           ((uint64_t)slot->generation << SLOT_BITS) | (uint64_t)index;
    return (void *)(uintptr_t)value;
}

static struct slot *decode(const void *handle, enum mock_kind kind)
{
    const uint64_t value = (uint64_t)(uintptr_t)handle;
    const size_t index = (size_t)(value & SLOT_MASK);
    if (value >> 48 != ((TAG >> 48) | (uint64_t)kind) || index >= slot_count) {
        return NULL;
    }
    struct slot *slot = &slots[index];
    const uint64_t generation = (value >> SLOT_BITS) & GENERATION_MASK;
    const bool live = slot->object != NULL && slot->kind == kind && slot->generation == generation;
    return live ? slot : NULL;
}

static bool grow(void)
{
    const size_t capacity = slot_capacity == 0 ? 256 : slot_capacity * 2;
    if (capacity > SLOT_MASK + 1) {
        return false;
    }
    struct slot *larger = realloc(slots, capacity * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    slots = larger;
    slot_capacity = capacity;
    return true;
}

void *mock_handle_new(enum mock_kind kind, void *object)
{
    size_t index;
    if (free_count > RESTING) {
        index = first_free - 1;
        first_free = slots[index].next_free;
        free_count--;
    } else {
        if (slot_count == slot_capacity && !grow()) {
            return NULL;
        }
        index = slot_count++;
        slots[index] = (struct slot){0};
    }
    struct slot *slot = &slots[index];
    slot->object = object;
    slot->kind = kind;
    slot->reported = false;
    slot->needed = slot->needed_repeatable = 0;
    slot->mark = MOCK_UNMARKED;
    slot->history = (struct mock_history){.created = mock_origin_current()};
    return encode(index);
}

void *mock_handle_get(const void *handle, enum mock_kind kind)
{
    const struct slot *slot = decode(handle, kind);
    return slot == NULL ? NULL : slot->object;
}

void *mock_handle_close(const void *handle, enum mock_kind kind)
{
    struct slot *slot = decode(handle, kind);
    if (slot == NULL) {
        return NULL;
    }
    void *object = slot->object;
    slot->object = NULL;
    slot->history.destroyed = mock_origin_current();
    slot->before = slot->history;
    slot->mark_before = slot->mark;
    slot->generation = (slot->generation + 1) & (uint32_t)GENERATION_MASK;
    /* A slot whose generations are used up is retired: its numbers would come round again. */
    if (slot->generation != 0) {
        const uint32_t number = (uint32_t)(slot - slots) + 1;
        slot->next_free = 0;
        if (free_count++ == 0) {
            first_free = number;
        } else {
            slots[last_free - 1].next_free = number;
        }
        last_free = number;
    }
    return object;
}

void *mock_handle_exchange(const void *handle, enum mock_kind kind, void *object)
{
    struct slot *slot = decode(handle, kind);
    void *before = slot == NULL ? NULL : slot->object;
    if (slot != NULL) {
        slot->object = object;
    }
    return before;
}

enum mock_handle_state mock_handle_fate(const void *handle, enum mock_kind kind, enum mock_mark *mark,
                                struct mock_history *history)
{
    const uint64_t value = (uint64_t)(uintptr_t)handle;
    const size_t index = (size_t)(value & SLOT_MASK);
    const uint64_t actual = (value >> 48) - (TAG >> 48);
    *mark = MOCK_UNMARKED;
    *history = (struct mock_history){0};
    if (actual >= MOCK_KIND_COUNT || index >= slot_count) {
        return MOCK_UNKNOWN;
    }
    const struct slot *slot = &slots[index];
    const uint64_t generation = (value >> SLOT_BITS) & GENERATION_MASK;
    if (slot->object != NULL && slot->generation == generation) {
        *mark = slot->mark;
        *history = slot->history;
        return (uint64_t)kind == actual ? MOCK_LIVE : MOCK_OF_ANOTHER_KIND;
    }
    if (((generation + 1) & GENERATION_MASK) == slot->generation) {
        *mark = slot->mark_before;
        *history = slot->before;
    }
    return (uint64_t)kind == actual ? MOCK_DESTROYED : MOCK_OF_ANOTHER_KIND;
}

/* The live place of a handle of any kind, or NULL. */
static struct slot *live(const void *handle)
{
    const uint64_t kind = ((uint64_t)(uintptr_t)handle >> 48) - (TAG >> 48);
    return kind < MOCK_KIND_COUNT ? decode(handle, (enum mock_kind)kind) : NULL;
}

void mock_handle_mark(const void *handle, enum mock_mark mark)
{
    struct slot *slot = live(handle);
    if (slot != NULL) {
        slot->mark = mark;
    }
}

void mock_handle_add_users(const void *handle, int by, int repeatable_by)
{
    struct slot *slot = live(handle);
    if (slot != NULL) {
        slot->needed += (unsigned)by;
        slot->needed_repeatable += (unsigned)repeatable_by;
    }
}

unsigned mock_handle_users(const void *handle, bool repeatable)
{
    const struct slot *slot = live(handle);
    if (slot == NULL) {
        return 0;
    }
    return repeatable ? slot->needed_repeatable : slot->needed;
}

void mock_handles_visit(void (*visit)(const struct mock_live_object *living, void *data), void *data)
{
    for (size_t i = 0; i < slot_count; i++) {
        if (slots[i].object != NULL) {
            const struct mock_live_object living = {encode(i),       slots[i].object,  slots[i].kind,
                                               slots[i].mark,   &slots[i].history,
                                               &slots[i].reported};
            visit(&living, data);
        }
    }
}

const char *mock_kind_name(enum mock_kind kind)
{
    static const char *const NAMES[MOCK_KIND_COUNT] = {
        "context",      "stream",        "event",         "aclTensor",
        "aclScalar",    "aclIntArray",   "aclFloatArray", "aclBoolArray",
        "aclTensorList", "aclScalarList", "aclOpExecutor", "aclmdlRI",
        "physical_memory", "communicator", "notify",
        "aclDataBuffer", "aclTensorDesc", "aclopAttr", "label", "label_list",
    };
    return NAMES[kind];
}
