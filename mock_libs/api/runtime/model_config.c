/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations with which offline models are loaded and executed. They are complete, and then
 * refused: no model is loaded here.
 * Source: CANN: ge acl_model/model/model_config_om2.cpp. */
#include <stdlib.h>
#include <string.h>

#include "acl/acl_mdl.h"
#include "error_message.h"

enum { INT32 = sizeof(int32_t), SIZE = sizeof(size_t), ADDRESS = sizeof(void *), MOST = 32 };

/* Bytes of the value of each attribute; 0: not known here. */
static const uint8_t OF_LOADING[MOST] = {
    [ACL_MDL_PRIORITY_INT32] = INT32,
    [ACL_MDL_LOAD_TYPE_SIZET] = SIZE,
    [ACL_MDL_PATH_PTR] = ADDRESS,
    [ACL_MDL_MEM_ADDR_PTR] = ADDRESS,
    [ACL_MDL_MEM_SIZET] = SIZE,
    [ACL_MDL_WEIGHT_ADDR_PTR] = ADDRESS,
    [ACL_MDL_WEIGHT_SIZET] = SIZE,
    [ACL_MDL_WORKSPACE_ADDR_PTR] = ADDRESS,
    [ACL_MDL_WORKSPACE_SIZET] = SIZE,
    [ACL_MDL_INPUTQ_NUM_SIZET] = SIZE,
    [ACL_MDL_INPUTQ_ADDR_PTR] = ADDRESS,
    [ACL_MDL_OUTPUTQ_NUM_SIZET] = SIZE,
    [ACL_MDL_OUTPUTQ_ADDR_PTR] = ADDRESS,
    [ACL_MDL_WORKSPACE_MEM_OPTIMIZE] = SIZE,
    [ACL_MDL_WEIGHT_PATH_PTR] = ADDRESS,
    [ACL_MDL_MODEL_DESC_PTR] = ADDRESS,
    [ACL_MDL_MODEL_DESC_SIZET] = SIZE,
    [ACL_MDL_KERNEL_PTR] = ADDRESS,
    [ACL_MDL_KERNEL_SIZET] = SIZE,
    [ACL_MDL_KERNEL_ARGS_PTR] = ADDRESS,
    [ACL_MDL_KERNEL_ARGS_SIZET] = SIZE,
    [ACL_MDL_STATIC_TASK_PTR] = ADDRESS,
    [ACL_MDL_STATIC_TASK_SIZET] = SIZE,
    [ACL_MDL_DYNAMIC_TASK_PTR] = ADDRESS,
    [ACL_MDL_DYNAMIC_TASK_SIZET] = SIZE,
    [ACL_MDL_MEM_MALLOC_POLICY_SIZET] = SIZE,
    [ACL_MDL_FIFO_PTR] = ADDRESS,
    [ACL_MDL_FIFO_SIZET] = SIZE,
    [ACL_MDL_WITHOUT_GRAPH_INT32] = INT32,
};
static const uint8_t OF_EXECUTION[MOST] = {
    [ACL_MDL_STREAM_SYNC_TIMEOUT] = INT32, [ACL_MDL_EVENT_SYNC_TIMEOUT] = INT32,
    [ACL_MDL_WORK_ADDR_PTR] = ADDRESS,     [ACL_MDL_WORK_SIZET] = SIZE,
    [ACL_MDL_MPAIMID_SIZET] = SIZE,        [ACL_MDL_AICQOS_SIZET] = SIZE,
    [ACL_MDL_AICOST_SIZET] = SIZE,         [ACL_MDL_MEC_TIMETHR_SIZET] = SIZE,
    [ACL_MDL_EXEC_PRIORITY_INT32] = INT32,
};

struct values {
    uint64_t of[MOST];
    bool given[MOST];
};

struct aclmdlConfigHandle {
    struct values values;
};

struct aclmdlExecConfigHandle {
    struct values values;
};

