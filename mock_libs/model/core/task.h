/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of a stream. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"
#include "frame.h"

/* Memory that a queued task uses. */
struct mock_range {
    const void *address;
    uint64_t bytes;
    bool written, workspace;
};

/* The workspace's address, the bytes of it to poison, the number of the plan and that of the pieces
 * of memory to map precede the call in a message of MOCK_RUN. */
enum { MOCK_PREFIX = 32, MOCK_POISON_AT = 8 };

/* A kernel to queue: its message in a batch of MOCK_RUN, and the device memory it uses. */
struct mock_launch {
    uint8_t *message;
    size_t length;
    struct mock_range *ranges;
    size_t range_count;
    char *refused; /* why the kernel fails with 507015 without running, or NULL */
    const void **tensors; /* handles in the order of the message, whose shapes the kernel may determine */
    size_t tensor_count;
    void (*reshape)(const void *tensor, const int64_t *dims, uint32_t rank);
    bool spares_workspace; /* it neither reads nor writes its own */
    bool is_partial; /* the ranges lack the memory of a tensor that is gone */
    bool placed;   /* the message lists the mappings */
    size_t sent;   /* tasks of the batch that the device has, of which it is the first, or 0 */
    bool done;     /* the answer to a batch has its end */
};

/* Host tasks: work of another mock library in the order of a stream. */
struct mock_host_task {
    void *work;
    /* Advances the work without waiting; `wrong`: with wrong numbers. true: it is over, and
     * *failed is its status, whose text it owns. */
    bool (*run)(void *work, bool wrong, aclError *failed, const char **text);
    void (*end)(void *work); /* it is over, or the stream will never reach it */
    void *(*again)(void *work); /* new work like one that was captured; NULL: it cannot be */
    void (*queued)(void *work, void *stream, uint64_t position); /* or NULL; not if captured */
    struct mock_range *ranges;
    size_t range_count;
};

enum task_kind {
    TASK_KERNEL,
    TASK_HOST,
    TASK_COPY,
    TASK_FILL,
    TASK_RECORD,
    TASK_WAIT,
    TASK_RESET,
    TASK_CALLBACK,
    TASK_NOTIFY_RECORD,
    TASK_NOTIFY_WAIT,
    TASK_VALUE_WRITE,
    TASK_VALUE_WAIT,
    TASK_BRANCH
};

/* Change of a notify that holds a number, or condition of a wait for it. */
struct mock_counting {
    uint32_t mode, value;
    bool clear; /* the wait sets it to 0 */
};

/* A rectangle of bytes to copy; a plain copy is one row. */
struct copy {
    void *destination;
    const void *source;
    uint64_t width, height, destination_pitch, source_pitch;
};

struct lane;
struct event;
struct branch;

struct task {
    enum task_kind kind;
    struct task *next;
    uint64_t position; /* 1 is the first task of the stream */
    struct mock_origin origin;
    struct lane *lane; /* of a captured task */
    void *graph;       /* of a replayed one: handle of the graph, or NULL */
    enum mock_effect effect; /* an injected fault */
    aclError effect_code;
    uint64_t effect_generation;
    union {
        struct mock_launch kernel;
        struct mock_host_task errand;
        struct {
            struct copy copy;
            bool to_device, from_device;
            int reduction; /* aclrtReduceKind, with numbers of this type; 0: it is a plain copy */
            aclDataType type;
            bool checked; /* `sum` is the checksum of the host memory when the copy was queued */
            uint64_t sum;
            uint8_t *room; /* the place for what the device reads, or NULL */
            bool is_read; /* the device has, and the host has copied */
        } copy;
        struct {
            void *destination;
            uint64_t bytes;
            uint32_t pattern; /* four bytes, time and again */
            bool on_device;
        } fill;
        struct {
            void *event; /* handle: the event may be destroyed before the task runs */
            void *source;
            uint64_t position, records;
            bool other_process;     /* another process made the record that is waited for */
            struct event *retained; /* an event that may be shared lives as long as its tasks */
        } event;
        struct {
            aclrtCallback function;
            void *data;
            bool block, posted, done;
            bool host; /* for the context's own thread */
        } callback;
        struct {
            void *notify; /* handle */
            uint32_t seconds; /* a wait may take, or 0 */
            int64_t since;    /* when the stream reached it, or 0 */
            struct mock_counting counting;
        } notify;
        struct {
            void *address;
            uint64_t value;
            uint32_t condition;
        } value;
        const struct branch *branch; /* its graph's */
    } as;
};

/* The bytes from the first to the last of a rectangle; UINT64_MAX when that is no number. */
uint64_t mock_pitched_bytes(uint64_t width, uint64_t height, uint64_t pitch);
/* The range that a copy writes / reads. */
struct mock_range mock_copy_written(const struct copy *copy);
struct mock_range mock_copy_read(const struct copy *copy);
/* The memory of a task, as a list; `own` holds it where the task has no list of its own. */
size_t mock_task_ranges(const struct task *task, struct mock_range own[2],
                        const struct mock_range **ranges);
/* Give a task what another one is to do, and its origin and fault. false: no memory. */
bool mock_task_copy(struct task *task, const struct task *from);
/* Free what a task is to do. */
void mock_task_clear(struct task *task);
void mock_task_free(struct task *task);
