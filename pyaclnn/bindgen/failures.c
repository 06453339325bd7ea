/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of launches for Python, and the thread's context during a launch. */

static _Thread_local struct binding_failure failure;

struct binding_failure *binding_failure(void)
{
    return &failure;
}

static int fail(int status, const char *routine)
{
    const char *text = slots.aclGetRecentErrMsg();
    failure.status = status;
    failure.routine = routine;
    failure.cause = 0;
    failure.text[0] = '\0';
    if (text != NULL) {
        strncpy(failure.text, text, sizeof failure.text - 1);
        failure.text[sizeof failure.text - 1] = '\0';
    }
    /* aclnn only reports that the runtime failed; the thread's last error is the cause. */
    if (status == ACLNN_ERR_RUNTIME_ERROR && slots.aclrtPeekAtLastError != NULL) {
        failure.cause = slots.aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
    }
    return status;
}

static int enter_context(const struct binding_timeline *timeline, void **previous)
{
    void *current = NULL;
    const int none = slots.aclrtGetCurrentContext(&current);
    if (none == ACL_ERROR_RT_CONTEXT_NULL) {
        current = NULL;
        slots.aclGetRecentErrMsg(); /* having no context is no failure of this call */
    } else if (none != 0) {
        return fail(none, "aclrtGetCurrentContext");
    }
    if (current == timeline->context) {
        *previous = NULL;
        return 0;
    }
    *previous = current;
    const int status = slots.aclrtSetCurrentContext(timeline->context);
    return status == 0 ? 0 : fail(status, "aclrtSetCurrentContext");
}

/* An earlier failure takes precedence over one here. */
static int leave_context(void *previous, int status)
{
    const int refused = previous == NULL ? 0 : slots.aclrtSetCurrentContext(previous);
    if (refused != 0 && status == 0) {
        fail(refused, "aclrtSetCurrentContext");
        return BINDING_UNTIDY;
    }
    return status;
}

/* Gives back the object in a slot, if there is one: once, however often it is tried. */
int binding_give_back(void **slot, int (*function)(void *))
{
    void *object = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL);
    return object == NULL ? 0 : function(object);
}

/* Open the resource of a number and record it as held, or release it and clear the record: once,
 * however often it is tried. */
int binding_hold(int *held, int wanted, int (*function)(int32_t), int32_t number)
{
    if (__atomic_exchange_n(held, wanted, __ATOMIC_ACQ_REL) == wanted) {
        return 0;
    }
    const int status = function(number);
    if (status != 0 && wanted) {
        *held = 0;
    }
    return status;
}
