/* SPDX-License-Identifier: Apache-2.0 */
/* The call in progress of every thread. */
#include "frame.h"

static _Thread_local struct mock_frame *current;
static _Thread_local const char *told;

void mock_frame_push(struct mock_frame *frame)
{
    frame->outer = current;
    current = frame;
}

void mock_frame_pop(const struct mock_frame *frame)
{
    current = frame->outer;
}

struct mock_frame *mock_frame_current(void)
{
    return current;
}

const char *mock_frame_tell(const char *line)
{
    const char *before = told;
    told = line;
    return before;
}

struct mock_origin mock_origin_now(void)
{
    struct mock_origin origin = {NULL, NULL, told};
    if (current != NULL) {
        origin.function = current->function->name;
        origin.caller = current->caller;
    }
    return origin;
}
