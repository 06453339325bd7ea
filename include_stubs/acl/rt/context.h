/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts; every thread has at most one current context and inherits none. Provided by
 * libascendcl.so (newer releases: libacl_rt.so).
 */
#pragma once

#include <stdint.h>
#include "acl/acl_base.h"
#include "acl/rt/process.h"

ACL_STUBS_C_BEGIN

/* Makes the new context current on this thread. */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId);
/* Not for the primary context that aclrtSetDevice made (107002). */
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);
/* 107002 when the thread has none. */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext *context);

ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

#if ACL_STUBS_CANN >= 901
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream);
ACL_FUNC_VISIBILITY aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr);
#endif

ACL_STUBS_C_END
