/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated runtime (libascendcl) offers to the other mock libraries.
 *
 * All state of the simulated NPU is guarded by one lock: a function named here expects the caller
 * to hold it (mock_enter … mock_leave), unless it says otherwise. */
#ifndef MOCK_H
#define MOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"
#include "gate.h"
#include "unimplemented.h"

#pragma GCC visibility push(default) /* used by the other mock libraries */

/* ---- lock and errors ---------------------------------------------------------------------- */

void mock_enter(void);
void mock_leave(void);

/* Runs an expression of type aclError under the lock and returns its value from the function. */
#define MOCK_GUARDED(expression)          \
    do {                                  \
        mock_enter();                     \
        const aclError guarded_ = (expression); \
        mock_leave();                     \
        return guarded_;                  \
    } while (0)

/* Records a text for aclGetRecentErrMsg and, for a code of the runtime layer, the thread's last
 * error; returns the code. Needs no lock. */
aclError mock_fail(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- handles ------------------------------------------------------------------------------ */

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
    MOCK_KIND_COUNT
};

/* A handle is a number that looks like a pointer and faults when dereferenced; a number is never
 * given out twice, so a stale handle is recognised and not mistaken for a newer object.
 * NULL from mock_handle_new: out of memory; from the others: not a live handle of that kind. */
void *mock_handle_new(enum mock_kind kind, void *object);
void *mock_handle_get(const void *handle, enum mock_kind kind);
void *mock_handle_close(const void *handle, enum mock_kind kind);
const char *mock_kind_name(enum mock_kind kind);

/* What is remembered of a handle beside its object. */
enum mock_mark {
    MOCK_UNMARKED,
    MOCK_MARK_USED,       /* executor: phase 2 consumed it */
    MOCK_MARK_FAILED,     /* executor: phase 2 failed and consumed it */
    MOCK_MARK_REPEATABLE, /* executor: phase 2 leaves it alive */
    MOCK_MARK_NOT_KEPT,   /* executor: refused to be repeatable, and phase 2 consumed it */
    MOCK_MARK_LISTED      /* destroyed as the element of a list */
};

struct mock_history {
    struct mock_origin created, destroyed; /* function NULL: not known, or not yet */
};

enum mock_fate { MOCK_LIVE, MOCK_DESTROYED, MOCK_OF_ANOTHER_KIND, MOCK_UNKNOWN };

/* What became of a handle, where one of a kind is expected. *mark and *history are filled in as
 * far as they are known. */
enum mock_fate mock_handle_past(const void *handle, enum mock_kind kind, enum mock_mark *mark,
                                struct mock_history *history);
void mock_handle_mark(const void *handle, enum mock_mark mark);
/* How many executors need a live handle; those that are repeatable. Changed by `by`. */
void mock_handle_need(const void *handle, int by, int repeatable_by);
unsigned mock_handle_needed(const void *handle, bool repeatable);

/* ---- violations --------------------------------------------------------------------------- */

/* Records that the call in progress broke a rule, a number of rule_numbers.inc. The handle, or address, may be NULL, and its
 * history as well. Under PYACLNN_MOCK_STRICT the process ends here. */
void mock_violate(unsigned rule, const char *what, const void *handle,
                  const struct mock_history *history, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for a handle that is not a live one of a kind; the rule follows from what it is. NULL
 * breaks no rule. */
void mock_violate_handle(const void *handle, enum mock_kind kind, bool destroying);

/* ---- devices ------------------------------------------------------------------------------ */

struct device;

/* The frames of the protocol between this process and the device process. */
enum mock_request { MOCK_HELLO = 1, MOCK_CHECK = 2, MOCK_RUN = 3, MOCK_BYE = 4 };

/* The device of the calling thread's current context, or NULL. */
struct device *mock_current_device(void);

/* Whether the current context asks for deterministic computing. */
bool mock_deterministic(void);

/* Sends a request and waits for its answer. The answer belongs to the device and is valid until
 * its next request. false: the device is lost, and mock_fail has been told. */
bool mock_device_request(struct device *device, enum mock_request kind, const void *payload,
                         size_t length, const uint8_t **answer, size_t *answer_length);

/* ---- streams ------------------------------------------------------------------------------ */

/* Memory that a queued task uses. */
struct mock_range {
    const void *address;
    uint64_t bytes;
    bool written, workspace;
};

/* A kernel to queue: the payload of MOCK_RUN, and the device memory it uses. */
struct mock_launch {
    uint8_t *message;
    size_t length;
    struct mock_range *ranges;
    size_t range_count;
    char *refused; /* why the kernel fails with 507015 without running, or NULL */
};

/* Queues a kernel on a stream (NULL: the default stream of the current context). The stream takes
 * over what this points to, also when it refuses. */
aclError mock_stream_launch(aclrtStream stream, const struct mock_launch *launch);
/* The device of a stream (NULL: of the current context), or -1. */
int mock_stream_device(aclrtStream stream);

/* ---- memory ------------------------------------------------------------------------------- */

/* What an address is to a kernel on a device. */
enum mock_place { MOCK_INSIDE, MOCK_BEYOND, MOCK_ELSEWHERE, MOCK_NOWHERE };

/* Whether `bytes` bytes, from `distance` bytes behind an address on, lie in the live block of a
 * device that holds the address; *history is that of the block, also of one freed lately. */
enum mock_place mock_memory_place(int device, const void *address, int64_t distance,
                                  uint64_t bytes, struct mock_history *history);

/* ---- data types --------------------------------------------------------------------------- */

/* aclDataTypeSize, for the mock libraries themselves: no call of the program. */
size_t mock_data_type_size(aclDataType data_type);

/* ---- payloads ----------------------------------------------------------------------------- */

/* A reader over an answer; `ok` turns false at the first read beyond the end. */
struct mock_reader {
    const uint8_t *data;
    size_t length, position;
    bool ok;
};

uint32_t mock_read_u32(struct mock_reader *reader);
uint64_t mock_read_u64(struct mock_reader *reader);
/* The bytes of a string, not terminated; its length goes to *length. */
const char *mock_read_string(struct mock_reader *reader, uint32_t *length);

#pragma GCC visibility pop

#endif
