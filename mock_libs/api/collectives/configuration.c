/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the whole process, and the texts of results. */
#include "hccl/hccl.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hccl_error.h"
#include "release.h"

/* It changes nothing: sums are always made in the order of the ranks. */
static _Atomic int32_t deterministic;

static HcclResult refuse(HcclConfig config)
{
    return MOCK_HCCL_FAIL(HCCL_E_PARA, "EI0003: there is no configuration %d", (int)config);
}

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue)
{
    if (config != HCCL_DETERMINISTIC) {
        return refuse(config);
    }
    deterministic = configValue.value;
    return HCCL_SUCCESS;
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue)
{
    if (config != HCCL_DETERMINISTIC) {
        return refuse(config);
    }
    configValue->value = deterministic;
    return HCCL_SUCCESS;
}

uint32_t HcclGetCommConfigCapability(void)
{
    const bool newer = mock_release_current()->headers >= 901;
    return newer ? HCCL_COMM_CONFIG_RESERVED : HCCL_COMM_CONFIG_WORLD_RANKID;
}

const char *HcclGetErrorString(HcclResult code)
{
    static const char *const TEXTS[] = {
        [HCCL_SUCCESS] = "no error",
        [HCCL_E_PARA] = "parameter error",
        [HCCL_E_PTR] = "empty pointer",
        [HCCL_E_MEMORY] = "memory error",
        [HCCL_E_INTERNAL] = "internal error",
        [HCCL_E_NOT_SUPPORT] = "feature not supported",
        [HCCL_E_NOT_FOUND] = "resource not found",
        [HCCL_E_UNAVAIL] = "resource unavailable",
        [HCCL_E_SYSCALL] = "error of a system call",
        [HCCL_E_TIMEOUT] = "timeout",
        [HCCL_E_OPEN_FILE_FAILURE] = "a file cannot be opened",
        [HCCL_E_TCP_CONNECT] = "TCP connection failed",
        [HCCL_E_ROCE_CONNECT] = "RoCE connection failed",
        [HCCL_E_TCP_TRANSFER] = "TCP transfer failed",
        [HCCL_E_ROCE_TRANSFER] = "RoCE transfer failed",
        [HCCL_E_RUNTIME] = "error of the runtime",
        [HCCL_E_DRV] = "error of the driver",
        [HCCL_E_PROFILING] = "error of the profiling",
        [HCCL_E_CCE] = "error of CCE",
        [HCCL_E_NETWORK] = "error of the network",
        [HCCL_E_AGAIN] = "try again",
        [HCCL_E_REMOTE] = "error of a remote rank",
        [HCCL_E_SUSPENDING] = "the communicator is suspended",
    };
    const size_t index = (size_t)code;
    return index < sizeof TEXTS / sizeof TEXTS[0] ? TEXTS[index] : "unknown error";
}
