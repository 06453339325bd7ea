/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of operator packages: an operator's arguments one by one, then its phases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "argument_builder.h"
#include "entry.h"
#include "error_message.h"
#include "executor.h"
#include "nnopbase/package.h"
#include "phase1.h"
#include "phase2.h"

aclnnStatus NnopbaseCreateExecutorSpace(void **space)
{
    static char nobody_looks_into_it;
    *space = &nobody_looks_into_it;
    return ACLNN_SUCCESS;
}

enum { LONGEST_NAME = 200 };

/* Whatever is given goes into records, and to a process that finds kernels by it. */
static bool is_name(const char *text)
{
    const size_t length = strspn(
        text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && length <= LONGEST_NAME && text[length] == '\0';
}

static void *get_executor(const char *type)
{
    char name[LONGEST_NAME + sizeof "aclnn"];
    snprintf(name, sizeof name, "aclnn%s", type);
    struct executor *executor = calloc(1, sizeof *executor);
    if (executor != NULL) {
        executor->operator_name = mock_intern(name);
        executor->assembly = mock_builder_new();
    }
    const bool whole =
        executor != NULL && executor->operator_name != NULL && executor->assembly != NULL;
    void *handle = whole ? mock_handle_new(MOCK_EXECUTOR, executor) : NULL;
    if (handle == NULL) {
        if (executor != NULL) {
            mock_executor_free(executor);
        }
        mock_fail(ACLNN_ERR_INNER_CREATE_EXECUTOR, "%s: no host memory for an executor", name);
    }
    return handle;
}

void *NnopbaseGetExecutor(void *space, const char *opType, char *inputsDesc, uint32_t inputNum,
                          char *outputsDesc, uint32_t outputNum, char *attrsDesc,
                          uint32_t attrsNum)
{
    (void)space;
    (void)inputsDesc;
    (void)inputNum;
    (void)outputsDesc;
    (void)outputNum;
    (void)attrsDesc;
    (void)attrsNum;
    if (!is_name(opType)) {
        mock_fail(ACLNN_ERR_PARAM_INVALID, "NnopbaseGetExecutor: opType is no name");
        return NULL;
    }
    return get_executor(opType);
}

/* ---- the arguments ------------------------------------------------------------------------- */

/* The executor that takes arguments, or NULL with the code in *status. */
static struct executor *find(const void *handle, aclnnStatus *status)
{
    struct executor *executor = mock_executor_find(handle, status);
    if (executor != NULL && executor->assembly == NULL) {
        *status = mock_fail(ACLNN_ERR_PARAM_INVALID, "%s: its arguments are complete",
                            executor->operator_name);
        return NULL;
    }
    return executor;
}

/* Free the executor: the package aborts its first phase and does not free it. */
static aclnnStatus abandon(const void *handle, struct executor *executor, aclnnStatus status)
{
    mock_handle_close(handle, MOCK_EXECUTOR);
    mock_executor_free(executor);
    return status;
}

static aclnnStatus add(const void *handle, const struct mock_part *part)
{
    aclnnStatus status;
    struct executor *executor = find(handle, &status);
    if (executor == NULL) {
        return status;
    }
    if (part->index > MOCK_MAX_PARTS) {
        status = mock_fail(ACLNN_ERR_PARAM_INVALID, "%s: the index %u of a parameter; at most %d",
                           executor->operator_name, part->index, MOCK_MAX_PARTS);
        return abandon(handle, executor, status);
    }
    if (!mock_builder_add(executor->assembly, part)) {
        status = mock_fail(ACLNN_ERR_INNER, "%s: no host memory", executor->operator_name);
        return abandon(handle, executor, status);
    }
    return ACLNN_SUCCESS;
}

/* Whatever lies beyond the last index is refused alike. */
static uint32_t index_of(size_t index)
{
    return index > MOCK_MAX_PARTS ? MOCK_MAX_PARTS + 1 : (uint32_t)index;
}

static aclnnStatus add_object(const void *executor, enum mock_role role, char kind,
                              const void *object, size_t index)
{
    const struct mock_part part = {
        .role = role, .index = index_of(index), .kind = kind, .value.pointer = object};
    return add(executor, &part);
}

aclnnStatus NnopbaseAddInput(void *executor, const aclTensor *tensor, uint32_t index)
{
    return add_object(executor, MOCK_INPUT, 't', tensor, index);
}

aclnnStatus NnopbaseAddDynamicInput(void *executor, const aclTensorList *tensorList,
                                    uint32_t index)
{
    return add_object(executor, MOCK_INPUT, 'T', tensorList, index);
}

aclnnStatus NnopbaseAddOutput(void *executor, const aclTensor *tensor, uint32_t index)
{
    return add_object(executor, MOCK_OUTPUT, 't', tensor, index);
}

aclnnStatus NnopbaseAddDynamicOutput(void *executor, const aclTensorList *tensorList,
                                     uint32_t index)
{
    return add_object(executor, MOCK_OUTPUT, 'T', tensorList, index);
}

aclnnStatus NnopbaseAddOutputShapeDependTensor(void *executor, const aclTensor *tensor,
                                               uint32_t index)
{
    return add_object(executor, MOCK_OUTPUT, 't', tensor, index);
}

aclnnStatus NnopbaseAddIntArrayAttr(void *executor, const aclIntArray *array, size_t index)
{
    return add_object(executor, MOCK_ATTRIBUTE, 'I', array, index);
}

aclnnStatus NnopbaseAddFloatArrayAttr(void *executor, const aclFloatArray *array, size_t index)
{
    return add_object(executor, MOCK_ATTRIBUTE, 'F', array, index);
}

/* Read a value of so many bytes; false: its type has another size. */
static bool read_value(struct mock_part *part, const void *value, size_t length,
                       NnopbaseAttrDtype type)
{
    bool truth;
    float real;
    switch (type) {
    case kNnopbaseBool:
        part->kind = 'b';
        if (length == sizeof truth) {
            memcpy(&truth, value, sizeof truth);
            part->value.bits = truth;
        }
        return length == sizeof truth;
    case kNnopbaseFloat:
        part->kind = 'd';
        if (length == sizeof real) {
            memcpy(&real, value, sizeof real);
            part->value.real = (double)real;
        }
        return length == sizeof real;
    case kNnopbaseInt:
        part->kind = 'q';
        if (length == sizeof part->value.bits) {
            memcpy(&part->value.bits, value, sizeof part->value.bits);
        }
        return length == sizeof part->value.bits;
    case kNnopbaseString:
        part->kind = 's';
        part->value.pointer = value;
        return memchr(value, '\0', length) != NULL;
    }
    return false;
}

aclnnStatus NnopbaseAddAttrWithDtype(void *handle, void *value, size_t length, size_t index,
                                     NnopbaseAttrDtype type)
{
    aclnnStatus status;
    struct mock_part part = {.role = MOCK_ATTRIBUTE, .index = index_of(index)};
    struct executor *executor = find(handle, &status);
    if (executor == NULL) {
        return status;
    }
    if (value == NULL || !read_value(&part, value, length, type)) {
        status = mock_fail(ACLNN_ERR_PARAM_INVALID,
                           "%s: attribute %zu of type %d has %zu bytes at %p, which is no value "
                           "of that type",
                           executor->operator_name, index, (int)type, length, value);
        return abandon(handle, executor, status);
    }
    return add(handle, &part);
}

static aclnnStatus add_name(const void *handle, uint32_t index, const char *name, bool input)
{
    aclnnStatus status;
    struct executor *executor = find(handle, &status);
    if (executor != NULL &&
        !mock_builder_name(executor->assembly, input ? MOCK_INPUT : MOCK_OUTPUT, index, name)) {
        status = mock_fail(ACLNN_ERR_INNER, "%s: no host memory", executor->operator_name);
        return abandon(handle, executor, status);
    }
    return status;
}

aclnnStatus NnopbaseAddParamName(void *executor, uint32_t index, const char *name, bool isInput)
{
    if (!is_name(name)) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID, "NnopbaseAddParamName: name is no name");
    }
    return add_name(executor, index, name, isInput);
}

