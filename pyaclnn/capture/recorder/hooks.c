/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of the recorder at functions besides their records: contents, operands, graphs. */
#include "hooks.h"

#include <sys/uio.h>
#include <unistd.h>

#include "copies.h"
#include "file.h"
#include "graphs.h"
#include "pending.h"
#include "settings.h"
#include "waits.h"

enum { TO_DEVICE = 1, ANY_KIND = 4, PAGE = 4096, PAGES = 256 };

bool capture_is_readable(const uint8_t *data, uint64_t size)
{
    const uintptr_t begin = (uintptr_t)data, end = begin + size;
    bool found = size != 0 && end > begin;
    for (uintptr_t at = begin; found && at < end;) {
        uint8_t bytes[PAGES];
        struct iovec to = {bytes, sizeof bytes}, from[PAGES];
        size_t count = 0;
        for (; count < PAGES && at < end; at = (at / PAGE + 1) * PAGE) {
            from[count++] = (struct iovec){(void *)at, 1};
        }
        found = process_vm_readv(getpid(), &to, 1, from, count, 0) == (ssize_t)count;
    }
    return found;
}

/* The source of a copy that CANN has accepted, if it is memory of the host. */
static void copy_host(const struct capture_function *function, uint64_t call, const void *data,
                      uint64_t size, int32_t kind)
{
    const struct capture_operand host = {.function = function, .parameter = 2};
    if (size == 0 || (kind != TO_DEVICE && kind != ANY_KIND)) {
        return;
    }
    if (capture_is_readable(data, size)) {
        capture_write_contents(call, &host, CAPTURE_HOST, data, size, capture_hash(data, size),
                               capture_settings.contents == CAPTURE_CONTENTS_FULL);
    } else if (kind == TO_DEVICE) {
        capture_write_absence(call, &host, CAPTURE_HOST, "no memory that the host can read");
    }
}

/* The stream that a graph runs on; of a run that is waited for, the default stream. */
static uint64_t stream_of_run(const struct capture_function *function, const union mock_word *words)
{
    return function->parameters[1].letter == 'h' ? words[1].bits : 0;
}

void capture_before(const struct capture_function *function, uint64_t call,
                    const union mock_word *words, const struct capture_operands *of)
{
    uint64_t stream;
    switch (function->hook) {
    case CAPTURE_PHASE_2:
        capture_copy_operands(call, of, words[3].bits, CAPTURE_BEFORE);
        break;
    case CAPTURE_GRAPH_RUN: /* model, stream or time limit */
        stream = stream_of_run(function, words);
        capture_copy_operands(call, of, stream, CAPTURE_BEFORE);
        if (stream == 0) { /* the run is on another */
            capture_await_inputs(stream);
        }
        break;
    case CAPTURE_END_STREAM:
        capture_end_stream(words[0].bits, true);
        break;
    case CAPTURE_DROP_STREAM:
        capture_end_stream(words[0].bits, false);
        break;
    case CAPTURE_END_CONTEXT:
        capture_end_context(words[0].bits);
        break;
    case CAPTURE_RESET:
        capture_free_room(function->count == 0 ? -1 : (int32_t)words[0].bits);
        break;
    default:
        break;
    }
}

/* A collective operation: sendBuf, recvBuf, count, dataType, ...; its stream is the last. */
static void copy_received(const struct capture_function *function, uint64_t call,
                          const union mock_word *words)
{
    size_t received = function->count, count = 0, type = 0;
    for (size_t i = 0; i < function->count; i++) {
        if (function->parameters[i].written) {
            received = i;
            count = function->parameters[i].other;
            type = function->parameters[i].size;
        }
    }
    const uint64_t stream = words[function->count - 1].bits;
    if (received < function->count && !capture_graph_takes(stream)) {
        static const uint8_t SIZES[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};
        const uint64_t kind = words[type].bits & UINT32_MAX;
        struct capture_operand operand = {.function = function, .parameter = (uint32_t)received};
        operand.tensor.data = (uint8_t *)(uintptr_t)words[received].bits;
        operand.tensor.dimensions[0] = (int64_t)words[count].bits;
        operand.tensor.strides[0] = 1;
        operand.tensor.rank = 1;
        operand.tensor.type = -1; /* those of HCCL are others */
        operand.tensor.element_size = kind < sizeof SIZES ? SIZES[kind] : 0;
        capture_copy_tensor(&operand, call, stream, CAPTURE_AFTER);
    }
}

void capture_after(const struct capture_function *function, uint64_t call,
                   const union mock_word *words, uint64_t result, const struct capture_operands *of,
                   bool drawn)
{
    const bool failed = function->result == 'i' && (int32_t)result != 0;
    if (!capture_is_copied()) {
        return;
    }
    if (failed && of != NULL) {
        capture_keep_in_full(call);
    }
    if (failed || !capture_wanted(call)) {
        return;
    }
    switch (function->hook) {
    case CAPTURE_PHASE_2:
        if (!drawn) {
            capture_copy_operands(call, of, words[3].bits, CAPTURE_AFTER);
        }
        break;
    case CAPTURE_COPY: /* dst, destMax, src, count, kind */
        copy_host(function, call, words[2].pointer, words[3].bits, (int32_t)words[4].bits);
        break;
    case CAPTURE_COPY_2D: { /* dst, dpitch, src, spitch, width, height, kind */
        uint64_t size = 0;
        if (words[5].bits != 0 && !__builtin_mul_overflow(words[5].bits - 1, words[3].bits, &size) &&
            !__builtin_add_overflow(size, words[4].bits, &size)) {
            copy_host(function, call, words[2].pointer, size, (int32_t)words[6].bits);
        }
        break;
    }
    case CAPTURE_COLLECTIVE:
        copy_received(function, call, words);
        break;
    case CAPTURE_GRAPH_RUN:
        capture_copy_operands(call, of, stream_of_run(function, words), CAPTURE_AFTER);
        break;
    default:
        break;
    }
}
