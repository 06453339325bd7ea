/* SPDX-License-Identifier: Apache-2.0 */
/* Stream configurations. */
#include "stream_config.h"

#include <string.h>

#include "entry.h"
#include "message.h"
#include "place.h"

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void)
{
    mock_enter();
    aclrtStreamConfigHandle *handle = mock_stream_config_new();
    mock_leave();
    return handle;
}

static aclError check(const aclrtStreamConfigHandle *handle, bool destroying)
{
    if (handle == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the stream configuration is NULL");
    }
    if (!mock_stream_config_check(handle, destroying)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no stream configuration",
                         (const void *)handle);
    }
    return ACL_SUCCESS;
}

static aclError destroy(const aclrtStreamConfigHandle *handle)
{
    const aclError status = check(handle, true);
    if (status == ACL_SUCCESS) {
        mock_stream_config_free(handle);
    }
    return status;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle)
{
    MOCK_GUARDED(destroy(handle));
}

static aclError set(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *value,
                    size_t bytes)
{
    const aclError status = check(handle, false);
    if (status != ACL_SUCCESS) {
        return status;
    }
    const struct {
        void *field;
        size_t bytes;
    } fields[] = {
        [ACL_RT_STREAM_WORK_ADDR_PTR] = {&handle->workptr, sizeof handle->workptr},
        [ACL_RT_STREAM_WORK_SIZE] = {&handle->workSize, sizeof handle->workSize},
        [ACL_RT_STREAM_FLAG] = {&handle->flag, sizeof handle->flag},
        [ACL_RT_STREAM_PRIORITY] = {&handle->priority, sizeof handle->priority},
    };
    if ((int)attr < 0 || attr > ACL_RT_STREAM_PRIORITY || bytes != fields[attr].bytes) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "aclrtSetStreamConfigOpt: there is no attribute %d of %zu bytes",
                         (int)attr, bytes);
    }
    memcpy(fields[attr].field, value, bytes);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr,
                                 const void *attrValue, size_t valueSize)
{
    if (attrValue == NULL || mock_is_beyond_the_host("attrValue", attrValue)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamConfigOpt: attrValue is %s",
                         attrValue == NULL ? "NULL" : "an address of device memory");
    }
    MOCK_GUARDED(set(handle, attr, attrValue, valueSize));
}
