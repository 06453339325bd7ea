/* SPDX-License-Identifier: Apache-2.0 */
/* Branches of graphs that are built by binding streams, and the labels that they continue at.
 * Source: CANN: runtime acl/stream.cpp, acl/label.cpp, core context.cc. */
#include "branch.h"

#include <stdlib.h>

#include "address_query.h"
#include "error_message.h"
#include "violation.h"

/* A position in a bound stream; without a graph as long as it is not set. */
struct label {
    void *context, *graph; /* handles */
    struct target target;
};

struct label_list {
    size_t count;
    struct label labels[];
};

/* The stream if it is bound to a graph that is being built, or NULL with the code in *status. */
static struct stream *find_bound(const void *handle, aclError *status)
{
    struct stream *stream = mock_stream_find((aclrtStream)handle, true, status);
    if (stream != NULL && (stream->lane == NULL || !stream->lane->graph->built)) {
        *status = mock_fail(ACL_ERROR_RT_STREAM_MODEL,
                            "stream %d is bound to no graph that is being built", stream->id);
        return NULL;
    }
    return stream;
}

/* The part of a stream that waits to be activated, or NULL with the code in *status. */
static struct lane *find_inactive(const struct stream *stream, const void *other, aclError *status)
{
    struct lane *lane = mock_graph_lane(stream->lane->graph, other);
    if (lane == NULL || !lane->inactive) {
        *status = mock_fail(ACL_ERROR_RT_STREAM_MODEL,
                            "both streams must be bound to one graph that is being built, and the "
                            "other one must wait to be activated");
        return NULL;
    }
    return lane;
}

static aclError queue_activation(struct stream *stream, const void *other,
                                 const struct branch *operands)
{
    aclError status;
    struct lane *lane = find_inactive(stream, other, &status);
    struct branch *branch = lane == NULL ? NULL : mock_branch_new(1);
    if (branch == NULL) {
        return lane == NULL ? status : ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    branch->left = operands->left;
    branch->right = operands->right;
    branch->bytes = operands->bytes;
    branch->condition = operands->condition;
    branch->targets[0] = (struct target){lane, 1};
    return mock_branch_queue(stream, branch);
}

aclError aclrtActiveStream(aclrtStream active, aclrtStream handle)
{
    aclError status;
    struct stream *stream = find_bound(handle, &status);
    return stream == NULL ? status : queue_activation(stream, active, &(struct branch){0});
}

aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue,
                           aclrtCompareDataType dataType, aclrtStream trueStream,
                           aclrtStream falseStream, aclrtStream handle)
{
    const struct branch operands = {.left = leftValue,
                                    .right = rightValue,
                                    .bytes = dataType == ACL_RT_SWITCH_INT32 ? 4 : 8,
                                    .condition = cond};
    if (falseStream != NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "falseStream must be NULL");
    }
    aclError status;
    struct stream *stream = find_bound(handle, &status);
    if (stream == NULL) {
        return status;
    }
    if ((unsigned)cond > ACL_RT_LESS_OR_EQUAL || (unsigned)dataType > ACL_RT_SWITCH_INT64 ||
        !mock_is_on_device("leftValue", leftValue, operands.bytes) ||
        !mock_is_on_device("rightValue", rightValue, operands.bytes)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "condition %d is 0 to 5, dataType %d is 0 or 1, and the values are live "
                         "device memory",
                         (int)cond, (int)dataType);
    }
    return queue_activation(stream, trueStream, &operands);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* The label behind a handle in the current context, or NULL with the code in *status. */
static struct label *find_label(const void *handle, bool destroying, aclError *status)
{
    const struct context *context = mock_usable_context(status);
    struct label *label = context == NULL ? NULL : mock_handle_get(handle, MOCK_LABEL);
    if (context != NULL && label == NULL) {
        mock_violate_handle(handle, MOCK_LABEL, destroying);
        *status = mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is no live label", handle);
    } else if (label != NULL && label->context != context->handle) {
        *status = mock_fail(ACL_ERROR_RT_LABEL_CONTEXT, "the label belongs to another context");
        label = NULL;
    }
    return label;
}

