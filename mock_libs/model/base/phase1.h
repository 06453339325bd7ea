/* SPDX-License-Identifier: Apache-2.0 */
/* Phase 1: the device, or the cache, returns the plan, which an executor stores. */
#pragma once

#include "call.h"

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* End what mock_call_begin began. */
aclnnStatus mock_phase1(struct mock_call *call, uint64_t *workspace_size,
                        aclOpExecutor **executor);

#pragma GCC visibility pop

/* The operator whose phase 1 failed last on this thread, so that it made no executor; or NULL. */
const char *mock_failed_operator(void);
