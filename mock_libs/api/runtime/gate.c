/* SPDX-License-Identifier: Apache-2.0 */
/* What every exported function passes: calls are counted, faults take effect. */
#include "gate.h"

#include <errno.h>
#include <time.h>

#include "context.h"
#include "entry.h"
#include "fault.h"
#include "message.h"
#include "place.h"
#include "process.h"

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
static void dawdle(struct mock_frame *frame)
{
    enum { MILLION = 1000000, NANO = 1000 };
    struct timespec left = {frame->code / MILLION, frame->code % MILLION * NANO};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    mock_fault_took_effect(frame);
    frame->effect = MOCK_NO_EFFECT;
}

bool mock_gate_open(struct mock_frame *frame, struct mock_function *function, const void *caller)
{
    atomic_fetch_add_explicit(&function->calls, 1, memory_order_relaxed);
    *frame = (struct mock_frame){.function = function, .caller = caller};
    mock_frame_push(frame);
    if (!mock_faults_armed()) {
        return false;
    }
    mock_fault_decide(frame);
    if (frame->effect == MOCK_IS_SLOW) {
        dawdle(frame);
    }
    if (frame->effect == MOCK_LOSES_DEVICE) {
        kill_device();
        mock_fault_took_effect(frame);
    }
    if (frame->effect != MOCK_FAILS) {
        return false;
    }
    mock_fault_took_effect(frame);
    mock_frame_pop(frame);
    mock_fail(frame->code, "a fault was injected into %s", function->name);
    return true;
}

bool mock_gate_refuse(struct mock_frame *frame, const struct mock_pointer *pointers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (mock_is_beyond_the_host(pointers[i].name, pointers[i].value)) {
            mock_frame_pop(frame);
            frame->code = mock_fail(ACL_ERROR_INVALID_PARAM,
                                    "%s: %s is %p, an address of device memory; it must be memory "
                                    "of the host",
                                    frame->function->name, pointers[i].name, pointers[i].value);
            return true;
        }
    }
    return false;
}

int mock_gate_close(struct mock_frame *frame, int status)
{
    mock_frame_pop(frame);
    if (frame->effect != MOCK_FAILS_AFTER) {
        return status;
    }
    mock_fault_took_effect(frame);
    return mock_fail(frame->code, "a fault was injected into %s, after its work",
                     frame->function->name);
}
