/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of all operators: the status type, the opaque objects, start and end. Provided by
 * libnnopbase.so.
 */
#pragma once

#include <stdint.h>
#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

typedef int32_t aclnnStatus;

/* Success under a short name. No macro, since programs name things of their own OK; in C++ a
 * constant of the status type, so that a variable deduced from it can hold any other status. */
#ifdef __cplusplus
constexpr aclnnStatus OK = 0;
#else
enum { OK = 0 };
#endif

typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef struct aclOpExecutor aclOpExecutor;

/* Optional: without it the first operator loads what it needs. configPath may be NULL. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char *configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

ACL_STUBS_C_END

/* Most headers of operators include only this one, and use tensors. Last, because the other one
 * needs the declarations above. */
#include "aclnn/acl_meta.h"
