/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of device memory, and the memory that comes from them. */
#include "pooled_memory.h"

#include <stdlib.h>

#include "error_message.h"

struct pooled {
    struct pooled *next;
    const void *address;
    size_t bytes;
    struct pool *pool;
};

static struct pool *pools;
static struct pooled *all;

struct pool *mock_pool_find(const void *handle, aclError *status)
{
    struct pool *pool = pools;
    while (pool != NULL && (pool != handle || pool->destroyed)) {
        pool = pool->next;
    }
    *status = pool != NULL ? ACL_SUCCESS
                           : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is no live pool", handle);
    return pool;
}

void mock_pool_add(struct pool *pool)
{
    pool->next = pools;
    pools = pool;
}

void mock_pool_end_if_unused(struct pool *pool)
{
    struct pool **link = &pools;
    if (!pool->destroyed || pool->values[ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT] > 0) {
        return;
    }
    while (*link != pool) {
        link = &(*link)->next;
    }
    *link = pool->next;
    free(pool);
}

static void count(struct pool *pool, int64_t bytes)
{
    enum { HIGH = ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH - ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT };
    static const int CURRENT[] = {ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT,
                                  ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT};
    for (size_t i = 0; i < sizeof CURRENT / sizeof CURRENT[0]; i++) {
        uint64_t *now = &pool->values[CURRENT[i]], *high = &pool->values[CURRENT[i] + HIGH];
        *now = (uint64_t)((int64_t)*now + bytes);
        *high = *now > *high ? *now : *high;
    }
}

bool mock_pooled_add(struct pool *pool, const void *address, size_t bytes)
{
    struct pooled *pooled = malloc(sizeof *pooled);
    if (pooled != NULL) {
        *pooled = (struct pooled){all, address, bytes, pool};
        all = pooled;
        count(pool, (int64_t)bytes);
    }
    return pooled != NULL;
}

static struct pooled **find(const void *address)
{
    struct pooled **link = &all;
    while (*link != NULL && (*link)->address != address) {
        link = &(*link)->next;
    }
    return link;
}

size_t mock_pooled_bytes(const void *address)
{
    const struct pooled *pooled = *find(address);
    return pooled == NULL ? 0 : pooled->bytes;
}

void mock_pooled_end(const void *address)
{
    struct pooled **link = find(address), *pooled = *link;
    if (pooled != NULL) {
        *link = pooled->next;
        count(pooled->pool, -(int64_t)pooled->bytes);
        mock_pool_end_if_unused(pooled->pool);
        free(pooled);
    }
}
