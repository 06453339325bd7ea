/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of messages, with reference counts and chains: aclrtMbuf, and acltdtBuf by its older name.
 * Source: CANN: runtime aclrt_impl/mbuf.cpp, acl_tdt_queue/queue.cpp. */
#include "message_buffer.h"

#include <string.h>

#include "error_message.h"

static aclError no_buffer(const void *handle)
{
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is no buffer: it was freed, or never was one",
                     handle);
}

static aclError allocate(void **handle, size_t size)
{
    *handle = size == 0 ? NULL : mock_message_buffer_new(size);
    return *handle != NULL ? ACL_SUCCESS
                           : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                       "a buffer of %zu bytes cannot be allocated", size);
}

aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size)
{
    return allocate(buf, size);
}

aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf)
{
    (void)type;
    return allocate(buf, size);
}

/* A function of both families. */
#define BOTH(name, function, parameters, arguments) \
    aclError aclrt##name parameters                 \
    {                                               \
        return function arguments;                  \
    }                                               \
    aclError acltdt##name parameters                \
    {                                               \
        return function arguments;                  \
    }

static aclError release(void *handle)
{
    struct message_buffer *buffer = mock_message_buffer_find(handle);
    if (buffer == NULL) {
        return no_buffer(handle);
    }
    mock_message_buffer_free(buffer);
    return ACL_SUCCESS;
}
BOTH(FreeBuf, release, (void *buf), (buf))

static aclError data_of(void *handle, void **data, size_t *size)
{
    const struct message_buffer *buffer = mock_message_buffer_find(handle);
    if (buffer == NULL) {
        return no_buffer(handle);
    }
    *data = buffer->shared->bytes;
    *size = buffer->shared->size;
    return ACL_SUCCESS;
}
BOTH(GetBufData, data_of, (void *const buf, void **dataPtr, size_t *size), (buf, dataPtr, size))

static aclError set_length(void *handle, size_t length)
{
    struct message_buffer *buffer = mock_message_buffer_find(handle);
    if (buffer == NULL) {
        return no_buffer(handle);
    }
    if (length > buffer->shared->size) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "len is %zu; the buffer has %zu bytes", length,
                         buffer->shared->size);
    }
    buffer->length = length;
    return ACL_SUCCESS;
}
BOTH(SetBufDataLen, set_length, (void *buf, size_t len), (buf, len))

static aclError length_of(void *handle, size_t *length)
{
    const struct message_buffer *buffer = mock_message_buffer_find(handle);
    if (buffer == NULL) {
        return no_buffer(handle);
    }
    *length = buffer->length;
    return ACL_SUCCESS;
}
BOTH(GetBufDataLen, length_of, (void *buf, size_t *len), (buf, len))

/* The bytes of a buffer's private area, or NULL with the code. */
static uint8_t *private_area(void *handle, size_t size, size_t offset, aclError *status)
{
    struct message_buffer *buffer = mock_message_buffer_find(handle);
    if (buffer == NULL) {
        *status = no_buffer(handle);
        return NULL;
    }
    if (offset > sizeof buffer->area || size > sizeof buffer->area - offset) {
        *status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                            "size %zu from offset %zu on exceeds the %zu bytes of user data", size,
                            offset, sizeof buffer->area);
        return NULL;
    }
    *status = ACL_SUCCESS;
    return buffer->area + offset;
}

static aclError set_user_data(void *handle, const void *data, size_t size, size_t offset)
{
    aclError status;
    uint8_t *area = private_area(handle, size, offset, &status);
    if (area != NULL) {
        memcpy(area, data, size);
    }
    return status;
}
BOTH(SetBufUserData, set_user_data,
     (void *buf, const void *dataPtr, size_t size, size_t offset), (buf, dataPtr, size, offset))

static aclError user_data(void *handle, void *data, size_t size, size_t offset)
{
    aclError status;
    const uint8_t *area = private_area(handle, size, offset, &status);
    if (area != NULL) {
        memcpy(data, area, size);
    }
    return status;
}
BOTH(GetBufUserData, user_data, (void *const buf, void *dataPtr, size_t size, size_t offset),
     (buf, dataPtr, size, offset))

static aclError reference(void *handle, void **copy)
{
    const struct message_buffer *buffer = mock_message_buffer_find(handle);
    if (buffer == NULL) {
        return no_buffer(handle);
    }
    *copy = mock_message_buffer_reference(buffer);
    return *copy != NULL ? ACL_SUCCESS
                         : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a buffer");
}
BOTH(CopyBufRef, reference, (void *const buf, void **newBuf), (buf, newBuf))

/* ---- chains ---------------------------------------------------------------------------------- */

static aclError append(void *head, void *handle)
{
    struct message_buffer *last = mock_message_buffer_find(head);
    struct message_buffer *buffer = mock_message_buffer_find(handle);
    if (last == NULL || buffer == NULL || last == buffer) {
        return no_buffer(last == NULL ? head : handle);
    }
    uint32_t count = 1;
    for (; last->chained != NULL; count++) {
        last = last->chained;
    }
    if (buffer->is_chained || buffer->chained != NULL || count == MOCK_LONGEST_CHAIN) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "a buffer can be in one chain, of %d buffers at most", MOCK_LONGEST_CHAIN);
    }
    buffer->is_chained = true;
    last->chained = buffer;
    return ACL_SUCCESS;
}
BOTH(AppendBufChain, append, (void *headBuf, void *buf), (headBuf, buf))

static aclError count_chain(void *head, uint32_t *count)
{
    const struct message_buffer *buffer = mock_message_buffer_find(head);
    if (buffer == NULL) {
        return no_buffer(head);
    }
    for (*count = 0; buffer != NULL; buffer = buffer->chained) {
        ++*count;
    }
    return ACL_SUCCESS;
}
BOTH(GetBufChainNum, count_chain, (void *headBuf, uint32_t *num), (headBuf, num))

static aclError from_chain(void *head, uint32_t index, void **found)
{
    struct message_buffer *buffer = mock_message_buffer_find(head);
    if (buffer == NULL) {
        return no_buffer(head);
    }
    for (uint32_t i = 0; buffer != NULL && i < index; i++) {
        buffer = buffer->chained;
    }
    if (buffer == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the chain has no buffer %u", index);
    }
    *found = buffer;
    return ACL_SUCCESS;
}
BOTH(GetBufFromChain, from_chain, (void *headBuf, uint32_t index, void **buf), (headBuf, index, buf))
