/* SPDX-License-Identifier: Apache-2.0 */
/* Executors that are kept and run again, on the same tensors or on others in their place. */

enum { MAX_AXES = 25 };

static void empty(struct binding_plan *plan)
{
    free(plan->made);
    plan->made = plan->descriptors = NULL;
    plan->tensors = NULL;
    plan->kinds = plan->written = NULL;
    plan->made_count = plan->tensor_count = 0;
}

/* Room for what a plan keeps, in one piece. */
static int find_plan_room(struct binding_plan *plan, size_t made, size_t tensors)
{
    char *room = malloc((made + 2 * tensors + 1) * sizeof(void *) + made + tensors);
    if (room == NULL) {
        return BINDING_MEMORY;
    }
    plan->made = (void *)room;
    plan->descriptors = (void *)(room += made * sizeof(void *));
    plan->tensors = (void *)(room += tensors * sizeof(void *));
    plan->kinds = room += tensors * sizeof(void *);
    plan->written = room + made;
    return 0;
}

static void hand_over(struct call *call, struct binding_plan *plan)
{
    memcpy(plan->made, call->made, call->made_count * sizeof *plan->made);
    memcpy(plan->kinds, call->kinds, call->made_count);
    memcpy(plan->tensors, call->tensors, call->tensor_count * sizeof *plan->tensors);
    memcpy(plan->written, call->written, call->tensor_count);
    plan->made_count = call->made_count;
    plan->tensor_count = call->tensor_count;
    plan->listed = 0;
    uint32_t found = 0;
    for (uint32_t i = 0; i < call->made_count; i++) {
        const char kind = call->kinds[i];
        if (kind == 't' || kind == 'w') {
            plan->descriptors[found++] = call->made[i];
        } else if (kind == 'T' || kind == 'W') {
            plan->listed = 1;
        }
    }
    call->made_count = 0;
}

/* Keep the executor of phase 1. plan->repeatable is 0 if CANN refuses that. */
static void keep_executor(struct call *call, struct binding_plan *plan, void *executor, uint64_t size)
{
    plan->workspace_size = size;
    plan->phase2 = call->op->phase2;
    plan->routine = call->op->phase2_name;
    if (find_plan_room(plan, call->made_count, call->tensor_count) != 0) {
        discard(call, executor, BINDING_MEMORY);
        return;
    }
    const int refused = slots.aclSetAclOpExecutorRepeatable(executor);
    plan->repeatable = refused == 0;
    if (plan->repeatable) {
        plan->executor = executor;
        hand_over(call, plan);
        return;
    }
    empty(plan);
    if (refused == ACLNN_ERR_INNER) {
        slots.aclGetRecentErrMsg(); /* by this CANN refuses; it is no failure of the call */
        discard(call, executor, 0);
    } else {
        fail(refused, "aclSetAclOpExecutorRepeatable");
        slots.aclDestroyAclOpExecutor(executor);
        call->status = refused;
    }
}

/* Return whether a tensor can replace another: only the address differs. */
static int fits(const struct binding_tensor *tensor, const struct binding_tensor *bound)
{
    return tensor->layout == bound->layout && tensor->offset == bound->offset &&
           tensor->extent == bound->extent;
}

/* Return whether a tensor in the place of another overlaps one that is written, or is written
 * itself. */
static int would_overlap(const struct binding_plan *plan, uint64_t index,
                         const struct binding_tensor *tensor)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        if (i != index && (plan->written[i] || plan->written[index]) &&
            touches(tensor, plan->tensors[i])) {
            return 1;
        }
    }
    return 0;
}

static int set_address(const struct binding_plan *plan, uint64_t index,
                       const struct binding_tensor *tensor)
{
    const int status = slots.aclSetTensorAddr(plan->executor, index, plan->descriptors[index],
                                             tensor->block->address);
    return status == 0 ? 0 : fail(status, "aclSetTensorAddr");
}

/* Replace some, all or none of the tensors. Overlaps are checked unless the caller has judged
 * them, because it knows of several that change places. */
static int exchange(struct binding_plan *plan, int judged, uint32_t count, const char *message)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t index = word_at(message + (size_t)2 * i * WORD);
        const struct binding_tensor *tensor = address_at(message + ((size_t)2 * i + 1) * WORD);
        if (!tensor->block->open) {
            return BINDING_CLOSED;
        }
        if (plan->listed || index >= plan->tensor_count || !fits(tensor, plan->tensors[index])) {
            return BINDING_DIFFERS;
        }
        if (!judged && would_overlap(plan, index, tensor)) {
            return BINDING_OVERLAP;
        }
    }
    int status = 0;
    uint32_t done = 0;
    while (done < count && status == 0) {
        const uint64_t index = word_at(message + (size_t)2 * done * WORD);
        status = set_address(plan, index, address_at(message + ((size_t)2 * done + 1) * WORD));
        done += status == 0;
    }
    if (status == 0) {
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t index = word_at(message + (size_t)2 * i * WORD);
            plan->tensors[index] = address_at(message + ((size_t)2 * i + 1) * WORD);
        }
        return 0;
    }
    const struct binding_failure first = failure;
    while (done-- > 0) {
        const uint64_t index = word_at(message + (size_t)2 * done * WORD);
        if (set_address(plan, index, plan->tensors[index]) != 0) {
            status = BINDING_TORN;
        }
    }
    failure = first;
    return status;
}

