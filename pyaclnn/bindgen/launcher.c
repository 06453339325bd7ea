/* SPDX-License-Identifier: Apache-2.0 */
/* A launch: makes what the operator takes, runs phase 1, takes the workspace of the timeline, runs
 * phase 2 and destroys what it made; after a failure exactly what exists. */

static void run(struct call *call, void *executor, uint64_t size)
{
    void *workspace;
    const int small = take_workspace(call->timeline, size, &workspace);
    if (small != 0) {
        failure.workspace_size = size;
        discard(call, executor, small);
        return;
    }
    /* Consumes the executor, whatever comes of it. */
    const int status = run_phase2(call->op->phase2, call->op->phase2_name, workspace, size, executor,
                                  call->timeline);
    call->status = status == 0 ? 0 : fail(status, call->op->phase2_name);
}

/* Runs the executor, and keeps what was made for it. */
static void run_once(struct call *call, struct binding_plan *plan, void *executor, uint64_t size)
{
    if (find_plan_room(plan, call->made_count, call->tensor_count) != 0) {
        discard(call, executor, BINDING_MEMORY);
        return;
    }
    run(call, executor, size);
    if (call->status == 0) {
        hand_over(call, plan);
    } else {
        empty(plan);
    }
}

int binding_launch(const struct binding_operator *op, struct binding_timeline *timeline,
                   struct binding_plan *plan, int judged, const char *message)
{
    struct call call;
    call.op = op;
    call.timeline = timeline;
    call.message = message;
    call.status = begin(&call, judged);
    if (call.status != 0) {
        return call.status;
    }
    uint64_t size = 0;
    void *executor = NULL;
    make_all(&call);
    if (call.status == 0) {
        const int status = run_phase1(op, call.values, &size, &executor);
        call.status = status == 0 ? 0 : fail(status, op->phase1_name);
    }
    if (call.status == 0 && plan != NULL && plan->once) {
        run_once(&call, plan, executor, size);
    } else if (call.status == 0 && plan != NULL) {
        keep_executor(&call, plan, executor, size);
    } else if (call.status == 0) {
        run(&call, executor, size);
    }
    end(&call);
    return call.status;
}
