/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of every exported function. */
#include "gate.h"

#include <errno.h>
#include <time.h>

#include "address_query.h"
#include "context.h"
#include "device_process.h"
#include "entry.h"
#include "error_message.h"
#include "fault.h"
#include "hccl/hccl_types.h"
#include "interrupt.h"

static void kill_device(void)
{
    mock_enter();
    const struct context *context = mock_current_context();
    if (context != NULL) {
        mock_process_kill(context->device);
    }
    mock_leave();
}

/* Outside of the lock: only the calling thread waits. */
static void inject_delay(struct mock_frame *frame)
{
    enum { MILLION = 1000000, NANO = 1000 };
    struct timespec left = {frame->code / MILLION, frame->code % MILLION * NANO};
    while (nanosleep(&left, &left) != 0 && errno == EINTR && !mock_interrupted()) {
    }
    mock_fault_count_effect(frame);
    frame->effect = MOCK_NO_EFFECT;
}

/* Apply the faults. true: one of them makes the call fail. */
static bool fail_by_fault(struct mock_frame *frame)
{
    if (!mock_faults_armed()) {
        return false;
    }
    mock_fault_decide(frame);
    if (frame->effect == MOCK_IS_SLOW) {
        inject_delay(frame);
    }
    if (frame->effect == MOCK_LOSES_DEVICE) {
        kill_device();
        mock_fault_count_effect(frame);
    }
    if (frame->effect != MOCK_FAILS) {
        return false;
    }
    mock_fault_count_effect(frame);
    mock_fail(frame->code, "a fault was injected into %s", frame->function->name);
    return true;
}

/* Check an argument. true: the call fails. */
static bool fail_by_argument(struct mock_frame *frame, const struct mock_argument *argument)
{
    if (argument->host && mock_is_device_address(argument->name, argument->value)) {
        frame->code = mock_fail(ACL_ERROR_INVALID_PARAM,
                                "%s: %s is %p, an address of device memory; it must be memory of "
                                "the host",
                                frame->function->name, argument->name, argument->value);
        return true;
    }
    if (argument->null_code != 0 && argument->value == NULL) {
        frame->code = mock_fail(argument->null_code, "%s%s is %s",
                                argument->null_code == HCCL_E_PTR ? "EI0003: " : "",
                                argument->name, argument->integer ? "0" : "NULL");
        return true;
    }
    return false;
}

bool mock_gate_open(struct mock_frame *frame, struct mock_function *function,
                    const struct mock_argument *arguments, size_t count, const void *caller)
{
    mock_frame_begin(frame, function, caller);
    bool fails = false;
    if (!frame->recorded) {
        atomic_fetch_add_explicit(&function->calls, 1, memory_order_relaxed);
        fails = fail_by_fault(frame);
    }
    for (size_t i = 0; !fails && i < count; i++) {
        fails = fail_by_argument(frame, &arguments[i]);
    }
    if (fails) {
        mock_frame_pop(frame);
        return true;
    }
    if (function->locked) {
        mock_enter();
    }
    return false;
}

int mock_gate_close(struct mock_frame *frame, int status)
{
    if (frame->function->locked) {
        mock_leave();
    }
    mock_frame_pop(frame);
    if (frame->effect != MOCK_FAILS_AFTER) {
        return status;
    }
    mock_fault_count_effect(frame);
    return mock_fail(frame->code, "a fault was injected into %s, after its work",
                     frame->function->name);
}
