/* SPDX-License-Identifier: Apache-2.0 */
/* Single operators by their names in graphs: described, then launched as any other operator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_op_compiler.h"
#include "compiled_operator.h"
#include "data_type.h"
#include "entry.h"
#include "error_message.h"
#include "float16.h"
#include "phase1.h"
#include "phase2.h"
#include "single_operator.h"
#include "stream_wait.h"
#include "violation.h"

/* One side of a call: descriptions and buffers, and the tensors made of them. */
struct side {
    const char *name;
    bool is_output;
    int count;
    const aclTensorDesc *const *descs;
    const aclDataBuffer *const *buffers;
    void **tensors;
};

/* Names that executors and records point to: one of each operator type, which is never freed. The
 * prefix keeps them apart from functions. */
static const char *name_of(const char *type)
{
    static struct name {
        struct name *next;
        char text[];
    } *names;
    static const char PREFIX[] = "ge:";
    struct name *found = names;
    while (found != NULL && strcmp(found->text + sizeof PREFIX - 1, type) != 0) {
        found = found->next;
    }
    if (found == NULL && (found = malloc(sizeof *found + sizeof PREFIX + strlen(type))) != NULL) {
        strcpy(stpcpy(found->text, PREFIX), type);
        found->next = names;
        names = found;
    }
    return found == NULL ? NULL : found->text;
}

static void set_strides(struct tensor *tensor)
{
    int64_t step = 1;
    for (uint32_t i = tensor->rank; i-- > 0;) {
        tensor->strides[i] = step;
        step *= tensor->dims[i];
    }
}

/* An aclTensor of a description and a buffer; NULL: no memory. An input has the dimensions of its
 * storage, unless that has blocks. An output has its own: its storage may be that of the whole
 * tensor in which it is a view, as torch-npu describes it. */
static void *make_tensor(const struct tensor_desc *desc, void *address, bool is_output)
{
    struct tensor *tensor = calloc(1, sizeof *tensor);
    void *handle = tensor == NULL ? NULL : mock_handle_new(MOCK_TENSOR, tensor);
    if (handle == NULL) {
        free(tensor);
        return NULL;
    }
    const struct dims *stored = desc->storage.count < 0 ? &desc->dims : &desc->storage;
    const struct dims *dims = is_output || is_blocked(desc) ? &desc->dims : stored;
    tensor->data_type = desc->data_type;
    tensor->format = desc->storage_format;
    tensor->rank = (uint32_t)dims->count;
    tensor->storage_rank = (uint32_t)stored->count;
    memcpy(tensor->dims, dims->values, sizeof dims->values);
    memcpy(tensor->storage, stored->values, sizeof stored->values);
    set_strides(tensor);
    tensor->address = address;
    return handle;
}

/* An integer of a type, or a number of floating point. */
static bool read_number(aclDataType type, const uint8_t *at, int64_t *integer, float *real)
{
    *integer = 0;
    *real = 0;
    switch ((int)type) {
    case ACL_BOOL:
    case ACL_UINT8:
        *integer = *at;
        return true;
    case ACL_INT8:
        *integer = *(const int8_t *)at;
        return true;
    case ACL_INT16:
        *integer = *(const int16_t *)(const void *)at;
        return true;
    case ACL_INT32:
        *integer = *(const int32_t *)(const void *)at;
        return true;
    case ACL_INT64:
    case ACL_UINT64:
        memcpy(integer, at, sizeof *integer);
        return true;
    case ACL_FLOAT:
        memcpy(real, at, sizeof *real);
        return true;
    case ACL_FLOAT16:
        *real = mock_float16_to_float(*(const uint16_t *)(const void *)at);
        return true;
    default:
        return false;
    }
}

/* The values of an input that lies on the host, as an argument of their own. */
static bool send_constant(struct mock_call *call, const char *name, const struct tensor_desc *desc,
                          const struct data_buffer *buffer)
{
    const size_t item = mock_data_type_size(desc->data_type);
    const uint8_t *bytes = desc->constant != NULL ? desc->constant : buffer->data;
    const size_t length = desc->constant != NULL ? desc->constant_bytes : buffer->bytes;
    const size_t count = item == 0 ? 0 : length / item;
    if (desc->data_type == ACL_DOUBLE && count == 1) { /* as no array of an argument has them */
        double value = 0;
        memcpy(&value, bytes, sizeof value);
        mock_call_double(call, name, value);
        return true;
    }
    int64_t *integers = calloc(count + 1, sizeof *integers);
    float *reals = calloc(count + 1, sizeof *reals);
    bool good = integers != NULL && reals != NULL && item > 0;
    for (size_t i = 0; good && i < count; i++) {
        good = read_number(desc->data_type, bytes + i * item, &integers[i], &reals[i]);
    }
    if (good) {
        const bool real = desc->data_type == ACL_FLOAT || desc->data_type == ACL_FLOAT16;
        mock_call_values(call, name, real ? 'F' : 'I', real ? (void *)reals : (void *)integers,
                         count);
    }
    free(integers);
    free(reals);
    return good;
}

