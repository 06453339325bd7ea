/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the chip, and sizes of data types. */
#include "chip.h"
#include "data_type.h"
#include "device.h"
#include "error_message.h"

static bool has_attribute(const struct chip *chip, aclCannAttr attribute)
{
    return attribute == ACL_CANN_ATTR_JIT_COMPILE || chip->recent;
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
    static const aclCannAttr EVERY[] = {ACL_CANN_ATTR_JIT_COMPILE, ACL_CANN_ATTR_INF_NAN,
                                        ACL_CANN_ATTR_BF16};
    const struct chip *chip = mock_device_chip();
    if (chip == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttributeList: there is no chip");
    }
    *cannAttrList = EVERY;
    *num = has_attribute(chip, ACL_CANN_ATTR_BF16) ? 3 : 1;
    return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value)
{
    const struct chip *chip = mock_device_chip();
    if (chip == NULL || (int)cannAttr < ACL_CANN_ATTR_INF_NAN ||
        cannAttr > ACL_CANN_ATTR_JIT_COMPILE) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttribute: no such attribute");
    }
    *value = has_attribute(chip, cannAttr) ? 1 : 0;
    return ACL_SUCCESS;
}

size_t aclDataTypeSize(aclDataType dataType)
{
    return mock_data_type_size(dataType);
}
