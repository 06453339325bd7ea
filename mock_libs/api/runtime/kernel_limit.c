/* SPDX-License-Identifier: Apache-2.0 */
/* How long a kernel may take, and how long a stream may wait. */
#include "kernel.h"

/* Microseconds: what the simulated device can tell apart. */
enum { INTERVAL = 1000 };

static aclError limit(uint64_t milliseconds)
{
    mock_kernel_limit(milliseconds);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
    return limit((uint64_t)timeout * 1000u);
}

/* The device of the simulated NPU spends no time waiting: a wait ends when the host runs what it
 * waits for, or is found to have no end. So no wait is too long, whatever the limit. */
aclError aclrtSetOpWaitTimeout(uint32_t timeout)
{
    (void)timeout;
    return ACL_SUCCESS;
}

/* In microseconds, rounded up to what the device can tell apart. */
aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout)
{
    const uint64_t milliseconds = timeout / INTERVAL + (timeout % INTERVAL != 0);
    *actualTimeout = milliseconds * INTERVAL;
    return limit(milliseconds);
}

aclError aclrtGetOpTimeOutInterval(uint64_t *interval)
{
    *interval = INTERVAL;
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    return limit(timeout);
}
