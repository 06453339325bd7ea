/* SPDX-License-Identifier: Apache-2.0 */
/* Stream configurations: the live ones, and the ones destroyed last. */
#include "stream_config.h"

#include <stdlib.h>

#include "block_tree.h"
#include "violation.h"

/* RESTING: so many keep their memory, so that their addresses are not reused at once. */
enum { RESTING = 64 };

static struct blocks configurations;
static struct block *resting[RESTING];
static size_t destroyed;

aclrtStreamConfigHandle *mock_stream_config_new(void)
{
    struct block *block = calloc(1, sizeof *block);
    aclrtStreamConfigHandle *handle = block == NULL ? NULL : calloc(1, sizeof *handle);
    if (handle == NULL) {
        free(block);
        return NULL;
    }
    block->offset = (uint64_t)(uintptr_t)handle;
    block->size = block->requested = sizeof *handle;
    block->history.created = mock_origin_current();
    mock_blocks_add(&configurations, block);
    return handle;
}

static struct block *find(const aclrtStreamConfigHandle *handle)
{
    const uint64_t offset = (uint64_t)(uintptr_t)handle;
    struct block *block = mock_blocks_find(&configurations, offset);
    return block == NULL || block->offset != offset ? NULL : block;
}

static const struct block *find_destroyed(const aclrtStreamConfigHandle *handle)
{
    for (size_t i = 0; i < RESTING; i++) {
        if (resting[i] != NULL && resting[i]->offset == (uint64_t)(uintptr_t)handle) {
            return resting[i];
        }
    }
    return NULL;
}

bool mock_stream_config_check(const aclrtStreamConfigHandle *handle, bool destroying)
{
    static const char WHAT[] = "stream configuration";
    const struct block *before = find_destroyed(handle);
    if (find(handle) != NULL) {
        return true;
    }
    if (before == NULL) {
        mock_violate(MOCK_HANDLE_UNKNOWN, WHAT, handle, NULL,
                     "%p was given where a stream configuration belongs", (const void *)handle);
    } else {
        mock_violate(destroying ? MOCK_DESTROYED_TWICE : MOCK_HANDLE_DESTROYED, WHAT, handle,
                     &before->history, "this configuration was destroyed before");
    }
    return false;
}

void mock_stream_config_free(const aclrtStreamConfigHandle *handle)
{
    struct block *block = find(handle), **place = &resting[destroyed % RESTING];
    if (block == NULL) {
        return;
    }
    mock_blocks_remove(&configurations, block);
    block->history.destroyed = mock_origin_current();
    if (*place != NULL) {
        free((void *)(uintptr_t)(*place)->offset);
        free(*place);
    }
    *place = block;
    destroyed++;
}
