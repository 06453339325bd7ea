/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a device that has no address until it is mapped to one. */
#ifndef MOCK_PHYSICAL_H
#define MOCK_PHYSICAL_H

#include "device.h"
#include "acl/acl.h"

/* Both physical memory and its place among addresses are multiples of it. */
enum { MOCK_GRANULE = 2 << 20 };

struct physical {
    void *handle;
    struct device *device;
    struct physical *next; /* of the device */
    struct block *block;   /* of the device's heap */
    uint64_t source;       /* the number of the file it lies in; 0: the device's own */
    int descriptor;        /* that file, and where in it */
    uint64_t offset, bytes;
    unsigned mapped; /* to how many places */
    aclrtPhysicalMemProp property;
};

/* New memory of a device, or NULL: it has no so much, or the host no memory. */
struct physical *mock_physical_new(struct device *device, uint64_t bytes);
/* Ends its handle as well. */
void mock_physical_free(struct physical *physical);
/* The memory behind a handle, or NULL with the code in *status. */
struct physical *mock_physical_find(aclrtDrvMemHandle handle, aclError *status);

#endif
