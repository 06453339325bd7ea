/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of the simulated runtime and the functions its files share. The lock is held. */
#ifndef MOCK_RUNTIME_STATE_H
#define MOCK_RUNTIME_STATE_H

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#include "mock.h"
#include "rule_numbers.inc"

/* ---- small locks -------------------------------------------------------------------------- */

/* What is needed without the lock of mock_enter has one of its own: the tables of functions, the
 * faults, the violations. Whoever holds one takes no other; a fork takes all of them. */
extern pthread_mutex_t mock_gate_lock, mock_fault_lock, mock_violation_lock;

/* ---- chip --------------------------------------------------------------------------------- */

struct chip {
    const char *soc_name, *family;
    uint64_t memory_bytes;
    int ai_cores, vector_cores;
    uint32_t streams, events;
};

/* The chip that PYACLNN_MOCK_SOC names, or NULL when it names none (mock_fail has been told). */
const struct chip *mock_chip(void);

/* ---- device ------------------------------------------------------------------------------- */

struct allocation {
    uint64_t offset, size, requested;
    struct mock_history history;
};

enum { MOCK_FREED_BLOCKS = 256 };

/* Live allocations of a device, sorted by offset, and the last ones that were freed. */
struct heap {
    struct allocation *items;
    size_t count, capacity;
    uint64_t used, limit;
    struct allocation freed[MOCK_FREED_BLOCKS];
    size_t freed_count; /* ever */
};

struct device {
    int id;
    bool open, lost;
    bool reported; /* as not reset, so that it is said once */
    const char *loss; /* why it is lost */
    const struct chip *chip;
    unsigned references; /* aclrtSetDevice minus aclrtResetDevice */
    unsigned contexts;   /* explicit contexts alive */
    struct context *primary;
    uint64_t memory_bytes;
    uint8_t *base;  /* the addresses handed out: reserved, without access */
    uint8_t *alias; /* the same memory, for the runtime's own copies */
    int memory_fd, socket;
    pid_t process;
    uint8_t *answer;
    size_t answer_capacity;
    uint32_t streams, events; /* alive, against the chip's limits */
    struct heap heap;
};

/* Devices as the caller numbers them, after ASCEND_RT_VISIBLE_DEVICES. */
aclError mock_device_total(uint32_t *count);
struct device *mock_device_find(int32_t id);
void mock_devices_each(void (*visit)(struct device *device)); /* the open ones */
/* Opens a device for a new reference or context / closes it when the last one is gone. */
aclError mock_device_open(struct device *device);
void mock_device_close_if_idle(struct device *device);
/* 0, or the code of a lost device: looks whether the device process is still there. */
aclError mock_device_alive(struct device *device);
/* Kills the process of the calling thread's current device, as a fault. */
void mock_device_kill(void);

/* Fills a buffer of PATH_MAX bytes with the interpreter that runs the device process. */
void mock_find_python(char *python);
aclError mock_process_start(struct device *device);
void mock_process_stop(struct device *device);
/* What a forked child does with the devices of its parent. */
void mock_process_forked(void);

/* ---- heap --------------------------------------------------------------------------------- */

enum { MOCK_FRESH = 0x7FFF, MOCK_FREED = 0xFFFE };

bool mock_heap_allocate(struct device *device, uint64_t size, uint64_t requested, void **address);
bool mock_heap_free(struct device *device, const void *address);
const struct allocation *mock_heap_find(const struct device *device, const void *address);
/* The block freed last that held an address, or NULL. */
const struct allocation *mock_heap_freed(const struct device *device, const void *address);
/* The device whose address range holds an address, or NULL: the address is a host address. */
struct device *mock_device_of(const void *address);
/* Where the runtime reaches an address of an open device, allocated or not; a host address as
 * it is. */
void *mock_alias(const void *address);
/* Where the runtime itself reaches `bytes` bytes at an address: the alias of device memory inside
 * one live allocation, or a host address as it is. NULL: outside every live allocation. */
