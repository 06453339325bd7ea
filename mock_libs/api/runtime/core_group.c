/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of cores: the simulated NPU has one, of all cores. */
#include <stdlib.h>

#include "context.h"
#include "error_message.h"

struct tagRtGroupInfo {
    int32_t values[ACL_GROUP_GROUPID_INT + 1]; /* by attribute */
};

aclError aclrtGetGroupCount(uint32_t *count)
{
    aclError status;
    if (mock_usable_context(&status) != NULL) {
        *count = 1;
    }
    return status;
}

aclError aclrtSetGroup(int32_t groupId)
{
    aclError status;
    if (mock_usable_context(&status) == NULL) {
        return status;
    }
    return groupId == 0 ? ACL_SUCCESS
                        : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                                    "groupId is %d; the device has only group 0", groupId);
}

aclrtGroupInfo *aclrtCreateGroupInfo(void)
{
    aclError status;
    return mock_usable_context(&status) == NULL ? NULL : calloc(1, sizeof(aclrtGroupInfo));
}

aclError aclrtDestroyGroupInfo(aclrtGroupInfo *groupInfo)
{
    free(groupInfo);
    return ACL_SUCCESS;
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo *groupInfo)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context != NULL) {
        const struct chip *chip = context->device->chip;
        groupInfo->values[ACL_GROUP_AICORE_INT] = chip->ai_cores;
        groupInfo->values[ACL_GROUP_AIC_INT] = chip->ai_cores;
        groupInfo->values[ACL_GROUP_AIV_INT] = chip->vector_cores;
    }
    return status;
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo *groupInfo, int32_t groupIndex,
                                 aclrtGroupAttr attr, void *attrValue, size_t valueLen,
                                 size_t *paramRetSize)
{
    if (groupIndex != 0 || (int)attr < 0 || attr > ACL_GROUP_GROUPID_INT) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "groupIndex %d must be 0, and attr %d must be 0 to 5", groupIndex,
                         (int)attr);
    }
    if (attr == ACL_GROUP_SDMANUM_INT || attr == ACL_GROUP_ASQNUM_INT) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "the simulated NPU counts no engines of copies and no queues");
    }
    if (valueLen < sizeof(int32_t)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "valueLen is %zu; the value takes %zu bytes",
                         valueLen, sizeof(int32_t));
    }
    *(int32_t *)attrValue = groupInfo->values[attr];
    *paramRetSize = sizeof(int32_t);
    return ACL_SUCCESS;
}