aclError aclrtCreateLabel(aclrtLabel *handle)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    struct label *label = context == NULL ? NULL : calloc(1, sizeof *label);
    void *made = label == NULL ? NULL : mock_handle_new(MOCK_LABEL, label);
    if (made == NULL) {
        free(label);
        return context == NULL ? status
                               : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory");
    }
    label->context = context->handle;
    *handle = made;
    return ACL_SUCCESS;
}

aclError aclrtDestroyLabel(aclrtLabel handle)
{
    aclError status;
    if (find_label(handle, true, &status) != NULL) {
        free(mock_handle_close(handle, MOCK_LABEL));
    }
    return status;
}

aclError aclrtSetLabel(aclrtLabel handle, aclrtStream where)
{
    aclError status;
    struct label *label = find_label(handle, false, &status);
    const struct stream *stream = label == NULL ? NULL : find_bound(where, &status);
    if (stream != NULL && label->graph != NULL) {
        return mock_fail(MOCK_NOT_IMPLEMENTED,
                         "the simulated NPU sets a label once, and this one is set already");
    }
    if (stream != NULL) {
        label->graph = stream->lane->graph->handle;
        label->target = (struct target){stream->lane, stream->lane->count};
    }
    return status;
}

aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num, aclrtLabelList *labelList)
{
    aclError status = ACL_SUCCESS;
    const size_t most = (SIZE_MAX - sizeof(struct label_list)) / sizeof(struct label);
    struct label_list *list =
        num > most ? NULL : calloc(1, sizeof *list + num * sizeof *list->labels);
    void *made = list == NULL ? NULL : mock_handle_new(MOCK_LABEL_LIST, list);
    if (made == NULL) {
        free(list);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu labels", num);
    }
    for (; list->count < num && status == ACL_SUCCESS; list->count++) {
        const struct label *label = find_label(labels[list->count], false, &status);
        if (label != NULL && label->graph == NULL) {
            status = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "label %zu of the list is not set",
                               list->count);
        } else if (label != NULL) {
            list->labels[list->count] = *label;
        }
    }
    if (status != ACL_SUCCESS) {
        free(mock_handle_close(made, MOCK_LABEL_LIST));
    } else {
        *labelList = made;
    }
    return status;
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList)
{
    struct label_list *list = mock_handle_close(labelList, MOCK_LABEL_LIST);
    if (list == NULL) {
        mock_violate_handle(labelList, MOCK_LABEL_LIST, true);
        return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is no live list of labels", labelList);
    }
    free(list);
    return ACL_SUCCESS;
}

aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue, aclrtLabelList labelList,
                                 aclrtStream handle)
{
    aclError status;
    struct stream *stream = find_bound(handle, &status);
    if (stream == NULL) {
        return status;
    }
    const struct label_list *list = mock_handle_get(labelList, MOCK_LABEL_LIST);
    if (list == NULL) {
        mock_violate_handle(labelList, MOCK_LABEL_LIST, false);
        return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is no live list of labels", labelList);
    }
    if (maxValue == 0 || maxValue > list->count ||
        !mock_is_on_device("ptr", ptr, sizeof maxValue)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "maxValue is %u of the %zu labels of the list, and ptr is live device "
                         "memory",
                         maxValue, list->count);
    }
    struct branch *branch = mock_branch_new(maxValue);
    if (branch == NULL) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    branch->left = ptr;
    branch->bytes = sizeof maxValue;
    for (uint32_t i = 0; i < maxValue; i++) {
        if (list->labels[i].graph != stream->lane->graph->handle) {
            free(branch);
            return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "label %u is set in another graph", i);
        }
        branch->targets[i] = list->labels[i].target;
    }
    return mock_branch_queue(stream, branch);
}
