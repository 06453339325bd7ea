/* SPDX-License-Identifier: Apache-2.0 */
/* Phase 2: checks the executor and queues its kernel. */
#pragma once

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#pragma GCC visibility push(default) /* used by the libraries of a release */

aclnnStatus mock_phase2(const char *operator_name, void *workspace, uint64_t workspace_size,
                        aclOpExecutor *executor, aclrtStream stream);

/* Consume an executor whose phase 2 fails before any check. */
void mock_phase2_abandon(const aclOpExecutor *executor);

#pragma GCC visibility pop
