/* SPDX-License-Identifier: Apache-2.0 */
/* What the generated launchers share. A launcher makes the descriptors, runs phase 1, takes the
 * workspace of the timeline, runs phase 2 and destroys what it made; after a failure exactly what
 * exists. It allocates nothing itself. */

enum binding_kind { MADE_TENSOR, MADE_INT_ARRAY, MADE_FLOAT_ARRAY, MADE_BOOL_ARRAY };
enum { MOST_MADE = 48 };

/* One call in progress. */
struct launch {
    struct binding_timeline *timeline;
    void *previous; /* the thread's context, to be put back */
    const struct binding_tensor *const *tensors;
    uint32_t tensor_count, made_count;
    int status;
    void *made[MOST_MADE];
    unsigned char kinds[MOST_MADE];
};

static _Thread_local struct binding_failure failure;

struct binding_failure *binding_failure(void)
{
    return &failure;
}

/* ---- the thread's context ----------------------------------------------------------------- */

static int fail(int status, const char *routine)
{
    const char *text = slot_aclGetRecentErrMsg();
    failure.status = status;
    failure.routine = routine;
    failure.cause = 0;
    failure.text[0] = '\0';
    if (text != NULL) {
        strncpy(failure.text, text, sizeof failure.text - 1);
        failure.text[sizeof failure.text - 1] = '\0';
    }
    /* aclnn only says that something in the runtime failed; the thread's last error says what. */
    if (status == ACLNN_ERR_RUNTIME_ERROR && slot_aclrtPeekAtLastError != NULL) {
        failure.cause = slot_aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
    }
    return status;
}

static int enter_context(const struct binding_timeline *timeline, void **previous)
{
    void *current = NULL;
    const int none = slot_aclrtGetCurrentContext(&current);
    if (none == ACL_ERROR_RT_CONTEXT_NULL) {
        current = NULL;
        slot_aclGetRecentErrMsg(); /* having no context is no failure of this call */
    } else if (none != 0) {
        return fail(none, "aclrtGetCurrentContext");
    }
    if (current == timeline->context) {
        *previous = NULL;
        return 0;
    }
    *previous = current;
    const int status = slot_aclrtSetCurrentContext(timeline->context);
    return status == 0 ? 0 : fail(status, "aclrtSetCurrentContext");
}

/* What went wrong before goes before what fails here. */
static int leave_context(void *previous, int status)
{
    const int refused = previous == NULL ? 0 : slot_aclrtSetCurrentContext(previous);
    if (refused != 0 && status == 0) {
        fail(refused, "aclrtSetCurrentContext");
        return BINDING_UNTIDY;
    }
    return status;
}

/* ---- making and destroying ---------------------------------------------------------------- */

/* The status of destroying an object; *routine gets the function's name. */
static int destroy(void *object, unsigned char kind, const char **routine)
{
    switch (kind) {
    case MADE_TENSOR:
        *routine = "aclDestroyTensor";
        return slot_aclDestroyTensor(object);
    case MADE_INT_ARRAY:
        *routine = "aclDestroyIntArray";
        return slot_aclDestroyIntArray(object);
    case MADE_FLOAT_ARRAY:
        *routine = "aclDestroyFloatArray";
        return slot_aclDestroyFloatArray(object);
    default:
        *routine = "aclDestroyBoolArray";
        return slot_aclDestroyBoolArray(object);
    }
}

/* Destroys all, newest first. What the call itself had to say goes before what fails here, unless
 * it only has to be made again: then nothing is queued, and this is what ends it. */
static int destroy_made(void **made, const unsigned char *kinds, uint32_t *count, int status)
{
    while (*count > 0) {
        const char *routine;
        (*count)--;
        const int refused = destroy(made[*count], kinds[*count], &routine);
        if (refused != 0 && (status == 0 || status == BINDING_GROW)) {
            fail(refused, routine);
            status = status == 0 ? BINDING_UNTIDY : refused;
        }
    }
    return status;
}

