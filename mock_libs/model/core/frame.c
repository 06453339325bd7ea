/* SPDX-License-Identifier: Apache-2.0 */
/* The call in progress of every thread. */
#include "frame.h"

static _Thread_local struct mock_frame *current;
static _Thread_local const char *python_line;
static _Thread_local const void *program; /* where the call that a recorder passes on comes from */
static _Thread_local bool of_recorder;

void mock_frame_begin(struct mock_frame *frame, struct mock_function *function, const void *caller)
{
    *frame = (struct mock_frame){
        .function = function,
        .caller = program != NULL ? program : caller,
        .recorded = of_recorder,
        .outer = current,
    };
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

void mock_frame_set_caller(const void *caller, bool recorded)
{
    program = caller;
    of_recorder = recorded;
}

struct mock_origin mock_origin_current(void)
{
    struct mock_origin origin = {.line = python_line};
    if (current != NULL) {
        origin.function = current->function->name;
        origin.caller = current->caller;
        origin.recorded = current->recorded;
    }
    return origin;
}
