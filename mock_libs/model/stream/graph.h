/* SPDX-License-Identifier: Apache-2.0 */
/* Captured graphs: the tasks of one stream or several, in the order of their capture. */
#pragma once

#include "task.h"

enum { MOCK_GRAPH_NAME = 128 };

/* A stream's part of a graph. */
struct lane {
    struct graph *graph;
    struct lane *next;
    void *captured; /* handle of the stream it was captured from */
    void *own;      /* handle of the graph's own stream on which it is replayed */
    uint64_t count; /* tasks */
    void *replayed; /* during a replay: handle of the stream, and its position before */
    uint64_t base;
    bool inactive;      /* of a graph that is built: nothing activates the stream yet */
    bool unbound;       /* of such a one: the stream is free again */
    bool group_begins;  /* a group of tasks was begun, with this position */
    uint64_t group_first;
};

/* Tasks of a part that are given other arguments together, by their positions. */
struct task_group {
    struct task_group *next;
    struct lane *lane;
    uint64_t first, last;
};

/* A block of memory that a captured task uses. */
struct memory_use {
    const void *address;
    uint64_t number;
    const char *function;
    const struct task *task;
};

/* Where a branch continues: the part, and the tasks of it that come before. */
struct target {
    struct lane *lane;
    uint64_t position;
};

/* A task after which parts of a graph begin: all of its targets, or one that values choose. */
struct branch {
    struct branch *next;
    struct lane *lane; /* of the task, at its position */
    uint64_t position;
    const void *left, *right; /* left NULL: all; right NULL: left is the index of the target */
    size_t bytes;             /* of each of them */
    aclrtCondition condition; /* the target is chosen if it holds */
    size_t count;
    struct target targets[];
};

struct graph {
    void *handle;
    void *context; /* its handle */
    uint32_t id;
    char name[MOCK_GRAPH_NAME];
    bool capturing;
    bool built, building, ended; /* by binding streams: see built_graph.c */
    struct branch *branches;
    struct task_group *groups;
    struct task_group *updates; /* its tasks are to take the place of those */
    aclError broken; /* why the capture cannot end well */
    aclmdlRICaptureMode mode;
    uint64_t thread;    /* which began the capture */
    struct graph *next; /* of those that are being captured */
    struct lane *lanes; /* the first is that of the stream on which the capture began */
    struct task *first, *last;
    struct memory_use *memory_uses;
    size_t memory_use_count, memory_use_capacity;
};

/* Without a lane, a handle or a context yet; NULL: no memory. */
struct graph *mock_graph_new(void);
/* The graph behind a handle, or NULL with the code in *status. */
struct graph *mock_graph_find(const void *handle, bool destroying, aclError *status);
/* Free what a graph holds, and ends its handle; its own streams are not freed. */
void mock_graph_free(struct graph *graph);
struct lane *mock_graph_add_lane(struct graph *graph, void *stream);
/* The lane that was captured from a stream. */
struct lane *mock_graph_lane(const struct graph *graph, const void *stream);
/* Put a task last. */
void mock_graph_add(struct lane *lane, struct task *task);
/* Let a task do nothing. */
void mock_graph_disable(struct task *task);
/* Exchange what two tasks do, and the memory that is recorded for the first one. */
void mock_graph_exchange(struct task *task, struct task *other);
/* Store which blocks of memory a task uses, which is complete now. */
void mock_graph_record_memory(const struct lane *lane, const struct task *task);
/* The number of the live block that holds an address, on a device or pinned; 0: there is none. */
uint64_t mock_block_number(const void *address);
