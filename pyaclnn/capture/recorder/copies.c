/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tensors, on the stream of their operator. */
#include "copies.h"

#include <pthread.h>
#include <stdlib.h>

#include "drain.h"
#include "graphs.h"
#include "images.h"
#include "pending.h"
#include "waits.h"

/* Copies on their way that no other is added to. */
static const struct capture_amount MOST = {4096, 256 << 20};

/* Until copies have become many, the program waits for nothing that it does not wait for without the
 * recorder: what a stream does next may be up to the thread that would wait. Copies go to memory of the
 * recorder, and are queued with the operator whose tensors they read. So when a program may free these,
 * since it knows that the operator has ended, the copies have arrived: at a free there is nothing to do,
 * though aclrtFree waits for no stream. Where the recorder waits all the same, it gives up after a time. */

static struct capture_place place_of_thread(void)
{
    struct capture_place place = {.context = capture_context()};
    capture_call(CAPTURE_GET_DEVICE, capture_address(&place.device), 0, 0, 0, 0, 0);
    return place;
}

/* CANN may take its memory back when the process ends: before that, nobody may need it any more. */
static void watch_exit(void)
{
    atexit(capture_end_waits);
}

static void copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                        enum capture_phase phase, struct capture_place place)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (capture_is_empty(&of->tensor)) {
        return;
    }
    const char *reason = capture_obstacle(&of->tensor);
    reason = reason == NULL && capture_is_pending(MOST) ? "too many copies on their way" : reason;
    struct capture_pending *made = reason != NULL ? NULL : capture_memory(NULL, sizeof *made);
    if (made != NULL) {
        *made = (struct capture_pending){.call = call, .stream = stream, .of = *of, .place = place};
        made->phase = phase;
        made->full = capture_is_in_full(of->function);
        made->image = capture_image_of(&of->tensor, stream, place.context, phase, &made->size,
                                       &reason);
    }
    if (reason != NULL) {
        capture_write_absence(call, of, phase, reason);
    }
    if (made != NULL && made->image != NULL) {
        pthread_once(&once, watch_exit);
        capture_append_pending(made);
    } else {
        free(made);
    }
}

void capture_copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                         enum capture_phase phase)
{
    copy_tensor(of, call, stream, phase, place_of_thread());
}

void capture_copy_operands(uint64_t call, const struct capture_operands *of, uint64_t stream,
                          enum capture_phase phase)
{
    if (of == NULL || capture_graph_takes(stream)) {
        return;
    }
    if (phase == CAPTURE_BEFORE) { /* not behind them: they are written in full if the call fails */
        capture_drain(stream);
    }
    const struct capture_place place = place_of_thread();
    for (uint32_t i = 0; i < of->count; i++) {
        if (phase == CAPTURE_BEFORE ? of->list[i].read : of->list[i].written) {
            copy_tensor(&of->list[i], call, stream, phase, place);
        }
    }
    if (phase == CAPTURE_AFTER) {
        capture_drain(stream);
    }
}
