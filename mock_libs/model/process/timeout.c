/* SPDX-License-Identifier: Apache-2.0 */
/* Timeouts of waiting functions. */
#include "timeout.h"

#include "error_message.h"
#include "lock.h"

aclError mock_limit(int32_t milliseconds, aclError refusal, struct timespec *deadline,
                    const struct timespec **limit)
{
    if (milliseconds == 0 || milliseconds < -1) {
        return mock_fail(refusal, "timeout is %d ms; it must be -1 (for ever) or above 0",
                         milliseconds);
    }
    *deadline = mock_deadline(milliseconds);
    *limit = milliseconds == -1 ? NULL : deadline;
    return ACL_SUCCESS;
}