/* Run the executor after replacing `count` of its tensors for good. The message has for each the
 * index that it replaces, and the address of its struct binding_tensor. */
static int run_plan(struct binding_plan *plan, struct binding_timeline *timeline, int judged,
                    uint32_t count, const char *message)
{
    void *previous, *workspace;
    struct binding_submission submission;
    if (plan->executor == NULL) {
        return BINDING_CLOSED;
    }
    int status = count == 0 ? 0 : exchange(plan, judged, count, message);
    if (status == 0) {
        status = reserve_tensors(timeline, &submission, plan->tensors, plan->written,
                                 plan->tensor_count);
    }
    if (status != 0) {
        return status;
    }
    status = take_workspace(timeline, plan->workspace_size, &workspace);
    if (status != 0) {
        failure.workspace_size = plan->workspace_size;
    } else {
        status = enter_context(timeline, &previous);
    }
    if (status == 0) {
        status = run_phase2(plan->phase2, plan->routine, workspace, plan->workspace_size,
                            plan->executor, timeline);
        status = leave_context(previous, status == 0 ? 0 : fail(status, plan->routine));
    }
    settle(timeline, &submission);
    return status;
}

/* ---- turns: plans are seldom shared, and then their threads wait in one place ------------- */

enum { FREE, BUSY, AWAITED };
static pthread_mutex_t turns_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns = PTHREAD_COND_INITIALIZER;

static void take_turn(struct binding_plan *plan)
{
    int found = FREE;
    if (__atomic_compare_exchange_n(&plan->busy, &found, BUSY, 0, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        return;
    }
    pthread_mutex_lock(&turns_lock);
    while (__atomic_exchange_n(&plan->busy, AWAITED, __ATOMIC_ACQUIRE) != FREE) {
        pthread_cond_wait(&turns, &turns_lock);
    }
    pthread_mutex_unlock(&turns_lock);
}

static void end_turn(struct binding_plan *plan)
{
    if (__atomic_exchange_n(&plan->busy, FREE, __ATOMIC_RELEASE) == AWAITED) {
        pthread_mutex_lock(&turns_lock);
        pthread_cond_broadcast(&turns);
        pthread_mutex_unlock(&turns_lock);
    }
}

int binding_plan_run(struct binding_plan *plan, struct binding_timeline *timeline)
{
    return binding_plan_run_on(plan, timeline, 0, NULL);
}

int binding_plan_run_with(struct binding_plan *plan, struct binding_timeline *timeline,
                          uint64_t index, const struct binding_tensor *tensor)
{
    const union {
        uint64_t words[2];
        char message[2 * WORD];
    } one = {{index, (uintptr_t)tensor}};
    take_turn(plan);
    const int status = run_plan(plan, timeline, 0, 1, one.message);
    end_turn(plan);
    return status;
}

int binding_plan_run_on(struct binding_plan *plan, struct binding_timeline *timeline,
                        uint32_t count, const char *message)
{
    take_turn(plan);
    const int status = run_plan(plan, timeline, 1, count, message);
    end_turn(plan);
    return status;
}

int binding_plan_close(struct binding_plan *plan)
{
    int status = 0;
    take_turn(plan);
    if (plan->executor != NULL) {
        status = slots.aclDestroyAclOpExecutor(plan->executor);
        plan->executor = NULL;
        if (status != 0) {
            fail(status, "aclDestroyAclOpExecutor");
            status = BINDING_UNTIDY;
        }
    }
    /* Nothing is left of a plan that is closed twice. */
    status = destroy_made(plan->made, plan->kinds, &plan->made_count, status);
    empty(plan);
    end_turn(plan);
    return status;
}

/* The shape that a tensor has now, of at most MAX_AXES axes. */
int binding_view_shape(const struct binding_plan *plan, uint32_t descriptor, int64_t *dims,
                       uint64_t *rank)
{
    int64_t *found = NULL;
    *rank = 0;
    const int status = slots.aclGetViewShape(plan->descriptors[descriptor], &found, rank);
    if (status != 0) {
        return fail(status, "aclGetViewShape");
    }
    for (uint64_t axis = 0; axis < *rank && axis < MAX_AXES; axis++) {
        dims[axis] = found[axis];
    }
    free(found); /* new[] of numbers is malloc */
    return 0;
}
