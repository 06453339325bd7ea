/* SPDX-License-Identifier: Apache-2.0 */
/* Data buffers: pairs of an address and a length. */
#include <stdlib.h>

#include "acl/acl_base_mdl.h"
#include "error_message.h"
#include "single_operator.h"
#include "violation.h"

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size)
{
    struct data_buffer *buffer = malloc(sizeof *buffer);
    void *handle = NULL;
    if (buffer != NULL) {
        *buffer = (struct data_buffer){data, size};
        handle = mock_handle_new(MOCK_DATA_BUFFER, buffer);
    }
    if (handle == NULL) {
        free(buffer);
    }
    return handle;
}

static struct data_buffer *find(const aclDataBuffer *handle)
{
    struct data_buffer *buffer = mock_handle_get(handle, MOCK_DATA_BUFFER);
    if (buffer == NULL) {
        mock_violate_handle(handle, MOCK_DATA_BUFFER, false);
    }
    return buffer;
}

aclError aclDestroyDataBuffer(const aclDataBuffer *handle)
{
    struct data_buffer *buffer = mock_handle_close(handle, MOCK_DATA_BUFFER);
    if (buffer == NULL) {
        mock_violate_handle(handle, MOCK_DATA_BUFFER, true);
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no live aclDataBuffer",
                         (const void *)handle);
    }
    free(buffer);
    return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer *handle, void *data, size_t size)
{
    struct data_buffer *buffer = find(handle);
    if (buffer == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no live aclDataBuffer",
                         (const void *)handle);
    }
    *buffer = (struct data_buffer){data, size};
    return ACL_SUCCESS;
}

void *aclGetDataBufferAddr(const aclDataBuffer *handle)
{
    const struct data_buffer *buffer = find(handle);
    return buffer == NULL ? NULL : buffer->data;
}

static size_t size_of(const aclDataBuffer *handle)
{
    const struct data_buffer *buffer = find(handle);
    return buffer == NULL ? 0 : buffer->bytes;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *handle)
{
    return (uint32_t)size_of(handle);
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *handle)
{
    return size_of(handle);
}
