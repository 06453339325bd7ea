/* SPDX-License-Identifier: Apache-2.0 */
/* How long a kernel may take. */
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

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    MOCK_GUARDED(limit(timeout));
}
