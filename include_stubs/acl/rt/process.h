/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of the process and the last error of a thread. Provided by libascendcl.so (newer
 * releases: libacl_rt.so).
 */
#pragma once

#include <stdint.h>
#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

typedef enum aclSysParamOpt {
    ACL_OPT_DETERMINISTIC = 0,
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
#if ACL_STUBS_CANN >= 901
    ACL_OPT_STRONG_CONSISTENCY = 2,
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3,
#endif
} aclSysParamOpt;

typedef enum aclrtLastErrLevel {
    ACL_RT_THREAD_LEVEL = 0,
} aclrtLastErrLevel;

ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/* Returns and clears. Knows only codes of the runtime layer, not the 100000 class of argument
 * checks. */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);
/* Like aclrtGetLastError, but leaves the code where it is. */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

#if ACL_STUBS_CANN >= 901
ACL_FUNC_VISIBILITY aclError aclrtCheckArchCompatibility(const char *socVersion,
    int32_t *canCompatible);
#endif

ACL_STUBS_C_END
