/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of device memory, and the memory that comes from them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"

enum { MOCK_POOL_ATTRIBUTES = ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH + 1 };

struct pool {
    struct pool *next;
    int device;
    bool destroyed; /* it ends with its last memory */
    size_t most;    /* bytes, or 0: as many as the device has */
    uint64_t values[MOCK_POOL_ATTRIBUTES]; /* by attribute */
};

/* The live pool of a handle, or NULL with the code in *status. */
struct pool *mock_pool_find(const void *handle, aclError *status);
void mock_pool_add(struct pool *pool);
/* Free a pool that was destroyed, if no memory of it is left. */
void mock_pool_end_if_unused(struct pool *pool);
/* Memory comes from a pool; false: no host memory. */
bool mock_pooled_add(struct pool *pool, const void *address, size_t bytes);
/* The bytes of memory of a pool, or 0: it is none. */
size_t mock_pooled_bytes(const void *address);
/* Memory is freed that may be of a pool. */
void mock_pooled_end(const void *address);
