/* SPDX-License-Identifier: Apache-2.0 */
/* An operator as the generator of operator packages writes it: the functions that it calls it declares
 * itself, and some it does without. The operator has parameters of every kind. */
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "aclnn/acl_meta.h"

enum NnopbaseAttrDtype { kNnopbaseBool, kNnopbaseFloat, kNnopbaseInt, kNnopbaseString };

extern "C" {
aclnnStatus NnopbaseCreateExecutorSpace(void **space);
void *NnopbaseGetExecutor(void *space, const char *type, char *inputs, uint32_t inputCount,
                          char *outputs, uint32_t outputCount, char *attributes,
                          uint32_t attributeCount);
aclnnStatus NnopbaseAddTilingId(void *executor, void *id);
aclnnStatus NnopbaseAddInput(void *executor, const aclTensor *tensor, uint32_t index);
aclnnStatus NnopbaseAddDynamicInput(void *executor, const aclTensorList *list, uint32_t index);
aclnnStatus NnopbaseAddOutput(void *executor, const aclTensor *tensor, uint32_t index);
aclnnStatus NnopbaseAddDynamicOutput(void *executor, const aclTensorList *list, uint32_t index);
aclnnStatus NnopbaseAddAttrWithDtype(void *executor, void *value, size_t length, size_t index,
                                     NnopbaseAttrDtype type);
aclnnStatus NnopbaseAddIntArrayAttr(void *executor, const aclIntArray *array, size_t index);
aclnnStatus NnopbaseAddSupportList(void *executor, void *list, uint32_t *chips, size_t count);
aclnnStatus NnopbaseRunForWorkspace(void *executor, uint64_t *size);
aclnnStatus NnopbaseRunWithWorkspace(void *executor, aclrtStream stream, void *workspace,
                                     uint64_t size);
uint64_t NnopbaseMsprofSysTime();
void NnopbaseReportApiInfo(const uint64_t begin, void *id);
__attribute__((weak)) aclnnStatus NnopbaseAddParamName(void *executor, uint32_t index,
                                                       const char *name, bool isInput);
__attribute__((weak)) aclnnStatus NnopbaseAddOutputShapeDependTensor(void *executor,
                                                                     const aclTensor *tensor,
                                                                     uint32_t index);
__attribute__((weak)) void NnopbaseSetMatchArgsFlag(void *executor);
}
void NnopbaseOpLogE(int code, const char *expression);

#define DEMAND(expression, code)                  \
    do {                                          \
        if (!(expression)) {                      \
            NnopbaseOpLogE(code, #expression);     \
            return code;                          \
        }                                         \
    } while (0)
#define TRY(call)                                 \
    do {                                          \
        const aclnnStatus status_ = (call);       \
        if (status_ != 0) {                       \
            NnopbaseOpLogE(status_, #call);        \
            return status_;                       \
        }                                         \
    } while (0)

static void *space;
static uint64_t id[6];
static uint32_t chips[] = {2, 4};

extern "C" __attribute__((visibility("default"))) aclnnStatus aclnnBlendGetWorkspaceSize(
    const aclTensor *x, const aclTensorList *parts, aclTensor *stateRef, double weight,
    int64_t shift, bool negate, char *mode, const aclIntArray *dims, const aclTensor *out,
    const aclTensorList *copies, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const uint64_t begin = NnopbaseMsprofSysTime();
    char inputs[] = {1, 2, 1}, outputs[] = {1, 1, 2}, attributes[] = {1, 1, 1, 1, 1};
    float narrow = static_cast<float>(weight);
    DEMAND(x != nullptr, 161001);
    DEMAND(out != nullptr, 161001);
    if (space == nullptr) {
        TRY(NnopbaseCreateExecutorSpace(&space));
    }
    void *made = NnopbaseGetExecutor(space, "Blend", inputs, 3, outputs, 3, attributes, 5);
    DEMAND(made != nullptr, 161001);
    *executor = static_cast<aclOpExecutor *>(made);
    TRY(NnopbaseAddTilingId(made, id));
    if (NnopbaseSetMatchArgsFlag != nullptr) {
        NnopbaseSetMatchArgsFlag(made);
    }
    TRY(NnopbaseAddInput(made, x, 0));
    TRY(NnopbaseAddDynamicInput(made, parts, 1));
    TRY(NnopbaseAddInput(made, stateRef, 2));
    TRY(NnopbaseAddAttrWithDtype(made, &narrow, sizeof narrow, 0, kNnopbaseFloat));
    TRY(NnopbaseAddAttrWithDtype(made, &shift, sizeof shift, 1, kNnopbaseInt));
    TRY(NnopbaseAddAttrWithDtype(made, &negate, sizeof negate, 2, kNnopbaseBool));
    TRY(NnopbaseAddAttrWithDtype(made, mode, std::strlen(mode) + 1, 3, kNnopbaseString));
    TRY(NnopbaseAddIntArrayAttr(made, dims, 4));
    TRY(NnopbaseAddOutput(made, stateRef, 0));
    TRY(NnopbaseAddOutputShapeDependTensor(made, out, 1));
    TRY(NnopbaseAddDynamicOutput(made, copies, 2));
    TRY(NnopbaseAddParamName(made, 0, "x", true));
    TRY(NnopbaseAddParamName(made, 1, "parts", true));
    TRY(NnopbaseAddParamName(made, 2, "state", true));
    TRY(NnopbaseAddParamName(made, 0, "state", false));
    TRY(NnopbaseAddParamName(made, 1, "out", false));
    TRY(NnopbaseAddParamName(made, 2, "copies", false));
    TRY(NnopbaseAddSupportList(made, id, chips, 2));
    TRY(NnopbaseRunForWorkspace(made, workspaceSize));
    NnopbaseReportApiInfo(begin, id);
    return 0;
}

extern "C" __attribute__((visibility("default"))) aclnnStatus aclnnBlend(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    const uint64_t begin = NnopbaseMsprofSysTime();
    TRY(NnopbaseRunWithWorkspace(executor, stream, workspace, workspaceSize));
    NnopbaseReportApiInfo(begin, id);
    return 0;
}
