/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits of kernels and of waits in streams. */
#include "kernel.h"

/* Microseconds: the resolution of the simulated device. */
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

/* In microseconds, rounded up to the device's resolution. */
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
