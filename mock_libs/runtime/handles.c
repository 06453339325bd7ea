/* SPDX-License-Identifier: Apache-2.0 */
/* The table behind every handle the simulated NPU gives out. */
#include <stdlib.h>

#include "mock.h"

/* Layout of a handle: 0xAC, 0x80 | kind, generation (24 bits), slot (24 bits). As a pointer it
 * faults at once: bits 63 to 55 differ, which no x86-64 address may do, and on aarch64, which
 * ignores the top byte of an address, bit 55 alone puts it into the kernel's half. */
enum { SLOT_BITS = 24, GENERATION_BITS = 24 };
static const uint64_t TAG = 0xAC80ULL << 48;
static const uint64_t SLOT_MASK = (1ULL << SLOT_BITS) - 1;
static const uint64_t GENERATION_MASK = (1ULL << GENERATION_BITS) - 1;

struct slot {
    void *object;
    uint32_t generation;
    uint32_t next_free; /* slot number plus one; 0 ends the list */
    enum mock_kind kind;
};

static struct slot *slots;
static size_t slot_count, slot_capacity;
static uint32_t first_free;

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
    if (first_free != 0) {
        index = first_free - 1;
        first_free = slots[index].next_free;
    } else {
        if (slot_count == slot_capacity && !grow()) {
            return NULL;
        }
        index = slot_count++;
        slots[index].generation = 0;
    }
    slots[index].object = object;
    slots[index].kind = kind;
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
    slot->generation = (slot->generation + 1) & (uint32_t)GENERATION_MASK;
    /* A slot whose generations are used up is retired: its numbers would come round again. */
    if (slot->generation != 0) {
        slot->next_free = first_free;
        first_free = (uint32_t)(slot - slots) + 1;
    }
    return object;
}

const char *mock_kind_name(enum mock_kind kind)
{
    static const char *const NAMES[MOCK_KIND_COUNT] = {
        "context",      "stream",        "event",         "aclTensor",
        "aclScalar",    "aclIntArray",   "aclFloatArray", "aclBoolArray",
        "aclTensorList", "aclScalarList", "aclOpExecutor",
    };
    return NAMES[kind];
}
