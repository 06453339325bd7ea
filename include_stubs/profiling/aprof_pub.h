/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of a library to the profiler about its own calls. Provided by libprofapi.so; the
 * simulated NPU has these functions in libruntime.so.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "acl/acl_stubs.h"

ACL_STUBS_C_BEGIN

typedef int32_t (*ProfCommandHandle)(uint32_t type, void *data, uint32_t len);
/* Opaque here: its layout is not described by these declarations. */
struct MsprofApi;

ACL_FUNC_VISIBILITY int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle);
ACL_FUNC_VISIBILITY int32_t MsprofReportApi(uint32_t nonPersistantFlag,
    const struct MsprofApi *api);
ACL_FUNC_VISIBILITY int32_t MsprofReportCompactInfo(uint32_t nonPersistantFlag, const void *data,
    uint32_t length);
ACL_FUNC_VISIBILITY int32_t MsprofReportAdditionalInfo(uint32_t nonPersistantFlag,
    const void *data, uint32_t length);
ACL_FUNC_VISIBILITY uint64_t MsprofGetHashId(const char *hashInfo, size_t length);
ACL_FUNC_VISIBILITY uint64_t MsprofSysCycleTime(void);

ACL_STUBS_C_END
