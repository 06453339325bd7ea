/* SPDX-License-Identifier: Apache-2.0 */
/* Device numbers: the program's own, which ASCEND_RT_VISIBLE_DEVICES decides, and the logical
 * and physical ones, which are equal here. */
#include "device.h"
#include "error_message.h"

static aclError unknown_id(const char *kind, int32_t number)
{
    return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID,
                     "no device has the %s number %d, as far as this process sees devices", kind,
                     number);
}

static aclError physical_id(int32_t user, int32_t *number)
{
    const int32_t found = mock_device_physical_id(user);
    if (found < 0) {
        return unknown_id("user's", user);
    }
    *number = found;
    return ACL_SUCCESS;
}

static aclError user_id(int32_t number, int32_t *user)
{
    for (int32_t each = 0; mock_device_physical_id(each) >= 0; each++) {
        if (mock_device_physical_id(each) == number) {
            *user = each;
            return ACL_SUCCESS;
        }
    }
    return unknown_id("device's", number);
}

/* Convert between logical and physical numbers, of devices that need not be visible. */
static aclError same(int32_t number, int32_t *other)
{
    if (number < 0 || number >= mock_device_physical_count()) {
        return unknown_id("device's", number);
    }
    *other = number;
    return ACL_SUCCESS;
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId)
{
    return physical_id(userDevid, logicDevId);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId)
{
    return physical_id(userDevId, phyDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid)
{
    return user_id(logicDevId, userDevid);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId)
{
    return user_id(phyDevId, userDevId);
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId)
{
    return same(phyDevId, logicDevId);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId)
{
    return same(logicDevId, phyDevId);
}
