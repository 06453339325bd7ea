/* SPDX-License-Identifier: Apache-2.0 */
/* Stream configurations. */
#include "stream_config.h"

#include <string.h>

#include "error_message.h"

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void)
{
    return mock_stream_config_new();
}

static aclError check(const aclrtStreamConfigHandle *handle, bool destroying)
{
    if (!mock_stream_config_check(handle, destroying)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no stream configuration",
                         (const void *)handle);
    }
    return ACL_SUCCESS;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle)
{
    const aclError status = check(handle, true);
    if (status == ACL_SUCCESS) {
        mock_stream_config_free(handle);
    }
    return status;
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr,
                                 const void *value, size_t bytes)
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
