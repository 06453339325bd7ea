/* SPDX-License-Identifier: Apache-2.0 */
/* How long a kernel may take, and how long a stream may wait. */
#include "entry.h"
#include "kernel.h"

static aclError limit(uint64_t milliseconds)
{
    mock_kernel_limit(milliseconds);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
    MOCK_GUARDED(limit((uint64_t)timeout * 1000u));
}

/* The device of the simulated NPU spends no time waiting: a wait ends when the host runs what it
 * waits for, or is found to have no end. So no wait is too long, whatever the limit. */
aclError aclrtSetOpWaitTimeout(uint32_t timeout)
{
    (void)timeout;
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    MOCK_GUARDED(limit(timeout));
}
