/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a device that has no address until it is mapped to one. */
#pragma once

#include "acl/acl.h"
#include "device.h"

/* Both physical memory and its place among addresses are multiples of it. */
enum { MOCK_GRANULE = 2 << 20 };

struct physical {
    void *handle;
    struct device *device;
    struct physical *next; /* of the device */
    struct block *block;   /* of the device's heap; NULL: it was imported, */
    uint64_t number;       /* under this one */
    uint64_t source;       /* the number of the file it lies in; 0: the device's own */
    int descriptor;        /* that file, and where in it */
    uint64_t offset, bytes;
    unsigned mapped; /* to how many places */
    unsigned retained; /* handles beside the first that are to be freed */
    aclrtPhysicalMemProp property;
};

/* New memory of a device, or NULL: it has no so much, or the host no memory. */
struct physical *mock_physical_new(struct device *device, uint64_t bytes);
/* The same for memory in a file that is not the device's. */
struct physical *mock_physical_foreign(struct device *device, uint64_t source, int file,
                                       uint64_t offset, uint64_t bytes);
/* Also ends its handle. Memory that another process still uses stays allocated. */
void mock_physical_free(struct physical *physical, bool used_elsewhere);
/* The memory behind a handle, or NULL with the code in *status. */
struct physical *mock_physical_find(aclrtDrvMemHandle handle, aclError *status);
