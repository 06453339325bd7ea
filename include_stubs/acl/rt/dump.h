/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumping what operators read and write. Provided by libascendcl.so (newer releases:
 * libacl_rt.so).
 */
#pragma once

#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char *dumpCfgPath);
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);

ACL_STUBS_C_END
