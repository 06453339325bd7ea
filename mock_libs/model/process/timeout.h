/* SPDX-License-Identifier: Apache-2.0 */
/* Timeouts of waiting functions. */
#pragma once

#include <stdint.h>
#include <time.h>

#include "acl/acl.h"

/* *limit gets the deadline, or NULL for -1, which is for ever. Other numbers are refused with a
 * code. */
aclError mock_limit(int32_t milliseconds, aclError refusal, struct timespec *deadline,
                    const struct timespec **limit);
