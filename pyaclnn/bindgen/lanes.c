/* SPDX-License-Identifier: Apache-2.0 */
/* Which submissions of which lanes need a block of memory. */
#include <pthread.h>

enum { MOST_USES = 4 };

/* Guards uses of blocks and counters of lanes: launches run without Python's lock. */
static pthread_mutex_t uses_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_lane;

/* A thread that is not there in a forked child may have held it. */
static void renew_lock(void)
{
    pthread_mutex_init(&uses_lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, renew_lock);
}

void binding_lane_open(struct binding_lane *lane)
{
    pthread_mutex_lock(&uses_lock);
    lane->id = ++last_lane;
    pthread_mutex_unlock(&uses_lock);
}

uint64_t binding_lane_mark(struct binding_lane *lane)
{
    pthread_mutex_lock(&uses_lock);
    const uint64_t mark = lane->in_progress != 0 ? lane->floor : lane->submitted;
    pthread_mutex_unlock(&uses_lock);
    return mark;
}

/* After this no launch takes the block any more; uses noted before are there to be read. */
void binding_block_close(struct binding_block *block)
{
    pthread_mutex_lock(&uses_lock);
    block->open = 0;
    pthread_mutex_unlock(&uses_lock);
}

/* Moves the notes of a block to the caller, who has room for all four. */
void binding_block_take(struct binding_block *block, struct binding_use *uses)
{
    pthread_mutex_lock(&uses_lock);
    memcpy(uses, block->uses, sizeof block->uses);
    memset(block->uses, 0, sizeof block->uses);
    pthread_mutex_unlock(&uses_lock);
}

/* Whether a block is open and no other lane has ever noted a use of it. */
int binding_block_is_of(const struct binding_block *block, const struct binding_lane *lane)
{
    int own = block->open && !block->shared;
    pthread_mutex_lock(&uses_lock);
    for (int i = 0; i < MOST_USES; i++) {
        own = own && (block->uses[i].lane == 0 || block->uses[i].lane == lane->id);
    }
    pthread_mutex_unlock(&uses_lock);
    return own;
}

/* The entry of a lane, else a free one, else NULL: four lanes use the block at a time. */
static struct binding_use *use_for(struct binding_block *block, uint64_t lane)
{
    struct binding_use *found = NULL;
    for (int i = MOST_USES; i-- > 0;) {
        struct binding_use *use = &block->uses[i];
        if (use->lane == lane) {
            return use;
        }
        if (use->lane == 0) {
            found = use;
        }
    }
    return found;
}

static void count_submission(struct binding_lane *lane)
{
    if (lane->in_progress++ == 0) {
        lane->floor = lane->submitted;
    }
    lane->submitted++;
}

static void note_use(struct binding_lane *lane, struct binding_block *block)
{
    struct binding_use *use = use_for(block, lane->id);
    use->lane = lane->id;
    use->submission = lane->submitted;
}

static int check_block(const struct binding_lane *lane, struct binding_block *block)
{
    if (!block->open) {
        return BINDING_CLOSED;
    }
    return use_for(block, lane->id) == NULL ? BINDING_BUSY : 0;
}

/* Counts a submission and notes that it uses blocks. Settle when it is queued. */
int binding_lane_reserve(struct binding_lane *lane, struct binding_block **blocks, size_t count)
{
    int status = 0;
    pthread_mutex_lock(&uses_lock);
    for (size_t i = 0; i < count && status == 0; i++) {
        status = check_block(lane, blocks[i]);
    }
    if (status == 0) {
        count_submission(lane);
        for (size_t i = 0; i < count; i++) {
            note_use(lane, blocks[i]);
        }
    }
    pthread_mutex_unlock(&uses_lock);
    return status;
}

static int reserve_tensors(struct binding_lane *lane, const struct binding_tensor *const *tensors,
                           uint32_t count)
{
    int status = 0;
    pthread_mutex_lock(&uses_lock);
    for (uint32_t i = 0; i < count && status == 0; i++) {
        status = tensors[i] == NULL ? 0 : check_block(lane, tensors[i]->block);
    }
    if (status == 0) {
        count_submission(lane);
        for (uint32_t i = 0; i < count; i++) {
            if (tensors[i] != NULL) {
                note_use(lane, tensors[i]->block);
            }
        }
    }
    pthread_mutex_unlock(&uses_lock);
    return status;
}

void binding_lane_settle(struct binding_lane *lane)
{
    pthread_mutex_lock(&uses_lock);
    lane->in_progress--;
    pthread_mutex_unlock(&uses_lock);
}
