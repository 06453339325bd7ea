/* SPDX-License-Identifier: Apache-2.0 */
/* Table of all handles of the simulated NPU, and their history. */
#pragma once

#include "frame.h"

enum mock_kind {
    MOCK_CONTEXT,
    MOCK_STREAM,
    MOCK_EVENT,
    MOCK_TENSOR,
    MOCK_SCALAR,
    MOCK_INT_ARRAY,
    MOCK_FLOAT_ARRAY,
    MOCK_BOOL_ARRAY,
    MOCK_TENSOR_LIST,
    MOCK_SCALAR_LIST,
    MOCK_EXECUTOR,
    MOCK_GRAPH,
    MOCK_PHYSICAL,
    MOCK_COMMUNICATOR,
    MOCK_NOTIFY,
    MOCK_DATA_BUFFER,
    MOCK_TENSOR_DESC,
    MOCK_OP_ATTR,
    MOCK_LABEL,
    MOCK_LABEL_LIST,
    MOCK_KIND_COUNT
};

/* State of a handle beside its object. */
enum mock_mark {
    MOCK_UNMARKED,
    MOCK_MARK_USED,       /* executor: phase 2 consumed it */
    MOCK_MARK_FAILED,     /* executor: phase 2 failed and consumed it */
    MOCK_MARK_REPEATABLE, /* executor: phase 2 leaves it alive */
    MOCK_MARK_REFUSED,   /* executor: refused to be repeatable, and phase 2 consumed it */
    MOCK_MARK_LISTED      /* destroyed as the element of a list */
};

struct mock_history {
    struct mock_origin created, destroyed; /* function NULL: not known, or not yet */
};

enum mock_handle_state { MOCK_LIVE, MOCK_DESTROYED, MOCK_OF_ANOTHER_KIND, MOCK_UNKNOWN };

/* A handle is a number that looks like a pointer and faults when dereferenced; a number is never
 * reused, so a stale handle is recognised and not mistaken for a newer object. NULL from
 * mock_handle_new: out of memory; from the others: not a live handle of that kind. */
void *mock_handle_new(enum mock_kind kind, void *object);
void *mock_handle_get(const void *handle, enum mock_kind kind);
void *mock_handle_close(const void *handle, enum mock_kind kind);
/* Put another object behind a live handle; gives the one before. */
void *mock_handle_exchange(const void *handle, enum mock_kind kind, void *object);
const char *mock_kind_name(enum mock_kind kind);

/* The state of a handle, where one of a kind is expected. *mark and *history are filled in as
 * far as they are known. */
enum mock_handle_state mock_handle_fate(const void *handle, enum mock_kind kind, enum mock_mark *mark,
                                struct mock_history *history);
void mock_handle_mark(const void *handle, enum mock_mark mark);
/* The number of executors that need a live handle; those that are repeatable. Changed by `by`. */
void mock_handle_add_users(const void *handle, int by, int repeatable_by);
unsigned mock_handle_users(const void *handle, bool repeatable);

struct mock_live_object {
    const void *handle;
    const void *object;
    enum mock_kind kind;
    enum mock_mark mark;
    const struct mock_history *history;
    bool *reported; /* as still alive, so that it is reported once */
};

/* Look at every live handle. The visitor may not make or close handles. */
void mock_handles_visit(void (*visit)(const struct mock_live_object *living, void *data), void *data);
