/* SPDX-License-Identifier: Apache-2.0 */
/* The call in progress of every thread. */
#include "frame.h"

static _Thread_local struct mock_frame *current;
static _Thread_local const char *python_line;

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

const char *mock_frame_set_line(const char *line)
{
    const char *before = python_line;
    python_line = line;
    return before;
}

struct mock_origin mock_origin_current(void)
{
    struct mock_origin origin = {NULL, NULL, python_line};
    if (current != NULL) {
        origin.function = current->function->name;
        origin.caller = current->caller;
    }
    return origin;
}
