/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and what is queued on them. */
#pragma once

#include "context.h"
#include "task.h"

struct lane;

struct stream {
    void *handle;
    struct context *context;
    struct stream *next; /* in the context's list */
    struct stream *next_created; /* in the list of all streams, which is that of their making */
    bool stuck; /* the scheduler found it blocked */
    bool given_up; /* the last wait for it ended without its work, at a limit or by a signal */
    int32_t id;
    uint32_t flags, priority, tag, cache_op_info;
    struct task *first, *last;
    uint64_t submitted, executed;
    struct lane *lane; /* of the graph that captures it, or NULL */
    void *graph;       /* handle of the graph whose own stream this is, or NULL */
    void *reports_to;  /* of such a one: the stream that replays, whose failure is this one's */
    uint64_t awaited; /* a position that others than this program wait for */
    bool running; /* it is in the scheduler's chain of streams that wait for each other */
    struct stream *below;
    uint64_t target;
    struct stream *blocker; /* what its first task waits for, as found a moment ago, and how far */
    uint64_t blocker_position;
    aclError error;
    char error_text[1024];
    bool stop_on_failure;
    uint32_t overflow_switch;
    uint32_t core_limits[ACL_RT_DEV_RES_VECTOR_CORE + 1]; /* by kind of core; 0: not set */
};

struct stream *mock_stream_new(struct context *context);
/* The first of all streams; `younger` leads to the others. */
struct stream *mock_stream_first(void);
/* The first of them, but for one, that has a task queued which is one of those, and its position;
 * NULL: none has. */
struct stream *mock_stream_find_task(bool (*is)(const struct task *task, const void *what),
                                const void *what, const struct stream *but, uint64_t *position);
void mock_stream_delete(struct stream *stream);
/* Their number. */
size_t mock_stream_count(void);
/* Return whether any has work for which the program waits no longer. */
bool mock_stream_any_given_up(void);
/* The stream behind a handle, NULL: the current context's default stream. On failure NULL, and
 * *status holds the code. `same_context`: refuse a stream of another context. */
struct stream *mock_stream_find(aclrtStream handle, bool same_context, aclError *status);
/* Report that a stream belongs to another context than the current one. */
void mock_stream_report_foreign(const struct stream *stream, const struct context *context);

/* A task that is not queued yet, with its injected fault. NULL after mock_fail. */
struct task *mock_stream_task(enum task_kind kind);
/* Put a task last: into the queue or, of a stream that is captured, into the graph. */
void mock_stream_append(struct stream *stream, struct task *task);
/* Both; NULL after mock_fail, and *status holds the code. */
struct task *mock_stream_submit(struct stream *stream, enum task_kind kind, aclError *status);
/* The position of the task that this thread has queued last, or 0. */
uint64_t mock_stream_last_position(void);
/* Take the first task off the queue: it has run. */
void mock_stream_pop(struct stream *stream);
/* Drop a stream's queued work without running it; true: there was some. */
bool mock_stream_drop(struct stream *stream);
/* Set the failure of a stream, which the next query reports. */
void mock_stream_fail(struct stream *stream, aclError code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The failure to report now; a failure under ACL_CONTINUE_ON_FAILURE is reported once. */
aclError mock_stream_take_error(struct stream *stream);
/* Return whether queued work has not run. */
bool mock_stream_pending(const struct stream *stream);

/* The device of a stream (NULL: of the current context), or -1. */
int mock_stream_device(aclrtStream stream);
/* Mark a position of a stream that another process waits for. */
void mock_stream_set_awaited(aclrtStream stream, uint64_t position);