static bool is_on_host(const struct tensor_desc *desc)
{
    return desc->constant != NULL || desc->placement == ACL_MEMTYPE_HOST ||
           desc->placement == ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT;
}

/* The names of inputs on the host, which keep their places among the tensors. */
static const char *constant_name(int place)
{
    enum { MOST = 64 };
    static char names[MOST][16];
    if (place < 0 || place >= MOST) {
        return NULL;
    }
    snprintf(names[place], sizeof names[place], "#%d", place);
    return names[place];
}

/* An optional input that is left out; an empty tensor needs no memory, and is none. */
static bool is_left_out(const struct tensor_desc *desc, const struct data_buffer *buffer)
{
    const struct dims *dims = desc->storage.count < 0 ? &desc->dims : &desc->storage;
    bool empty = false;
    for (int i = 0; i < dims->count; i++) {
        empty |= dims->values[i] == 0;
    }
    return desc->data_type == ACL_DT_UNDEFINED ||
           (buffer->data == NULL && desc->constant == NULL && !empty);
}

static aclError add_one(struct mock_call *call, struct side *side, int place)
{
    const struct tensor_desc *desc = mock_handle_get(side->descs[place], MOCK_TENSOR_DESC);
    const struct data_buffer *buffer = mock_handle_get(side->buffers[place], MOCK_DATA_BUFFER);
    if (desc == NULL || buffer == NULL) {
        mock_violate_handle(side->descs[place], MOCK_TENSOR_DESC, false);
        mock_violate_handle(side->buffers[place], MOCK_DATA_BUFFER, false);
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "%s[%d] has no live description, or no live data buffer", side->name,
                         place);
    }
    if (is_left_out(desc, buffer)) {
        return ACL_SUCCESS;
    }
    if (is_on_host(desc)) {
        const char *name = constant_name(place);
        return name != NULL && send_constant(call, name, desc, buffer)
                   ? ACL_SUCCESS
                   : mock_fail(MOCK_NOT_IMPLEMENTED,
                               "%s[%d] of the single operator %s lies on the host with data type "
                               "%d, which the simulated NPU does not read there",
                               side->name, place, strchr(call->operator_name, ':') + 1,
                               (int)desc->data_type);
    }
    side->tensors[place] = make_tensor(desc, buffer->data, side->is_output);
    return side->tensors[place] != NULL ? ACL_SUCCESS
                                        : mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory");
}

static aclError add_side(struct mock_call *call, struct side *side)
{
    aclError status = ACL_SUCCESS;
    if (side->count < 0 || (side->count > 0 && (side->descs == NULL || side->buffers == NULL))) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%d %s without descriptions or buffers",
                         side->count, side->name);
    }
    side->tensors = calloc((size_t)side->count + 1, sizeof *side->tensors);
    if (side->tensors == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory");
    }
    for (int i = 0; i < side->count && status == ACL_SUCCESS; i++) {
        status = add_one(call, side, i);
    }
    mock_call_tensors(call, side->name, side->tensors, (uint64_t)side->count);
    return status;
}

static aclError add_attributes(struct mock_call *call, const aclopAttr *handle)
{
    const struct op_attributes *attributes = mock_handle_get(handle, MOCK_OP_ATTR);
    if (attributes == NULL && handle != NULL) {
        mock_violate_handle(handle, MOCK_OP_ATTR, false);
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no live aclopAttr", (const void *)handle);
    }
    const struct op_attribute *each = attributes == NULL ? NULL : attributes->first;
    for (; each != NULL; each = each->next) {
        mock_call_values(call, each->name, each->tag, each->values, each->count);
    }
    return ACL_SUCCESS;
}

static void end_side(struct side *side)
{
    mock_enter();
    for (int i = 0; side->tensors != NULL && i < side->count; i++) {
        free(mock_handle_close(side->tensors[i], MOCK_TENSOR));
    }
    mock_leave();
    free(side->tensors);
}

/* Wait for the operator, and set the dimensions that it has found in the descriptions. */
static aclError store_shapes(const struct side *outputs, aclrtStream stream)
{
    aclError status;
    mock_enter();
    struct stream *found = mock_stream_find(stream, false, &status);
    status = found == NULL ? status : mock_stream_finish(found, NULL);
    for (int i = 0; status == ACL_SUCCESS && i < outputs->count; i++) {
        const struct tensor *tensor = mock_handle_get(outputs->tensors[i], MOCK_TENSOR);
        struct tensor_desc *desc = mock_handle_get(outputs->descs[i], MOCK_TENSOR_DESC);
        struct dims *targets[] = {desc == NULL ? NULL : &desc->dims, desc == NULL ? NULL : &desc->storage};
        const int count = desc != NULL && is_blocked(desc) ? 1 : 2;
        for (int each = 0; tensor != NULL && desc != NULL && each < count; each++) {
            if (targets[each]->count == (int)tensor->rank) {
                memcpy(targets[each]->values, tensor->dims, sizeof tensor->dims);
            }
        }
    }
    mock_leave();
    return status;
}