static aclError set(struct values *values, const uint8_t *bytes, int attribute, const void *value,
                    size_t size)
{
    if (attribute < 0 || attribute >= MOST || bytes[attribute] == 0) {
        return mock_fail(attribute == ACL_NPU_PERF_MODE || attribute == ACL_MDL_NPU_PERF_MODE
                             ? MOCK_NOT_IMPLEMENTED
                             : ACL_ERROR_INVALID_PARAM,
                         "attr is %d, which is no attribute that is known here", attribute);
    }
    if (size != bytes[attribute]) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "valueSize is %zu; it must be %d for attribute %d", size, bytes[attribute],
                         attribute);
    }
    memcpy(&values->of[attribute], value, size);
    values->given[attribute] = true;
    return ACL_SUCCESS;
}

aclmdlConfigHandle *aclmdlCreateConfigHandle(void)
{
    return calloc(1, sizeof(aclmdlConfigHandle));
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle *handle)
{
    free(handle);
    return ACL_SUCCESS;
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle *handle, aclmdlConfigAttr attr,
                            const void *attrValue, size_t valueSize)
{
    const size_t type = attr == ACL_MDL_LOAD_TYPE_SIZET && valueSize == sizeof type
                            ? *(const size_t *)attrValue
                            : ACL_MDL_LOAD_FROM_FILE;
    if (type < ACL_MDL_LOAD_FROM_FILE || type > ACL_MDL_LOAD_FROM_MEM_WITH_Q) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the type of loading is %zu; it must be 1 to 6",
                         type);
    }
    return set(&handle->values, OF_LOADING, (int)attr, attrValue, valueSize);
}

aclmdlExecConfigHandle *aclmdlCreateExecConfigHandle(void)
{
    return calloc(1, sizeof(aclmdlExecConfigHandle));
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle *handle)
{
    free((void *)(uintptr_t)handle);
    return ACL_SUCCESS;
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle *handle, aclmdlExecConfigAttr attr,
                                const void *attrValue, size_t valueSize)
{
    return set(&handle->values, OF_EXECUTION, (int)attr, attrValue, valueSize);
}

/* Required attributes of each type of loading, as bits. */
static uint32_t required(size_t type)
{
    const bool from_file = type == ACL_MDL_LOAD_FROM_FILE ||
                           type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM ||
                           type == ACL_MDL_LOAD_FROM_FILE_WITH_Q;
    const bool queues =
        type == ACL_MDL_LOAD_FROM_FILE_WITH_Q || type == ACL_MDL_LOAD_FROM_MEM_WITH_Q;
    return (from_file ? 1U << ACL_MDL_PATH_PTR
                      : 1U << ACL_MDL_MEM_ADDR_PTR | 1U << ACL_MDL_MEM_SIZET) |
           (queues ? 1U << ACL_MDL_INPUTQ_NUM_SIZET | 1U << ACL_MDL_INPUTQ_ADDR_PTR |
                         1U << ACL_MDL_OUTPUTQ_NUM_SIZET | 1U << ACL_MDL_OUTPUTQ_ADDR_PTR
                   : 0);
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle *handle, uint32_t *modelId)
{
    (void)modelId;
    const struct values *values = &handle->values;
    const uint32_t needed = values->given[ACL_MDL_LOAD_TYPE_SIZET]
                                ? required((size_t)values->of[ACL_MDL_LOAD_TYPE_SIZET])
                                : 1U << ACL_MDL_LOAD_TYPE_SIZET;
    for (int i = 0; i < MOST; i++) {
        if ((needed >> i & 1U) != 0 && !values->given[i]) {
            return mock_fail(ACL_ERROR_INVALID_PARAM,
                             "the configuration lacks attribute %d; call aclmdlSetConfigOpt", i);
        }
    }
    return mock_fail(MOCK_NOT_IMPLEMENTED,
                     "the simulated NPU loads no offline model: it cannot run one");
}
