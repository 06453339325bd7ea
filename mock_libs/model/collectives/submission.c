/* SPDX-License-Identifier: Apache-2.0 */
/* Submission of collective operations and their results. */
#include "submission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address_query.h"
#include "communicator.h"
#include "device.h"
#include "handles.h"
#include "hccl_error.h"
#include "host_task.h"
#include "packet.h"
#include "stream.h"
#include "task.h"
#include "violation.h"

/* Bytes of an element, or 0: there is no such type. */
static size_t element_bytes(HcclDataType data_type)
{
    static const size_t BYTES[] = {
        [HCCL_DATA_TYPE_INT8] = 1,   [HCCL_DATA_TYPE_INT16] = 2,  [HCCL_DATA_TYPE_INT32] = 4,
        [HCCL_DATA_TYPE_FP16] = 2,   [HCCL_DATA_TYPE_FP32] = 4,   [HCCL_DATA_TYPE_INT64] = 8,
        [HCCL_DATA_TYPE_UINT64] = 8, [HCCL_DATA_TYPE_UINT8] = 1,  [HCCL_DATA_TYPE_UINT16] = 2,
        [HCCL_DATA_TYPE_UINT32] = 4, [HCCL_DATA_TYPE_FP64] = 8,   [HCCL_DATA_TYPE_BFP16] = 2,
    };
    const size_t index = (size_t)data_type;
    return index < sizeof BYTES / sizeof BYTES[0] ? BYTES[index] : 0;
}

/* ---- in the order of the stream ------------------------------------------------------------- */

/* The error code of a stream. */
static aclError code_of(HcclResult result)
{
    switch (result) {
    case HCCL_SUCCESS:
        return ACL_SUCCESS;
    case HCCL_E_TIMEOUT:
        return ACL_ERROR_RT_FFTS_PLUS_TIMEOUT;
    case HCCL_E_REMOTE:
        return ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
    default:
        return ACL_ERROR_RT_FFTS_PLUS_EXCEPTION;
    }
}

/* The memory may be another one than that of the last time. */
static void send_memory(struct communicator *communicator)
{
    struct mock_device_memory memory;
    if (mock_device_memory(communicator->device, &memory) &&
        memory.session != communicator->session) {
        const struct mock_memory_packet packet = {MOCK_MEMORY, 0, memory.base, memory.bytes};
        mock_communicator_send(communicator, &packet, sizeof packet, memory.descriptor);
        communicator->session = memory.session;
    }
}

static void send(struct submission *submission, const char *abort_reason, bool wrong)
{
    struct communicator *communicator = submission->communicator;
    struct mock_submit_packet head;
    memcpy(&head, submission->packet, sizeof head);
    head.wrong = wrong ? 1 : 0;
    snprintf(head.abort_reason, sizeof head.abort_reason, "%s", abort_reason);
    memcpy(submission->packet, &head, sizeof head);
    send_memory(communicator);
    mock_communicator_send(communicator, submission->packet, submission->length, -1);
    submission->sent = true;
}

static void finish(struct submission *submission, HcclResult result, const char *text)
{
    submission->over = true;
    submission->result = result;
    snprintf(submission->text, sizeof submission->text, "%s", text);
}

static bool run(void *work, bool wrong, aclError *failed, const char **text)
{
    struct submission *submission = work;
    struct communicator *communicator = submission->communicator;
    if (communicator == NULL) {
        finish(submission, HCCL_E_UNAVAIL, "EI0004: its communicator was destroyed before it ran");
    } else {
        if (!submission->sent) {
            send(submission, "", wrong);
        }
        mock_communicator_poll(communicator);
        if (!submission->over && communicator->socket < 0) {
            finish(submission, communicator->asynchronous, communicator->text);
        }
    }
    if (submission->over && submission->result == HCCL_E_PARA) {
        const struct mock_history history = {.created = submission->origin};
        mock_violate(MOCK_COLLECTIVE_MISMATCHED, "communicator",
                     communicator == NULL ? NULL : communicator->handle, &history, "%s",
                     submission->text);
    }
    *failed = code_of(submission->result);
    *text = submission->text;
    return submission->over;
}

static void end(void *work)
{
    struct submission *submission = work;
    struct communicator *communicator = submission->communicator;
    if (communicator != NULL) {
        struct submission **link = &communicator->queued;
        while (*link != submission) {
            link = &(*link)->next;
        }
        *link = submission->next;
        if (!submission->sent) {
            send(submission, "its stream failed or was dropped before it came to this", false);
        }
    }
    free(submission->packet);
    free(submission);
}

/* ---- queueing ------------------------------------------------------------------------------- */

/* Return whether it is in the device's own address range, not in a reservation. */
static bool is_unmapped(const struct communicator *communicator, const void *address)
{
    struct mock_device_memory memory;
    const uint64_t at = (uint64_t)(uintptr_t)address;
    return mock_device_memory(communicator->device, &memory) && at >= memory.base &&
           at - memory.base < memory.bytes;
}