void *mock_reach(const void *address, uint64_t bytes);
/* Whether a range lies in one block from aclrtMallocHost. */
bool mock_host_is_pinned(const void *address, uint64_t bytes);
void mock_host_each(void (*visit)(const void *address, uint64_t bytes, bool *reported,
                                  const struct mock_history *history));
/* The bytes from the first to the last of a rectangle; UINT64_MAX when that is no number. */
uint64_t mock_span(uint64_t width, uint64_t height, uint64_t pitch);

/* ---- context ------------------------------------------------------------------------------ */

struct context {
    void *handle;
    struct device *device;
    bool primary;
    struct stream *default_stream;
    struct stream *streams; /* every stream of the context, the default one included */
    uint32_t events;        /* alive, made in this context */
    aclError stopped;       /* the failure that stopped the context (ACL_STOP_ON_FAILURE) */
    int64_t options[4];     /* aclSysParamOpt */
};

struct context *mock_context_new(struct device *device, bool primary);
/* Waits for the work of a context and ends it; false: another thread did so meanwhile. */
bool mock_context_destroy(struct context *context);
struct context *mock_current_context(void);
/* The same; that there is none is a violation. */
struct context *mock_context_or_violation(void);
void mock_set_current_context(struct context *context);
int64_t *mock_process_options(void);
/* The current context of a device that still answers, or NULL after mock_fail; *status gets the
 * code. */
struct context *mock_usable_context(aclError *status);

/* ---- stream and queue --------------------------------------------------------------------- */

enum task_kind {
    TASK_KERNEL,
    TASK_COPY,
    TASK_FILL,
    TASK_RECORD,
    TASK_WAIT,
    TASK_RESET,
    TASK_CALLBACK
};

struct task {
    enum task_kind kind;
    struct task *next;
    uint64_t position; /* 1 is the first task of the stream */
    struct mock_origin origin;
    enum mock_effect effect; /* an injected fault */
    aclError effect_code;
    uint64_t effect_generation;
    union {
        struct mock_launch kernel;
        struct {
            void *destination;
            const void *source;
            uint64_t width, height, destination_pitch, source_pitch;
            bool to_device, from_device;
            bool checked; /* `sum` says what the host memory held when the copy was queued */
            uint64_t sum;
        } copy;
        struct {
            void *destination;
            uint64_t bytes;
            int value;
            bool on_device;
        } fill;
        struct {
            void *event; /* handle: the event may be destroyed before the task runs */
            void *source;
            uint64_t position, records;
        } event;
        struct {
            aclrtCallback function;
            void *data;
            bool block, posted, done;
        } callback;
    } as;
};

struct stream {
    void *handle;
    struct context *context;
    struct stream *next; /* in the context's list */
    struct stream *younger; /* in the list of all streams, which is that of their making */
    bool stuck; /* the scheduler found it blocked */
    int32_t id;
    uint32_t flags;
    struct task *first, *last;
    uint64_t submitted, executed;
    bool running; /* a thread is inside mock_stream_run */
    aclError error;
    char error_text[512];
    bool stop_on_failure;
    uint32_t overflow_switch;
    uint64_t subscriber; /* thread that processes this stream's callbacks, 0: none */
    bool subscribed;
};

struct stream *mock_stream_new(struct context *context);
/* The first of all streams; `younger` leads to the others. */
struct stream *mock_stream_oldest(void);
void mock_stream_delete(struct stream *stream);
/* The stream behind a handle, NULL: the current context's default stream. On failure NULL, and
 * *status holds the code. `same_context`: refuse a stream of another context. */
struct stream *mock_stream_find(aclrtStream handle, bool same_context, aclError *status);
struct task *mock_stream_submit(struct stream *stream, enum task_kind kind);

