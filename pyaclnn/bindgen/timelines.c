/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of blocks of memory by submissions of timelines. */
#include <pthread.h>

enum { MAX_USES = 4 };

/* Guards uses of blocks and counters of timelines: launches run without Python's lock. */
static pthread_mutex_t uses_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_timeline;

/* A thread that is not there in a forked child may have held it. */
static void renew_lock(void)
{
    pthread_mutex_init(&uses_lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, renew_lock);
}

void binding_timeline_open(struct binding_timeline *timeline)
{
    pthread_mutex_lock(&uses_lock);
    timeline->id = ++last_timeline;
    pthread_mutex_unlock(&uses_lock);
}

/* The latest submission, and which up to there are not queued yet: of these the first ones, for which
 * there is room. Where there are more, it is the latest before the first one left out. */
uint64_t binding_timeline_mark(struct binding_timeline *timeline, uint64_t *open, size_t *count)
{
    const size_t room = *count;
    *count = 0;
    pthread_mutex_lock(&uses_lock);
    uint64_t mark = timeline->submitted;
    for (const struct binding_submission *at = timeline->earliest; at != NULL; at = at->next) {
        if (*count == room) {
            mark = at->number - 1;
            break;
        }
        open[(*count)++] = at->number;
    }
    pthread_mutex_unlock(&uses_lock);
    return mark;
}

/* From now on the submissions up to a mark are over. */
void binding_timeline_pass(struct binding_timeline *timeline, uint64_t mark)
{
    pthread_mutex_lock(&uses_lock);
    if (mark > timeline->passed) {
        timeline->passed = mark;
    }
    pthread_mutex_unlock(&uses_lock);
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

/* Return whether a block is open and no other timeline has ever recorded a use of it. */
int binding_block_is_of(struct binding_block *block, const struct binding_timeline *timeline)
{
    pthread_mutex_lock(&uses_lock);
    int own = block->open && !block->shared;
    for (int i = 0; i < MAX_USES; i++) {
        own = own && (block->uses[i].timeline == 0 || block->uses[i].timeline == timeline->id);
    }
    pthread_mutex_unlock(&uses_lock);
    return own;
}

/* The entry to record a use of bytes in, or NULL: there are four. An entry of the timeline whose
 * work has passed or whose bytes these overlap, else a free one, else any of the timeline. */
static struct binding_use *use_for(const struct binding_timeline *timeline,
                                   const struct binding_span *span)
{
    struct binding_use *unused = NULL, *own = NULL;
    for (int i = MAX_USES; i-- > 0;) {
        struct binding_use *use = &span->block->uses[i];
        if (use->timeline == timeline->id) {
            own = use;
            if (use->submission <= timeline->passed || span->first >= span->end ||
                (use->first < span->end && span->first < use->end)) {
                return use;
            }
        } else if (use->timeline == 0) {
            unused = use;
        }
    }
    return unused != NULL ? unused : own;
}

static void count_submission(struct binding_timeline *timeline,
                             struct binding_submission *submission)
{
    struct binding_submission *before = timeline->latest;
    *submission = (struct binding_submission){++timeline->submitted, before, NULL};
    *(before == NULL ? &timeline->earliest : &before->next) = submission;
    timeline->latest = submission;
}

/* Record that the latest submission uses bytes, and whether it writes them. Those that earlier ones
 * of the same entry use stay among them until these have passed. */
static void note_use(const struct binding_timeline *timeline, const struct binding_span *span,
                     int writes)
{
    struct binding_use *use = use_for(timeline, span);
    int more = use->submission > timeline->passed;
    use->first = more && use->first < span->first ? use->first : span->first;
    use->end = more && use->end > span->end ? use->end : span->end;
    use->timeline = timeline->id;
    use->submission = timeline->submitted;
    if (writes) {
        more = use->written > timeline->passed;
        const uint64_t first = use->first_written, end = use->end_written;
        use->first_written = more && first < span->first ? first : span->first;
        use->end_written = more && end > span->end ? end : span->end;
        use->written = timeline->submitted;
    }
}

static int check_span(const struct binding_timeline *timeline, const struct binding_span *span)
{
    if (!span->block->open) {
        return BINDING_CLOSED;
    }
    return use_for(timeline, span) == NULL ? BINDING_BUSY : 0;
}

static struct binding_span span_of(const struct binding_tensor *tensor)
{
    const uint64_t first = tensor->offset;
    return (struct binding_span){tensor->block, first, first + tensor->layout->span};
}

static int reserve_tensors(struct binding_timeline *timeline,
                           struct binding_submission *submission,
                           const struct binding_tensor *const *tensors, const char *written,
                           uint32_t count)
{
    int status = 0;
    pthread_mutex_lock(&uses_lock);
    for (uint32_t i = 0; i < count && status == 0; i++) {
        const struct binding_span span = span_of(tensors[i]);
        status = check_span(timeline, &span);
    }
    if (status == 0) {
        count_submission(timeline, submission);
        for (uint32_t i = 0; i < count; i++) {
            const struct binding_span span = span_of(tensors[i]);
            note_use(timeline, &span, written[i]);
        }
    }
    pthread_mutex_unlock(&uses_lock);
    return status;
}

/* It is queued; twice is once. */
static void settle(struct binding_timeline *timeline, struct binding_submission *submission)
{
    pthread_mutex_lock(&uses_lock);
    if (submission->number != 0) {
        struct binding_submission *before = submission->previous, *after = submission->next;
        *(before == NULL ? &timeline->earliest : &before->next) = after;
        *(after == NULL ? &timeline->latest : &after->previous) = before;
        submission->number = 0;
    }
    pthread_mutex_unlock(&uses_lock);
}

/* The workspace for a submission that is counted and not settled. One that is replaced from now on
 * is kept for it: see below. */
static int take_workspace(struct binding_timeline *timeline, uint64_t size, void **workspace)
{
    *workspace = NULL;
    if (size == 0) {
        return 0;
    }
    pthread_mutex_lock(&uses_lock);
    const int small = size > timeline->capacity;
    if (!small) {
        *workspace = timeline->workspace;
    }
    pthread_mutex_unlock(&uses_lock);
    return small ? BINDING_GROW : 0;
}

/* Returns the submission up to which the old workspace is needed. */
uint64_t binding_timeline_replace(struct binding_timeline *timeline, void *workspace,
                                  uint64_t capacity)
{
    pthread_mutex_lock(&uses_lock);
    timeline->workspace = workspace;
    timeline->capacity = capacity;
    const uint64_t submitted = timeline->submitted;
    pthread_mutex_unlock(&uses_lock);
    return submitted;
}

/* Counts a submission and notes which bytes of blocks it uses, and whether it writes the first. */
int binding_submission_begin(struct binding_timeline *timeline, const struct binding_span *spans,
                             size_t count, int writes, struct binding_submission *submission)
{
    int status = 0;
    pthread_mutex_lock(&uses_lock);
    for (size_t i = 0; i < count && status == 0; i++) {
        status = check_span(timeline, &spans[i]);
    }
    if (status == 0) {
        count_submission(timeline, submission);
        for (size_t i = 0; i < count; i++) {
            note_use(timeline, &spans[i], writes && i == 0);
        }
    }
    pthread_mutex_unlock(&uses_lock);
    return status;
}

void binding_submission_end(struct binding_timeline *timeline,
                            struct binding_submission *submission)
{
    settle(timeline, submission);
}