/* Add a memory range to those that the work uses. Invalid memory breaks a rule. */
static HcclResult use(const struct communicator *communicator, const char *what,
                      const void *address, uint64_t bytes, bool written, struct mock_host_task *errand)
{
    struct mock_history history;
    if (bytes == 0) {
        return HCCL_SUCCESS;
    }
    switch (mock_address_classify(communicator->device, address, 0, bytes, &history)) {
    case MOCK_IN_BLOCK:
        if (!is_unmapped(communicator, address)) {
            return MOCK_HCCL_FAIL(HCCL_E_NOT_SUPPORT,
                               "%s was mapped by aclrtMapMem: on the simulated NPU ranks reach "
                               "memory of aclrtMalloc only",
                               what);
        }
        errand->ranges[errand->range_count++] =
            (struct mock_range){address, bytes, written, false};
        return HCCL_SUCCESS;
    case MOCK_IN_PADDING:
    case MOCK_OUT_OF_BLOCK:
        mock_violate(MOCK_COLLECTIVE_OUT_OF_BOUNDS, "device memory", address, &history,
                     "%s takes %llu bytes from this address on; its block has fewer", what,
                     (unsigned long long)bytes);
        break;
    case MOCK_ON_OTHER_DEVICE:
        mock_violate(MOCK_ADDRESS_ON_ANOTHER_DEVICE, "device memory", address, &history,
                     "%s lies on another device than %d, that of the communicator", what,
                     communicator->device);
        break;
    case MOCK_NOT_LIVE:
        if (address == NULL) {
            return MOCK_HCCL_FAIL_NULL(what);
        }
        mock_violate(MOCK_ADDRESS_NOT_ON_DEVICE, "address", address, &history,
                     "%s is no live memory from aclrtMalloc", what);
        break;
    }
    return MOCK_HCCL_FAIL(HCCL_E_PARA,
                       "EI0003: %s is not %llu bytes of device memory that the communicator can "
                       "reach",
                       what, (unsigned long long)bytes);
}

/* Check what does not depend on memory. */
static HcclResult check_words(const struct communicator *communicator,
                              const struct mock_exchange_part *part)
{
    if (element_bytes(part->data_type) == 0) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA,
                           "EI0003: %s: the data type is %d, which is none of HcclDataType that it "
                           "takes",
                           part->operation, (int)part->data_type);
    }
    if ((unsigned)part->reduction > HCCL_REDUCE_MIN) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA,
                           "EI0003: %s: the reduction is %d; it must be one of HcclReduceOp, 0 to %d",
                           part->operation, (int)part->reduction, (int)HCCL_REDUCE_MIN);
    }
    if (part->peer >= communicator->ranks) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA,
                           "EI0003: %s: there is no rank %u; the communicator has ranks 0 to %u",
                           part->operation, part->peer, communicator->ranks - 1);
    }
    return HCCL_SUCCESS;
}

static HcclResult check(const struct communicator *communicator,
                        const struct mock_exchange_part *part, struct mock_host_task *errand)
{
    const uint64_t item = element_bytes(part->data_type);
    uint64_t sent, received;
    const HcclResult words = check_words(communicator, part);
    if (words != HCCL_SUCCESS) {
        return words;
    }
    if (__builtin_mul_overflow(part->send_count, item, &sent) ||
        __builtin_mul_overflow(part->receive_count, item, &received)) {
        sent = received = UINT64_MAX; /* more than any block has */
    }
    for (size_t i = 0; i < part->range_count; i++) {
        errand->ranges[errand->range_count++] = part->ranges[i];
    }
    HcclResult result = use(communicator, "what it sends", part->send, sent, false, errand);
    return result != HCCL_SUCCESS
               ? result
               : use(communicator, "what it receives", part->receive, received, true, errand);
}

static uint64_t sequence_of(struct communicator *communicator, uint32_t peer, uint8_t between)
{
    switch (between) {
    case MOCK_TO_PEER:
        return communicator->sends[peer]++;
    case MOCK_FROM_PEER:
        return communicator->receives[peer]++;
    default:
        return communicator->collectives++;
    }
}

/* Number a submission and its parts, in the order in which streams get them. */
static void queued(void *work, void *stream, uint64_t position)
{
    struct submission *submission = work;
    struct communicator *communicator = submission->communicator;
    submission->stream = stream;
    submission->position = position;
    if (communicator == NULL) {
        return;
    }
    submission->sent = false;
    submission->number = ++communicator->submissions;
    struct mock_submit_packet head;
    memcpy(&head, submission->packet, sizeof head);
    head.number = submission->number;
    memcpy(submission->packet, &head, sizeof head);
    size_t at = sizeof head;
    for (size_t i = 0; i < submission->parts; i++) {
        struct mock_part_packet part;
        memcpy(&part, submission->packet + at, sizeof part);
        part.sequence =
            sequence_of(communicator, part.peer, submission->packet[submission->length + i]);
        memcpy(submission->packet + at, &part, sizeof part);
        at += sizeof part + part.lists * sizeof(uint64_t);
    }
    if (communicator->awaited) {
        mock_stream_set_awaited(stream, position);
    }
}

