/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that the process sees, and their state. */
#include "device.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "error_message.h"
#include "variable.h"

static struct device devices[MOCK_MAX_DEVICES];

/* ASCEND_RT_VISIBLE_DEVICES when the library was loaded: like CANN, it does not look again. */
static char visible[256];
static bool restricted;

__attribute__((constructor)) static void read_visible(void)
{
    const char *list = getenv("ASCEND_RT_VISIBLE_DEVICES");
    restricted = list != NULL;
    snprintf(visible, sizeof visible, "%s", restricted ? list : "");
}

/* Ascending ids separated by commas. Reading stops at the first thing that is neither, or that is
 * no device; ids that repeat or descend spoil the whole list. */
static uint32_t count_visible(long physical)
{
    uint32_t count = 0;
    long previous = -1;
    const char *text = visible;
    while (isdigit((unsigned char)*text)) {
        char *end = NULL;
        const long id = strtol(text, &end, 10);
        if (id <= previous) {
            return 0;
        }
        if (id >= physical) {
            break;
        }
        previous = id;
        count++;
        if (*end != ',') {
            break;
        }
        text = end + 1;
    }
    return count;
}

/* The number of devices; if there is none, `code` and the reason. */
static aclError count_devices(uint32_t *count, aclError code)
{
    const long physical = mock_variable_number("PYACLNN_MOCK_DEVICES", 2, 0, MOCK_MAX_DEVICES);
    if (physical < 0) {
        return mock_fail(code,
                         "PYACLNN_MOCK_DEVICES is '%s'; it must be a number from 0 to %d",
                         getenv("PYACLNN_MOCK_DEVICES"), MOCK_MAX_DEVICES);
    }
    *count = restricted ? count_visible(physical) : (uint32_t)physical;
    if (*count == 0 && restricted) {
        return mock_fail(code,
                         "no usable device: ASCEND_RT_VISIBLE_DEVICES is '%s'; it must be "
                         "ascending ids below %ld, separated by commas",
                         visible, physical);
    }
    if (*count == 0) {
        return mock_fail(code, "no device: PYACLNN_MOCK_DEVICES is 0, a machine without any");
    }
    return ACL_SUCCESS;
}

aclError mock_device_count(uint32_t *count)
{
    return count_devices(count, ACL_ERROR_RT_NO_DEVICE);
}

int32_t mock_device_physical_count(void)
{
    const long physical = mock_variable_number("PYACLNN_MOCK_DEVICES", 2, 0, MOCK_MAX_DEVICES);
    return physical < 0 ? 0 : (int32_t)physical;
}

int32_t mock_device_physical_id(int32_t id)
{
    const int32_t physical = mock_device_physical_count();
    if (id < 0 || id >= (restricted ? (int32_t)count_visible(physical) : physical)) {
        return -1;
    }
    char *text = visible;
    for (int32_t before = 0; restricted && before < id; before++) {
        strtol(text, &text, 10);
        text++; /* the comma */
    }
    return restricted ? (int32_t)strtol(text, NULL, 10) : id;
}

struct device *mock_device_find(int32_t id)
{
    uint32_t count = 0;
    if (count_devices(&count, ACL_ERROR_RT_INVALID_DEVICEID) != ACL_SUCCESS) {
        return NULL;
    }
    if (id < 0 || (uint32_t)id >= count) {
        mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist: %u are visible", id,
                  count);
        return NULL;
    }
    devices[id].id = id;
    return &devices[id];
}

bool mock_device_exists(int32_t id)
{
    return mock_device_find(id) != NULL;
}

bool mock_device_memory(int id, struct mock_device_memory *memory)
{
    const struct device *device = &devices[id];
    *memory = (struct mock_device_memory){device->heap.descriptor, (uint64_t)(uintptr_t)device->heap.base,
                                          device->heap.bytes, device->session};
    return device->open && !device->lost;
}

const struct chip *mock_device_chip(void)
{
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) {
        if (devices[i].open) {
            return devices[i].chip;
        }
    }
    return mock_chip();
}

struct device *mock_device_by_heap_address(const void *address)
{
    const uint8_t *byte = address;
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) {
        const struct device *device = &devices[i];
        if (device->open && byte >= device->heap.base &&
            byte < device->heap.base + device->heap.bytes) {
            return &devices[i];
        }
    }
    return NULL;
}

static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;

bool mock_devices_may_contain(const void *address)
{
    return (uintptr_t)address >= atomic_load_explicit(&lowest, memory_order_relaxed) &&
           (uintptr_t)address < atomic_load_explicit(&highest, memory_order_relaxed);
}

void mock_devices_add_range(const void *first, uint64_t bytes)
{
    const uintptr_t start = (uintptr_t)first, end = start + bytes;
    if (start < lowest) {
        lowest = start;
    }
    if (end > highest) {
        highest = end;
    }
}

void mock_devices_visit(void (*visit)(struct device *device))
{
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) {
        if (devices[i].open) {
            visit(&devices[i]);
        }
    }
}

static void reach(struct device *device)
{
    mock_heap_reach(&device->heap, device->heap.base, device->heap.bytes);
}

void mock_devices_reach(void)
{
    mock_devices_visit(reach);
}

void mock_devices_visit_connected(void (*visit)(struct device *device))
{
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) {
        if (devices[i].channel.connected) {
            visit(&devices[i]);
        }
    }
}
