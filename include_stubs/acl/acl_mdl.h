/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumping what operators read and write. Provided by libascendcl.so. Models are not declared.
 */
#ifndef INCLUDE_STUBS_ACL_ACL_MDL_H_
#define INCLUDE_STUBS_ACL_ACL_MDL_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char *dumpCfgPath);
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);

#ifdef __cplusplus
}
#endif

#endif
