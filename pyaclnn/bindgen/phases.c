/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases of any operator, traced in Python if calls are traced. */

static int run_phase1(const struct binding_operator *op, const union binding_value *values,
                      uint64_t *size, void **executor)
{
    routine_now = op->phase1_name;
    const int status = op->invoke == NULL ? binding_by_convention(op, values, size, executor)
                                          : op->invoke(op, values, size, executor);
    routine_now = NULL;
    if (binding_tracing) {
        binding_traced_phase_1(op, values, size, executor, status);
    }
    return status;
}

static int run_phase2(void *phase2, const char *name, void *workspace, uint64_t size,
                      void *executor, const struct binding_timeline *timeline)
{
    union {
        void *address;
        aclnnStatus (*call)(void *, uint64_t, aclOpExecutor *, aclrtStream);
    } as = {phase2};
    routine_now = name;
    const aclnnStatus status = as.call(workspace, size, executor, timeline->stream);
    routine_now = NULL;
    if (binding_tracing) {
        const void *const arguments[] = {&workspace, &size, &executor, &timeline->stream};
        binding_traced(name, arguments, &status);
    }
    return status;
}