static void *keep(struct launch *launch, void *object, enum binding_kind kind, const char *routine)
{
    if (object == NULL) {
        launch->status = fail(ACLNN_ERR_INNER, routine);
        return NULL;
    }
    launch->made[launch->made_count] = object;
    launch->kinds[launch->made_count++] = (unsigned char)kind;
    return object;
}

static aclTensor *make_tensor(struct launch *launch, const struct binding_tensor *tensor)
{
    if (tensor == NULL || launch->status != 0) {
        return NULL;
    }
    return keep(launch,
                slot_aclCreateTensor(tensor->dims, tensor->rank, (aclDataType)tensor->data_type,
                                     tensor->strides, tensor->element_offset, ACL_FORMAT_ND,
                                     &tensor->storage, 1, tensor->block->address),
                MADE_TENSOR, "aclCreateTensor");
}

static void *make_array(struct launch *launch, const struct binding_array *array,
                        enum binding_kind kind)
{
    if (array == NULL || launch->status != 0) {
        return NULL;
    }
    switch (kind) {
    case MADE_INT_ARRAY:
        return keep(launch, slot_aclCreateIntArray(array->values, array->count), kind,
                    "aclCreateIntArray");
    case MADE_FLOAT_ARRAY:
        return keep(launch, slot_aclCreateFloatArray(array->values, array->count), kind,
                    "aclCreateFloatArray");
    default:
        return keep(launch, slot_aclCreateBoolArray(array->values, array->count), kind,
                    "aclCreateBoolArray");
    }
}

/* ---- a launch ----------------------------------------------------------------------------- */

static uint64_t start_of(const struct binding_tensor *tensor)
{
    return (uint64_t)(uintptr_t)tensor->block->address + tensor->offset;
}

/* Whether the byte range of an output touches that of any other tensor. */
static int overlaps(const struct binding_tensor *const *tensors, uint32_t count, uint32_t output)
{
    const struct binding_tensor *mine = tensors[output];
    if (mine == NULL || mine->span == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct binding_tensor *other = tensors[i];
        if (i != output && other != NULL && other->span != 0 &&
            start_of(mine) < start_of(other) + other->span &&
            start_of(other) < start_of(mine) + mine->span) {
            return 1;
        }
    }
    return 0;
}

static int begin(struct launch *launch, struct binding_timeline *timeline,
                 const struct binding_tensor *const *tensors, uint32_t count, int first_output)
{
    for (uint32_t i = (uint32_t)first_output; i < count; i++) {
        if (overlaps(tensors, count, i)) {
            return BINDING_OVERLAP;
        }
    }
    const int refused = reserve_tensors(timeline, tensors, count);
    if (refused != 0) {
        return refused;
    }
    launch->timeline = timeline;
    launch->tensors = tensors;
    launch->tensor_count = count;
    launch->made_count = 0;
    launch->status = enter_context(timeline, &launch->previous);
    if (launch->status != 0) {
        binding_timeline_settle(timeline);
    }
    return launch->status;
}

static void hand_over(struct launch *launch, struct binding_plan *plan)
{
    plan->made_count = launch->made_count;
    memcpy(plan->made, launch->made, sizeof plan->made);
    memcpy(plan->kinds, launch->kinds, sizeof plan->kinds);
    plan->tensor_count = 0;
    uint32_t made = 0;
    for (uint32_t i = 0; i < launch->tensor_count; i++) {
        if (launch->tensors[i] == NULL) {
            continue;
        }
        while (launch->kinds[made] != MADE_TENSOR) {
            made++;
        }
        plan->descriptors[plan->tensor_count] = launch->made[made++];
        plan->tensors[plan->tensor_count++] = launch->tensors[i];
    }
    launch->made_count = 0;
}

