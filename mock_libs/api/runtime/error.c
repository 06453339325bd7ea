/* SPDX-License-Identifier: Apache-2.0 */
/* aclGetRecentErrMsg and the last error of a thread. */
#include "error_message.h"

const char *aclGetRecentErrMsg(void)
{
    return mock_message_take();
}

static aclError check_level(const char *function, aclrtLastErrLevel level)
{
    if (level != ACL_RT_THREAD_LEVEL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "%s: level is %d; only ACL_RT_THREAD_LEVEL (0) exists", function,
                         (int)level);
    }
    return ACL_SUCCESS;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    const aclError refused = check_level("aclrtPeekAtLastError", level);
    return refused != ACL_SUCCESS ? refused : mock_last_error(false);
}

aclError aclrtGetLastError(aclrtLastErrLevel level)
{
    const aclError refused = check_level("aclrtGetLastError", level);
    return refused != ACL_SUCCESS ? refused : mock_last_error(true);
}
