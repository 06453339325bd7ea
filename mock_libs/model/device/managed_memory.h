/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the host reaches at its device address. */
#pragma once

#include "device.h"

enum { MOCK_MANAGED_PAGE = 2 << 20 };

struct managed {
    struct managed *next;
    struct device *device;
    uint64_t session, bytes;
    uint8_t *address;
    bool read_mostly;
    uint64_t accessed_by; /* a bit a device */
    aclrtMemManagedLocation preferred, prefetched;
};

/* New memory of a device, of whole pages, or NULL. */
void *mock_managed_new(struct device *device, uint64_t requested, uint64_t bytes);
/* The managed memory that holds a range, or NULL with the code in *status. */
struct managed *mock_managed_find(const void *address, uint64_t bytes, aclError *status);
/* Memory is freed that may be managed: the host reaches it no longer. */
void mock_managed_end(const void *address);
