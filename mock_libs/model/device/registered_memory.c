/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory registered for a device. */
#include "registered_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "address_space.h"
#include "error_message.h"
#include "pinned_memory.h"

/* No number of shared memory has this bit. */
#define REGISTERED (UINT64_C(1) << 63)

static struct registered *all;
static uint64_t last_number;

struct registered *mock_registered_find(const void *host, uint64_t bytes)
{
    const uint8_t *start = host;
    struct registered *each = all;
    while (each != NULL && (start >= each->host + each->bytes || start + bytes <= each->host)) {
        each = each->next;
    }
    return each;
}

void *mock_registered_device_address(const struct registered *registered, const void *host)
{
    return mock_space_imported(registered->number)->base +
           ((const uint8_t *)host - registered->host);
}

static struct registered *fail(struct registered *registered, const char *why)
{
    mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%p cannot be registered: %s",
              (void *)registered->host, why);
    free(registered);
    return NULL;
}

/* Let the pages lie in the device's file, at the address that they have. 0, or errno. */
static int share(struct registered *registered, bool writable)
{
    struct device *device = registered->device;
    struct physical *physical = mock_physical_new(device, registered->bytes);
    if (physical == NULL) {
        return ENOMEM;
    }
    physical->number = registered->number;
    void *address = mock_space_import(physical);
    if (address == NULL) {
        const int error = errno;
        mock_physical_free(physical, false);
        return error;
    }
    struct reservation *space = mock_space_imported(registered->number);
    struct mapping *mapping = mock_space_mapping_at(space, 0);
    mapping->access[device->id] =
        MOCK_ACCESS_SET | (writable ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_READ);
    memcpy(space->alias, registered->host, registered->bytes);
    if (mmap(registered->host, registered->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             physical->descriptor, (off_t)physical->offset) == MAP_FAILED) {
        const int error = errno;
        mock_space_import_end(space);
        return error;
    }
    return 0;
}

struct registered *mock_registered_new(struct device *device, void *host, uint64_t bytes,
                                       bool mapped, bool writable)
{
    struct registered *registered = calloc(1, sizeof *registered);
    if (registered == NULL) {
        return NULL;
    }
    *registered = (struct registered){
        .host = host, .bytes = bytes, .device = device, .next = all,
        .number = mapped ? REGISTERED | ++last_number : 0,
    };
    if (!mock_pinned_register(host, bytes)) {
        return fail(registered, "no host memory is left");
    }
    const int error = mapped ? share(registered, writable) : 0;
    if (error != 0) {
        mock_pinned_unregister(host);
        return fail(registered, strerror(error));
    }
    all = registered;
    return registered;
}

/* Private pages take the place of shared ones at once, as other threads may be reading them. */
static void unshare(const struct registered *registered)
{
    void *pages = mmap(NULL, registered->bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
        memcpy(pages, registered->host, registered->bytes);
        mremap(pages, registered->bytes, registered->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
               registered->host);
    }
    mock_space_import_end(mock_space_imported(registered->number));
}

void mock_registered_end(struct registered *registered)
{
    struct registered **link = &all;
    while (*link != registered) {
        link = &(*link)->next;
    }
    *link = registered->next;
    if (registered->number != 0) {
        unshare(registered);
    }
    mock_pinned_unregister(registered->host);
    free(registered);
}

void mock_registered_close(const struct device *device)
{
    for (struct registered *each = all, *next; each != NULL; each = next) {
        next = each->next;
        if (each->device == device) {
            mock_registered_end(each);
        }
    }
}
