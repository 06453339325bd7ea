/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registering functions that run on the device's CPUs; launching of kernels is not declared here.
 * All of it is newer than CANN 8.1. Provided by libascendcl.so and libacl_rt.so.
 */
#ifndef INCLUDE_STUBS_ACL_RT_KERNEL_H_
#define INCLUDE_STUBS_ACL_RT_KERNEL_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#if ACL_STUBS_CANN >= 901
ACL_FUNC_VISIBILITY aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char *funcName,
    const char *kernelName, aclrtFuncHandle *funcHandle);
#endif

#ifdef __cplusplus
}
#endif

#endif