/* Arguments that only CANN's own kernels need: profiling and supported chips. */
static aclnnStatus pass(const void *handle)
{
    aclnnStatus status;
    find(handle, &status);
    return status;
}

aclnnStatus NnopbaseAddTilingId(void *executor, void *tilingId)
{
    (void)tilingId;
    return pass(executor);
}

aclnnStatus NnopbaseAddOpTypeId(void *executor, uint32_t opTypeId)
{
    (void)opTypeId;
    return pass(executor);
}

aclnnStatus NnopbaseAddSupportList(void *executor, void *list, uint32_t *socSupportList,
                                   size_t socSupportListLen)
{
    (void)list;
    (void)socSupportList;
    (void)socSupportListLen;
    return pass(executor);
}

/* ---- the phases ---------------------------------------------------------------------------- */

/* Take the arguments of an executor, so that no other thread completes it; its operator goes to
 * *name. NULL: *status holds the code. */
static struct assembly *take(const void *handle, const char **name, aclnnStatus *status)
{
    struct executor *executor = find(handle, status);
    struct assembly *assembly = executor == NULL ? NULL : executor->assembly;
    if (executor != NULL) {
        *name = executor->operator_name;
        executor->assembly = NULL;
    }
    return assembly;
}

/* Phase 1 has made an executor of its own, or none; the package has given its caller another handle
 * before. */
