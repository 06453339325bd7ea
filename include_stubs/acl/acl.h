/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one header most programs include: base types, start and end of the process, and the runtime.
 * Provided by libascendcl.so. Of models and single operators it declares only the functions that
 * current programs still link.
 */
#pragma once

#include "acl/acl_base.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"
#include "acl/rt/init.h"

/* The version of this interface. It counts on its own and is not the version of CANN. */
#define ACL_MAJOR_VERSION 1
#if ACL_STUBS_CANN >= 901
#define ACL_MINOR_VERSION 17
#else
#define ACL_MINOR_VERSION 13
#endif
#define ACL_PATCH_VERSION 0
