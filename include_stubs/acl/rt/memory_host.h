/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that a device is to reach. Provided by libascendcl.so (newer releases: libacl_rt.so).
 */
#pragma once

#include <stdint.h>
#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

typedef enum aclrtHostRegisterType {
    ACL_HOST_REGISTER_MAPPED = 0,
#if ACL_STUBS_CANN >= 901
    ACL_HOST_REGISTER_IOMEMORY = 4,
    ACL_HOST_REGISTER_READONLY = 8,
#endif
} aclrtHostRegisterType;

/* devPtr receives the address under which the device sees the memory. */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type,
    void **devPtr);
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void *ptr);

#if ACL_STUBS_CANN >= 901
#define ACL_HOST_REG_MAPPED   0x2
#define ACL_HOST_REG_IOMEMORY 0x4
#define ACL_HOST_REG_READONLY 0x8
#define ACL_HOST_REG_PINNED   0x10000000

/* Hardware that may want to reach host memory. */
typedef enum aclrtHacType {
    ACL_RT_HAC_TYPE_STARS = 0,
    ACL_RT_HAC_TYPE_AICPU = 1,
    ACL_RT_HAC_TYPE_AIC = 2,
    ACL_RT_HAC_TYPE_AIV = 3,
    ACL_RT_HAC_TYPE_PCIEDMA = 4,
    ACL_RT_HAC_TYPE_RDMA = 5,
    ACL_RT_HAC_TYPE_SDMA = 6,
    ACL_RT_HAC_TYPE_DVPP = 7,
    ACL_RT_HAC_TYPE_UDMA = 8,
    ACL_RT_HAC_TYPE_CCU = 9,
} aclrtHacType;

typedef enum aclrtHostMemMapCapability {
    ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
    ACL_RT_HOST_MEM_MAP_SUPPORTED = 1,
} aclrtHostMemMapCapability;

/* flag is an OR of the ACL_HOST_REG bits. */
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
    aclrtHostMemMapCapability *capabilities);
#endif

ACL_STUBS_C_END