static void enlist(struct submission *submission)
{
    struct submission **last = &submission->communicator->queued;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = submission;
    submission->next = NULL;
}

static void *again(void *work)
{
    const struct submission *submission = work;
    const size_t bytes = submission->length + submission->parts;
    struct submission *made = malloc(sizeof *made);
    uint8_t *packet = malloc(bytes);
    if (made == NULL || packet == NULL) {
        free(made);
        free(packet);
        return NULL;
    }
    *made = *submission;
    made->packet = memcpy(packet, submission->packet, bytes);
    if (made->communicator != NULL) {
        enlist(made);
    }
    return made;
}

static size_t append(uint8_t *packet, size_t at, const void *data, size_t length)
{
    memcpy(packet + at, data, length);
    return at + length;
}

static bool write_packet(struct submission *submission, const struct mock_exchange_part *parts,
                         uint32_t count)
{
    size_t length = sizeof(struct mock_submit_packet);
    for (uint32_t i = 0; i < count; i++) {
        length += sizeof(struct mock_part_packet) + parts[i].list_count * sizeof(uint64_t);
    }
    submission->packet = calloc(1, length + count); /* behind it, how each part is numbered */
    if (submission->packet == NULL) {
        return false;
    }
    const struct mock_submit_packet head = {.kind = MOCK_SUBMIT, .parts = count};
    size_t at = append(submission->packet, 0, &head, sizeof head);
    for (uint32_t i = 0; i < count; i++) {
        const struct mock_exchange_part *from = &parts[i];
        struct mock_part_packet part = {.data_type = (uint32_t)from->data_type,
                                 .reduction = (uint32_t)from->reduction,
                                 .peer = from->peer,
                                 .lists = from->list_count,
                                 .count = from->count,
                                 .send = (uint64_t)(uintptr_t)from->send,
                                 .receive = (uint64_t)(uintptr_t)from->receive};
        snprintf(part.operation, sizeof part.operation, "%s", from->operation);
        at = append(submission->packet, at, &part, sizeof part);
        if (from->list_count > 0) {
            at = append(submission->packet, at, from->lists, from->list_count * sizeof(uint64_t));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        submission->packet[at + i] = (uint8_t)parts[i].between;
    }
    submission->length = at;
    submission->parts = count;
    return true;
}

/* The stream must be one of the communicator's device. */
static HcclResult check_stream(const struct communicator *communicator, aclrtStream stream)
{
    if (stream == NULL) {
        mock_violate_handle(stream, MOCK_STREAM, false);
        return MOCK_HCCL_FAIL_NULL("stream");
    }
    const int device = mock_stream_device(stream);
    if (device != communicator->device) {
        if (device >= 0) {
            mock_violate(MOCK_STREAM_OF_ANOTHER_DEVICE, "stream", stream, NULL,
                         "the stream is one of device %d; the communicator has device %d", device,
                         communicator->device);
        } else {
            mock_violate_handle(stream, MOCK_STREAM, false);
        }
        return MOCK_HCCL_FAIL(HCCL_E_PARA,
                           "EI0003: %p is no stream of device %d, which the communicator has",
                           stream, communicator->device);
    }
    return HCCL_SUCCESS;
}

HcclResult mock_submit_collective(HcclComm handle, const struct mock_exchange_part *parts, uint32_t count,
                       aclrtStream stream)
{
    struct communicator *communicator = mock_communicator_find(handle);
    if (communicator == NULL) {
        return HCCL_E_PTR;
    }
    HcclResult result = check_stream(communicator, stream);
    struct submission *submission = result == HCCL_SUCCESS ? calloc(1, sizeof *submission) : NULL;
    struct mock_host_task errand = {.work = submission, .run = run, .end = end, .again = again, .queued = queued};
    size_t most = 2 * (size_t)count + 1;
    for (uint32_t i = 0; i < count; i++) {
        most += parts[i].range_count;
    }
    errand.ranges = submission == NULL ? NULL : calloc(most, sizeof *errand.ranges);
    for (uint32_t i = 0; errand.ranges != NULL && result == HCCL_SUCCESS && i < count; i++) {
        result = check(communicator, &parts[i], &errand);
    }
    if (result == HCCL_SUCCESS && errand.ranges != NULL) {
        submission->communicator = communicator;
        submission->origin = mock_origin_current();
        submission->sent = true;
        if (write_packet(submission, parts, count)) {
            enlist(submission);
            return mock_stream_submit_host_task(stream, &errand) == ACL_SUCCESS ? HCCL_SUCCESS
                                                                                : HCCL_E_RUNTIME;
        }
    }
    if (result == HCCL_SUCCESS) {
        result = MOCK_HCCL_FAIL(HCCL_E_MEMORY, "no host memory for another collective operation");
    }
    free(errand.ranges);
    free(submission);
    return result;
}