/* Drops a stream's queued work without running it; true: there was some. */
bool mock_stream_drop(struct stream *stream);
/* Gives a stream a failure for whoever asks next. */
void mock_stream_fail(struct stream *stream, aclError code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether work is queued that has not run. */
bool mock_stream_pending(const struct stream *stream);
/* Runs queued work up to a position. false: blocked on something another thread must do. */
bool mock_stream_run(struct stream *stream, uint64_t position);
/* Runs the first task of a stream that has one. false: it is blocked. */
bool mock_stream_step(struct stream *stream);
/* The same, waiting while blocked, at most until a deadline (NULL: for ever). false: timed out.
 * The lock is released while waiting, so the stream may be gone afterwards: find it again. */
bool mock_stream_wait(struct stream *stream, uint64_t position, const struct timespec *deadline);
/* Waits for all of a stream and takes its failure. */
aclError mock_stream_finish(struct stream *stream, const struct timespec *deadline);
/* Waits for every stream of a context. false: timed out. */
bool mock_context_wait(void *handle, const struct timespec *deadline);
/* The failure to report now; a failure under ACL_CONTINUE_ON_FAILURE is reported once. */
aclError mock_stream_take_error(struct stream *stream);
/* Tells waiting threads that something moved. */
void mock_progress(void);
/* Waits for mock_progress, but not long: a caller looks for lost devices now and then. false when
 * the deadline has passed. */
bool mock_wait_progress(const struct timespec *deadline);
/* What a waiting function is given: *limit gets the deadline, or NULL for -1, which is for ever. What
 * is no such number is refused with a code. */
aclError mock_limit(int32_t milliseconds, aclError refusal, struct timespec *deadline,
                    const struct timespec **limit);

/* ---- the order of streams ----------------------------------------------------------------- */

/* PYACLNN_MOCK_MODE: whether streams run in a seeded random order, task by task. */
bool mock_is_shuffled(void);
/* In that mode: runs tasks of any streams until one has come to a position. false: blocked. */
bool mock_shuffle_until(struct stream *stream, uint64_t position);
/* In eager mode: runs whatever can run. */
void mock_run_eagerly(void);
/* Why PYACLNN_MOCK_MODE cannot be used, or NULL. */
const char *mock_mode_complaint(void);

/* ---- hazards ------------------------------------------------------------------------------ */

/* What each of these finds, it reports. Memory is about to be freed: */
void mock_hazard_free(const void *address, uint64_t bytes, bool on_host);
/* the host reads or writes memory now: */
void mock_hazard_touch(const void *address, uint64_t bytes, bool writes);
/* a task was queued last on a stream: */
void mock_hazard_queued(const struct stream *stream, struct task *task);
/* a queued copy is about to run: */
void mock_hazard_copy(const struct task *task);
/* the runtime itself has written host memory: */
void mock_hazard_host_written(const void *address, uint64_t bytes);

/* ---- the end ------------------------------------------------------------------------------ */

/* Reports what is alive that was not reported before. */
void mock_report_alive(enum mock_rule rule);
void mock_report_memory(struct device *device);
/* A forked child is not to be blamed for what its parent holds. */
void mock_forget_alive(void);

/* ---- events and callbacks ----------------------------------------------------------------- */

void mock_event_recorded(void *event, uint64_t record);
void mock_event_waited(void *event);
void mock_event_reset(void *event, uint64_t record);
/* Resolves a wait for an event that was not recorded when the wait was queued. */
bool mock_event_resolve(struct task *task);
/* Posts a callback to its thread; true when the stream may go on. */
bool mock_callback_post(struct stream *stream, struct task *task);
void mock_callback_forget(struct stream *stream);
/* Notes a failed kernel for the exception callback, which mock_leave calls without the lock. */
void mock_exception_note(const struct stream *stream, uint64_t position, aclError code);
struct rtExceptionInfo *mock_exception_take(aclrtExceptionInfoCallback *callback);
void mock_exception_deliver(struct rtExceptionInfo *list, aclrtExceptionInfoCallback callback);

#endif