/* An executor that will not be run. If it cannot be destroyed either, that is the answer. */
static void discard(struct launch *launch, aclOpExecutor *executor, int status)
{
    const int refused = slot_aclDestroyAclOpExecutor(executor);
    launch->status = refused == 0 ? status : fail(refused, "aclDestroyAclOpExecutor");
}

/* Phase 1 has answered; what follows is the same for every operator. */
static void proceed(struct launch *launch, struct binding_plan *plan, aclOpExecutor *executor,
                    uint64_t size, const char *routine,
                    int (*phase2)(void *, uint64_t, void *, void *))
{
    const struct binding_timeline *timeline = launch->timeline;
    if (plan != NULL) {
        plan->executor = executor;
        plan->phase2 = phase2;
        plan->routine = routine;
        plan->workspace_size = size;
        const int refused = slot_aclSetAclOpExecutorRepeatable(executor);
        plan->repeatable = refused == 0;
        if (plan->repeatable) {
            hand_over(launch, plan);
            return;
        }
        plan->executor = NULL;
        if (refused == ACLNN_ERR_INNER) {
            slot_aclGetRecentErrMsg(); /* by this CANN refuses; it is no failure of the call */
            discard(launch, executor, 0);
        } else {
            fail(refused, "aclSetAclOpExecutorRepeatable");
            slot_aclDestroyAclOpExecutor(executor);
            launch->status = refused;
        }
        return;
    }
    if (size > timeline->capacity) {
        failure.workspace_size = size;
        discard(launch, executor, BINDING_GROW);
        return;
    }
    /* Consumes the executor, whatever comes of it. */
    const int status = phase2(timeline->workspace, size, executor, timeline->stream);
    launch->status = status == 0 ? 0 : fail(status, routine);
}

static int end(struct launch *launch)
{
    const int status =
        destroy_made(launch->made, launch->kinds, &launch->made_count, launch->status);
    binding_timeline_settle(launch->timeline);
    return leave_context(launch->previous, status);
}

/* ---- plans -------------------------------------------------------------------------------- */

int binding_plan_run(struct binding_plan *plan, struct binding_timeline *timeline)
{
    void *previous;
    if (plan->workspace_size > timeline->capacity) {
        failure.workspace_size = plan->workspace_size;
        return BINDING_GROW;
    }
    int status = reserve_tensors(timeline, plan->tensors, plan->tensor_count);
    if (status != 0) {
        return status;
    }
    status = enter_context(timeline, &previous);
    if (status == 0) {
        status = plan->phase2(timeline->workspace, plan->workspace_size, plan->executor, timeline->stream);
        status = leave_context(previous, status == 0 ? 0 : fail(status, plan->routine));
    }
    binding_timeline_settle(timeline);
    return status;
}

/* index counts the tensors that are not NULL. The caller has compared the layouts. */
int binding_plan_bind(struct binding_plan *plan, uint32_t index, const struct binding_tensor *tensor)
{
    const struct binding_tensor *bound = plan->tensors[index];
    if (plan->executor == NULL || !tensor->block->open) {
        return BINDING_CLOSED;
    }
    if (tensor->offset != bound->offset || tensor->storage != bound->storage) {
        return BINDING_DIFFERS;
    }
    const int status = slot_aclSetTensorAddr(plan->executor, index, plan->descriptors[index],
                                             tensor->block->address);
    if (status != 0) {
        return fail(status, "aclSetTensorAddr");
    }
    plan->tensors[index] = tensor;
    return 0;
}

int binding_plan_close(struct binding_plan *plan)
{
    int status = 0;
    if (plan->executor != NULL) {
        status = slot_aclDestroyAclOpExecutor(plan->executor);
        plan->executor = NULL;
        if (status != 0) {
            fail(status, "aclDestroyAclOpExecutor");
            status = BINDING_UNTIDY;
        }
    }
    plan->tensor_count = 0;
    return destroy_made(plan->made, plan->kinds, &plan->made_count, status);
}
