/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of messages between the threads of the process; other processes cannot attach to them.
 * Source: CANN: runtime acl_tdt_queue/queue.cpp. */
#include <stdlib.h>
#include <string.h>

#include "error_message.h"
#include "message_buffer.h"
#include "lock.h"
#include "timeout.h"
#include "wire.h"

enum { NAME_BYTES = 128, LEAST_DEPTH = 2, MOST_DEPTH = 8192, ALL_PERMISSIONS = 7 };

struct tagMemQueueAttr {
    char name[NAME_BYTES];
    uint32_t depth;
};

struct queue {
    struct queue *next;
    uint32_t id, depth, count;
    struct message_buffer *messages[]; /* a ring would be faster; they are few */
};

static struct queue *queues;
static uint32_t next_id;

/* ---- attributes ------------------------------------------------------------------------------ */

acltdtQueueAttr *acltdtCreateQueueAttr(void)
{
    acltdtQueueAttr *attr = calloc(1, sizeof *attr);
    if (attr != NULL) {
        attr->depth = LEAST_DEPTH;
    }
    return attr;
}

aclError acltdtDestroyQueueAttr(const acltdtQueueAttr *attr)
{
    free((void *)(uintptr_t)attr);
    return ACL_SUCCESS;
}

aclError acltdtSetQueueAttr(acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len,
                            const void *param)
{
    if (type == ACL_TDT_QUEUE_NAME_PTR && len == sizeof(char *)) {
        const char *name = *(const char *const *)param;
        if (name != NULL && strlen(name) < NAME_BYTES) {
            strcpy(attr->name, name);
            return ACL_SUCCESS;
        }
    } else if (type == ACL_TDT_QUEUE_DEPTH_UINT32 && len == sizeof attr->depth) {
        memcpy(&attr->depth, param, sizeof attr->depth);
        return ACL_SUCCESS;
    }
    return mock_fail(ACL_ERROR_INVALID_PARAM,
                     "type is %d and len %zu; 0 takes the address of a name below %d characters, 1 "
                     "that of a uint32_t",
                     (int)type, len, NAME_BYTES);
}

aclError acltdtGetQueueAttr(const acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len,
                            size_t *paramRetSize, void *param)
{
    const char *name = attr->name;
    const void *from = type == ACL_TDT_QUEUE_NAME_PTR ? (const void *)&name : &attr->depth;
    const size_t size = type == ACL_TDT_QUEUE_NAME_PTR ? sizeof name : sizeof attr->depth;
    if ((int)type < 0 || type > ACL_TDT_QUEUE_DEPTH_UINT32 || len < size) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "type is %d and len %zu", (int)type, len);
    }
    memcpy(param, from, size);
    *paramRetSize = size;
    return ACL_SUCCESS;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static struct queue **place_of(uint32_t id)
{
    struct queue **place = &queues;
    while (*place != NULL && (*place)->id != id) {
        place = &(*place)->next;
    }
    return place;
}

static aclError no_queue(uint32_t id)
{
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "there is no queue %u", id);
}

aclError acltdtCreateQueue(const acltdtQueueAttr *attr, uint32_t *qid)
{
    if (attr->depth < LEAST_DEPTH || attr->depth > MOST_DEPTH) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the depth is %u; it must be %d to %d",
                         attr->depth, LEAST_DEPTH, MOST_DEPTH);
    }
    struct queue *queue = calloc(1, sizeof *queue + attr->depth * sizeof(struct message_buffer *));
    if (queue == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a queue");
    }
    *qid = queue->id = next_id++;
    queue->depth = attr->depth;
    queue->next = queues;
    queues = queue;
    return ACL_SUCCESS;
}

aclError acltdtDestroyQueue(uint32_t qid)
{
    struct queue **place = place_of(qid), *queue = *place;
    if (queue == NULL) {
        return no_queue(qid);
    }
    *place = queue->next;
    for (uint32_t i = 0; i < queue->count; i++) {
        mock_message_buffer_free(queue->messages[i]);
    }
    free(queue);
    return ACL_SUCCESS;
}

aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t *permission)
{
    (void)timeout;
    if (*place_of(qid) == NULL) {
        return no_queue(qid);
    }
    *permission = ALL_PERMISSIONS;
    return ACL_SUCCESS;
}

/* Wait until a queue has room, or a message; NULL with the code: it has not, or is gone. */
static struct queue *wait_for(uint32_t id, bool room, int32_t timeout, aclError *status)
{
    struct timespec deadline;
    const struct timespec *limit = NULL;
    *status = timeout <= 0 ? ACL_SUCCESS
                           : mock_limit(timeout, ACL_ERROR_RT_PARAM_INVALID, &deadline, &limit);
    for (bool expired = *status != ACL_SUCCESS;;) {
        struct queue *queue = *place_of(id);
        if (queue == NULL) {
            *status = no_queue(id);
            return NULL;
        }
        if (room ? queue->count < queue->depth : queue->count > 0) {
            return queue;
        }
        if (timeout == 0 || expired) {
            *status = mock_fail(room ? ACL_ERROR_RT_QUEUE_FULL : ACL_ERROR_RT_QUEUE_EMPTY,
                                "queue %u %s", id, room ? "is full" : "has no message");
            return NULL;
        }
        expired = !mock_wait_progress(limit);
    }
}

static aclError put(uint32_t id, struct message_buffer *buffer, int32_t timeout)
{
    aclError status;
    struct queue *queue = wait_for(id, true, timeout, &status);
    if (queue != NULL) {
        queue->messages[queue->count++] = buffer;
        mock_signal_progress();
    }
    return status;
}

static struct message_buffer *take(uint32_t id, int32_t timeout, aclError *status)
{
    struct queue *queue = wait_for(id, false, timeout, status);
    if (queue == NULL) {
        return NULL;
    }
    struct message_buffer *buffer = queue->messages[0];
    memmove(queue->messages, queue->messages + 1, --queue->count * sizeof buffer);
    mock_signal_progress();
    return buffer;
}

aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout)
{
    struct message_buffer *buffer = mock_message_buffer_find(buf);
    return buffer != NULL ? put(qid, buffer, timeout)
                          : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is no buffer", buf);
}

aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout)
{
    aclError status;
    struct message_buffer *buffer = take(qid, timeout, &status);
    if (buffer != NULL) {
        *buf = buffer;
    }
    return status;
}

aclError acltdtEnqueueData(uint32_t qid, const void *data, size_t dataSize, const void *userData,
                           size_t userDataSize, int32_t timeout, uint32_t rsv)
{
    (void)rsv;
    if (userDataSize > MOCK_USER_BYTES || (userData == NULL && userDataSize > 0)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "userDataSize is %zu; %d bytes can be sent",
                         userDataSize, userData == NULL ? 0 : MOCK_USER_BYTES);
    }
    struct message_buffer *buffer = mock_message_buffer_new(dataSize);
    if (buffer == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu bytes", dataSize);
    }
    memcpy(buffer->shared->bytes, data, dataSize);
    buffer->length = dataSize;
    if (userDataSize > 0) {
        memcpy(buffer->area, userData, userDataSize);
    }
    const aclError status = put(qid, buffer, timeout);
    if (status != ACL_SUCCESS) {
        mock_message_buffer_free(buffer);
    }
    return status;
}

aclError acltdtDequeueData(uint32_t qid, void *data, size_t dataSize, size_t *retDataSize,
                           void *userData, size_t userDataSize, int32_t timeout)
{
    aclError status;
    const struct queue *queue = wait_for(qid, false, timeout, &status);
    if (queue == NULL) {
        return status;
    }
    const size_t length = queue->messages[0]->length;
    if (length > dataSize || userDataSize > MOCK_USER_BYTES) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the message has %zu bytes, and %d of the user's; there is room for %zu "
                         "and %zu",
                         length, MOCK_USER_BYTES, dataSize, userDataSize);
    }
    struct message_buffer *buffer = take(qid, 0, &status);
    memcpy(data, buffer->shared->bytes, length);
    *retDataSize = length;
    if (userData != NULL) {
        memcpy(userData, buffer->area, userDataSize);
    }
    mock_message_buffer_free(buffer);
    return ACL_SUCCESS;
}
