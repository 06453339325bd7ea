/* SPDX-License-Identifier: Apache-2.0 */
/* New tensor addresses for an executor. The effect depends on the kind of the executor. */
#include "error_message.h"
#include "executor.h"
#include "objects.h"
#include "violation.h"

enum side { INPUTS, OUTPUTS, ALL };

static bool on_side(const struct executor *executor, uint32_t argument, enum side side)
{
    return side == ALL || mock_is_output(executor, argument) == (side == OUTPUTS);
}

/* The index-th tensor of a side, lists counted flat. */
static struct mock_tensor_slot *flat_slot(struct executor *executor, enum side side, size_t index)
{
    for (size_t i = 0; i < executor->slot_count; i++) {
        if (on_side(executor, executor->slots[i].argument, side) && index-- == 0) {
            return &executor->slots[i];
        }
    }
    return NULL;
}

/* Element `element` of the parameter `argument` of a side. */
static struct mock_tensor_slot *list_slot(struct executor *executor, enum side side,
                                          size_t argument, size_t element)
{
    uint32_t number = 0;
    while (number < executor->arguments &&
           (!on_side(executor, number, side) || argument-- != 0)) {
        number++;
    }
    for (size_t i = 0; i < executor->slot_count; i++) {
        struct mock_tensor_slot *slot = &executor->slots[i];
        if (slot->argument == number && slot->element == element) {
            return slot;
        }
    }
    return NULL;
}

static aclnnStatus replace(const struct executor *executor, struct mock_tensor_slot *slot,
                           size_t index, void *address)
{
    if (slot == NULL) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID, "%s has no tensor of index %zu there",
                         executor->operator_name, index);
    }
    slot->replaced = true;
    slot->replacement = address;
    return ACLNN_SUCCESS;
}

static void report_executor(const aclOpExecutor *handle, const struct executor *executor)
{
    if (executor->from_cache) {
        mock_violate_object(MOCK_EXECUTOR_ADDRESS_FROM_CACHE, MOCK_EXECUTOR, handle,
                            "phase 1 of %s was answered from the cache", executor->operator_name);
    } else if (!executor->repeatable) {
        mock_violate_object(MOCK_EXECUTOR_ADDRESS_ONE_SHOT, MOCK_EXECUTOR, handle,
                            "this executor of %s was not made repeatable", executor->operator_name);
    }
}

static aclnnStatus set_address(aclOpExecutor *handle, enum side side, size_t index,
                               const aclTensor *tensor_handle, void *address)
{
    aclnnStatus status;
    struct executor *executor = mock_executor_find(handle, &status);
    struct tensor *tensor = mock_handle_get(tensor_handle, MOCK_TENSOR);
    if (executor == NULL) {
        return status;
    }
    report_executor(handle, executor);
    if (tensor == NULL) {
        mock_violate_handle(tensor_handle, MOCK_TENSOR, false);
        return mock_fail(ACLNN_ERR_INNER_NULLPTR, "the tensor is NULL or not live");
    }
    if (executor->from_cache) {
        return ACLNN_SUCCESS; /* as in CANN: accepted, and without effect */
    }
    if (!executor->plan.individual) {
        tensor->address = address; /* composite operators ignore the index */
        return ACLNN_SUCCESS;
    }
    return replace(executor, flat_slot(executor, side, index), index, address);
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                                  void *addr)
{
    return set_address(executor, INPUTS, index, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                                   void *addr)
{
    return set_address(executor, OUTPUTS, index, tensor, addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                             void *addr)
{
    return set_address(executor, ALL, index, tensor, addr);
}

static aclnnStatus set_list_address(aclOpExecutor *handle, enum side side, size_t argument,
                                    size_t element, const aclTensorList *list_handle,
                                    void *address)
{
    aclnnStatus status;
    struct executor *executor = mock_executor_find(handle, &status);
    const struct values *list = mock_handle_get(list_handle, MOCK_TENSOR_LIST);
    if (executor == NULL) {
        return status;
    }
    report_executor(handle, executor);
    if (list == NULL) {
        mock_violate_handle(list_handle, MOCK_TENSOR_LIST, false);
        return mock_fail(ACLNN_ERR_INNER_NULLPTR, "the tensor list is NULL or not live");
    }
    struct tensor *tensor =
        element < list->count ? mock_handle_get(list->items.handles[element], MOCK_TENSOR) : NULL;
    if (tensor == NULL) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID, "the tensor list has no element %zu", element);
    }
    if (executor->from_cache) {
        return ACLNN_SUCCESS;
    }
    if (!executor->plan.individual) {
        tensor->address = address;
        return ACLNN_SUCCESS;
    }
    return replace(executor, list_slot(executor, side, argument, element), argument, address);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList *tensors,
                                         void *addr)
{
    return set_list_address(executor, INPUTS, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList *tensors,
                                          void *addr)
{
    return set_list_address(executor, OUTPUTS, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList *tensors, void *addr)
{
    return set_list_address(executor, ALL, irIndex, relativeIndex, tensors, addr);
}

/* ---- the same six under their older names --------------------------------------------------- */

aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                                  void *addr)
{
    return aclSetInputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                                   void *addr)
{
    return aclSetOutputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                             void *addr)
{
    return aclSetTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList *tensors,
                                         void *addr)
{
    return aclSetDynamicInputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList *tensors,
                                          void *addr)
{
    return aclSetDynamicOutputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList *tensors, void *addr)
{
    return aclSetDynamicTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}