static aclError run(const char *name, struct side *inputs, struct side *outputs,
                    const aclopAttr *attributes, aclrtStream stream, bool has_shapes)
{
    struct mock_call call;
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    mock_call_begin(&call, name);
    aclError status = add_side(&call, inputs);
    status = status != ACL_SUCCESS ? status : add_side(&call, outputs);
    status = status != ACL_SUCCESS ? status : add_attributes(&call, attributes);
    if (status != ACL_SUCCESS) {
        mock_call_free(&call);
        mock_leave();
        return status;
    }
    status = mock_phase1(&call, &size, &executor);
    status = status != ACL_SUCCESS ? status : mock_phase2(name, NULL, 0, executor, stream);
    return status == ACL_SUCCESS && has_shapes ? store_shapes(outputs, stream) : status;
}

static aclError execute(const char *type, bool compile, struct side inputs, struct side outputs,
                        const aclopAttr *attributes, aclrtStream stream, bool has_shapes)
{
    char *key = NULL;
    mock_enter();
    const char *name = name_of(type);
    aclError status = name == NULL ? mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for a name")
                                   : mock_compiled_key(type, inputs.count, inputs.descs,
                                                       outputs.count, outputs.descs, &key);
    if (status == ACL_SUCCESS && !compile && !mock_compiled_find(key)) {
        status = mock_fail(ACL_ERROR_OP_NOT_FOUND,
                           "no operator %s was compiled for these data types and dimensions; call "
                           "aclopCompile with the same, or aclopCompileAndExecute",
                           type);
    }
    mock_leave();
    if (status == ACL_SUCCESS) {
        status = run(name, &inputs, &outputs, attributes, stream, has_shapes);
        end_side(&inputs);
        end_side(&outputs);
    }
    if (status == ACL_SUCCESS && compile) {
        mock_enter();
        mock_compiled_add(key);
        mock_leave();
        return ACL_SUCCESS;
    }
    free(key);
    return status;
}

/* The tensors of a call, as every function of this family names them. */
#define INPUTS                                                                                     \
    (struct side)                                                                                  \
    {                                                                                              \
        "inputs", false, numInputs, (const aclTensorDesc *const *)inputDesc,                       \
            (const aclDataBuffer *const *)inputs, NULL                                             \
    }
#define OUTPUTS                                                                                    \
    (struct side)                                                                                  \
    {                                                                                              \
        "outputs", true, numOutputs, (const aclTensorDesc *const *)outputDesc,                     \
            (const aclDataBuffer *const *)outputs, NULL                                            \
    }

aclError aclopCompile(const char *opType, int numInputs, const aclTensorDesc *const *inputDesc,
                      int numOutputs, const aclTensorDesc *const *outputDesc,
                      const aclopAttr *attr, aclopEngineType engineType,
                      aclopCompileType compileFlag, const char *opPath)
{
    (void)attr;
    (void)engineType;
    (void)compileFlag;
    (void)opPath;
    char *key;
    mock_enter();
    aclError status =
        mock_compiled_key(opType, numInputs, inputDesc, numOutputs, outputDesc, &key);
    if (status == ACL_SUCCESS && !mock_compiled_add(key)) {
        status = mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for an operator");
    }
    mock_leave();
    return status;
}

aclError aclopCompileAndExecute(const char *opType, int numInputs,
                                const aclTensorDesc *const *inputDesc,
                                const aclDataBuffer *const *inputs, int numOutputs,
                                const aclTensorDesc *const *outputDesc,
                                aclDataBuffer *const *outputs, const aclopAttr *attr,
                                aclopEngineType engineType, aclopCompileType compileFlag,
                                const char *opPath, aclrtStream stream)
{
    (void)engineType;
    (void)compileFlag;
    (void)opPath;
    return execute(opType, true, INPUTS, OUTPUTS, attr, stream, false);
}

aclError aclopCompileAndExecuteV2(const char *opType, int numInputs, aclTensorDesc **inputDesc,
                                  aclDataBuffer **inputs, int numOutputs,
                                  aclTensorDesc **outputDesc, aclDataBuffer **outputs,
                                  aclopAttr *attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char *opPath,
                                  aclrtStream stream)
{
    (void)engineType;
    (void)compileFlag;
    (void)opPath;
    return execute(opType, true, INPUTS, OUTPUTS, attr, stream, true);
}

aclError aclopExecute(const char *opType, int numInputs, const aclTensorDesc *const *inputDesc,
                      const aclDataBuffer *const *inputs, int numOutputs,
                      const aclTensorDesc *const *outputDesc, aclDataBuffer *const *outputs,
                      const aclopAttr *attr, aclrtStream stream)
{
    return execute(opType, false, INPUTS, OUTPUTS, attr, stream, false);
}

aclError aclopExecuteV2(const char *opType, int numInputs, aclTensorDesc **inputDesc,
                        aclDataBuffer **inputs, int numOutputs, aclTensorDesc **outputDesc,
                        aclDataBuffer **outputs, aclopAttr *attr, aclrtStream stream)
{
    return execute(opType, false, INPUTS, OUTPUTS, attr, stream, true);
}