static void complete(const void *handle, const aclOpExecutor *made)
{
    struct executor *executor = mock_handle_close(made, MOCK_EXECUTOR);
    struct executor *before = executor != NULL
                                  ? mock_handle_exchange(handle, MOCK_EXECUTOR, executor)
                                  : mock_handle_close(handle, MOCK_EXECUTOR);
    struct executor *left = before != NULL ? before : executor; /* destroyed meanwhile */
    if (left != NULL) {
        mock_executor_free(left);
    }
}

aclnnStatus NnopbaseRunForWorkspace(void *executor, uint64_t *workspaceLen)
{
    aclnnStatus status;
    struct mock_call call;
    aclOpExecutor *made = NULL;
    const char *name = NULL;
    mock_enter();
    struct assembly *assembly = take(executor, &name, &status);
    mock_leave();
    if (assembly == NULL) {
        return status;
    }
    mock_call_begin(&call, name);
    mock_builder_send(assembly, &call);
    mock_builder_free(assembly);
    status = mock_phase1(&call, workspaceLen, &made);
    mock_enter();
    complete(executor, made);
    mock_leave();
    return status;
}

/* The operator that errors of an executor are reported for. NULL: phase 1 has not ended. */
static const char *operator_of(const void *handle)
{
    const struct executor *executor = mock_handle_get(handle, MOCK_EXECUTOR);
    const char *failed = mock_failed_operator();
    if (executor == NULL) {
        return failed == NULL ? "the operator of a package" : failed;
    }
    return executor->message == NULL ? NULL : executor->operator_name;
}

aclnnStatus NnopbaseRunWithWorkspace(void *executor, aclrtStream stream, void *workspace,
                                     uint64_t workspaceSize)
{
    mock_enter();
    const char *name = operator_of(executor);
    mock_leave();
    return name != NULL ? mock_phase2(name, workspace, workspaceSize, executor, stream)
                        : mock_fail(ACLNN_ERR_INNER,
                                    "NnopbaseRunWithWorkspace: phase 1 has not ended");
}

/* ---- reports ------------------------------------------------------------------------------- */

uint64_t NnopbaseMsprofSysTime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void NnopbaseReportApiInfo(const uint64_t beginTime, void *apiId)
{
    (void)beginTime; /* the simulated NPU is not profiled */
    (void)apiId;
}

/* The functions above explain what they refuse; the package itself refuses only NULL. */
void _Z14NnopbaseOpLogEiPKc(int code, const char *expression)
{
    if (code == ACLNN_ERR_PARAM_NULLPTR && expression != NULL) {
        mock_fail(code, "an operator of a package demands: %s", expression);
    }
}
