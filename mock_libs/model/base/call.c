/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of an operator's arguments as a message to the device. */
#include "call.h"

#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "objects.h"
#include "task.h"
#include "violation.h"

static void put(struct mock_call *call, const void *data, size_t length)
{
    if (call->long_argument != NULL || length > MOCK_MAX_PAYLOAD ||
        call->length + length > MOCK_MAX_PAYLOAD) {
        call->long_argument = call->long_argument == NULL ? call->argument : call->long_argument;
        return;
    }
    if (call->capacity - call->length < length) {
        size_t capacity = call->capacity == 0 ? 1024 : call->capacity;
        while (capacity - call->length < length) {
            capacity *= 2;
        }
        uint8_t *larger = realloc(call->bytes, capacity);
        if (larger == NULL) {
            call->no_memory = true;
            return;
        }
        call->bytes = larger;
        call->capacity = capacity;
    }
    if (length > 0) {
        memcpy(call->bytes + call->length, data, length);
        call->length += length;
    }
}

static void put_u32(struct mock_call *call, uint32_t value)
{
    put(call, &value, sizeof value);
}

static void put_u64(struct mock_call *call, uint64_t value)
{
    put(call, &value, sizeof value);
}

static void put_string(struct mock_call *call, const char *text)
{
    const uint32_t length = (uint32_t)strlen(text);
    put_u32(call, length);
    put(call, text, length);
}

static void put_argument(struct mock_call *call, const char *name, char tag)
{
    call->argument = name;
    put_string(call, name);
    put(call, &tag, 1);
    call->arguments++;
}

void mock_call_begin(struct mock_call *call, const char *operator_name)
{
    memset(call, 0, sizeof *call);
    call->operator_name = operator_name;
    mock_enter();
    static const uint8_t prefix[MOCK_PREFIX];
    put(call, prefix, sizeof prefix); /* known in phase 2 */
    put_string(call, operator_name);
    put_u32(call, 0); /* flags and number of arguments: known in mock_call_phase1 */
    put_u32(call, 0);
}

static void add_used(struct mock_call *call, const char *name, const void *handle,
                      enum mock_kind kind)
{
    if (call->used_count == call->used_capacity) {
        const size_t capacity = call->used_capacity == 0 ? 16 : call->used_capacity * 2;
        struct mock_used *larger = realloc(call->used, capacity * sizeof *larger);
        if (larger == NULL) {
            call->no_memory = true;
            return;
        }
        call->used = larger;
        call->used_capacity = capacity;
    }
    call->used[call->used_count++] = (struct mock_used){handle, kind, name};
}

/* The object behind a handle; NULL is an argument that is absent, or dead and noted as such. */
static void *look_up(struct mock_call *call, const char *name, const void *handle,
                     enum mock_kind kind)
{
    void *object = handle == NULL ? NULL : mock_handle_get(handle, kind);
    if (object != NULL) {
        add_used(call, name, handle, kind);
    } else {
        mock_violate_handle(handle, kind, false);
    }
    if (handle != NULL && object == NULL && call->dead_argument == NULL) {
        call->dead_argument = name;
        call->dead_kind = kind;
    }
    return object;
}

/* An array with room for one item more; NULL: no host memory. */
static void *with_room(struct mock_call *call, void *items, size_t size, size_t count,
                       size_t *capacity)
{
    if (items != NULL && count < *capacity) {
        return items;
    }
    const size_t enough = *capacity == 0 ? 16 : *capacity * 2;
    void *larger = realloc(items, enough * size);
    if (larger == NULL) {
        call->no_memory = true;
    } else {
        *capacity = enough;
    }
    return larger;
}

static void put_slot(struct mock_call *call, const void *handle, uint32_t element)
{
    struct mock_tensor_slot *slots = with_room(call, call->slots, sizeof *slots,
                                               call->slot_count, &call->slot_capacity);
    if (slots == NULL) {
        return;
    }
    call->slots = slots;
    call->slots[call->slot_count++] = (struct mock_tensor_slot){
        .handle = handle,
        .address_at = call->length,
        .argument = call->arguments - 1,
        .element = element,
    };
    put_u64(call, 0);
}

static void put_tensor(struct mock_call *call, const struct tensor *tensor, const void *handle,
                       uint32_t element)
{
    put_u32(call, (uint32_t)tensor->data_type);
    put_u32(call, (uint32_t)tensor->format);
    put_u32(call, tensor->rank);
    put(call, tensor->dims, tensor->rank * sizeof tensor->dims[0]);
    put(call, tensor->strides, tensor->rank * sizeof tensor->strides[0]);
    put_u64(call, (uint64_t)tensor->offset);
    put_u32(call, tensor->storage_rank);
    put(call, tensor->storage, tensor->storage_rank * sizeof tensor->storage[0]);
    put_slot(call, handle, element);
}

void mock_call_tensor(struct mock_call *call, const char *name, const aclTensor *tensor)
{
    const struct tensor *object = look_up(call, name, tensor, MOCK_TENSOR);
    put_argument(call, name, object == NULL ? 'n' : 't');
    if (object != NULL) {
        put_tensor(call, object, tensor, 0);
    }
}

void mock_call_tensor_list(struct mock_call *call, const char *name, const aclTensorList *list)
{
    const struct values *values = look_up(call, name, list, MOCK_TENSOR_LIST);
    if (values == NULL) {
        put_argument(call, name, 'n');
    } else {
        mock_call_tensors(call, name, values->items.handles, values->count);
    }
}

void mock_call_tensors(struct mock_call *call, const char *name, void *const *handles,
                       uint64_t count)
{
    put_argument(call, name, 'T');
    put_u32(call, (uint32_t)count);
    for (uint64_t i = 0; i < count; i++) {
        const void *handle = handles[i];
        const struct tensor *tensor = look_up(call, name, handle, MOCK_TENSOR);
        put(call, tensor == NULL ? "n" : "t", 1);
        if (tensor != NULL) {
            put_tensor(call, tensor, handle, (uint32_t)i);
        }
    }
}

static void put_scalar(struct mock_call *call, const struct scalar *scalar)
{
    put_u32(call, (uint32_t)scalar->data_type);
    put_u32(call, scalar->bytes);
    struct mock_scalar_slot *scalars = with_room(call, call->scalars, sizeof *scalars,
                                                 call->scalar_count, &call->scalar_capacity);
    if (scalars != NULL) {
        call->scalars = scalars;
        scalars[call->scalar_count++] = (struct mock_scalar_slot){call->length, scalar->bytes};
    }
    put(call, scalar->value, scalar->bytes);
}

void mock_call_scalar(struct mock_call *call, const char *name, const aclScalar *scalar)
{
    const struct scalar *object = look_up(call, name, scalar, MOCK_SCALAR);
    put_argument(call, name, object == NULL ? 'n' : 's');
    if (object != NULL) {
        put_scalar(call, object);
    }
}

void mock_call_scalar_list(struct mock_call *call, const char *name, const aclScalarList *list)
{
    const struct values *values = look_up(call, name, list, MOCK_SCALAR_LIST);
    put_argument(call, name, values == NULL ? 'n' : 'S');
    if (values == NULL) {
        return;
    }
    put_u32(call, (uint32_t)values->count);
    for (uint64_t i = 0; i < values->count; i++) {
        const struct scalar *scalar =
            look_up(call, name, values->items.handles[i], MOCK_SCALAR);
        put(call, scalar == NULL ? "n" : "s", 1);
        if (scalar != NULL) {
            put_scalar(call, scalar);
        }
    }
}

static void put_array(struct mock_call *call, const char *name, const void *handle,
                      enum mock_kind kind, char tag, size_t item)
{
    const struct values *values = look_up(call, name, handle, kind);
    put_argument(call, name, values == NULL ? 'n' : tag);
    if (values != NULL) {
        put_u64(call, values->count);
        put(call, values->items.any, values->count * item);
    }
}

void mock_call_int_array(struct mock_call *call, const char *name, const aclIntArray *array)
{
    put_array(call, name, array, MOCK_INT_ARRAY, 'I', sizeof(int64_t));
}

void mock_call_float_array(struct mock_call *call, const char *name, const aclFloatArray *array)
{
    put_array(call, name, array, MOCK_FLOAT_ARRAY, 'F', sizeof(float));
}

void mock_call_bool_array(struct mock_call *call, const char *name, const aclBoolArray *array)
{
    put_array(call, name, array, MOCK_BOOL_ARRAY, 'B', sizeof(bool));
}

void mock_call_int(struct mock_call *call, const char *name, int64_t value)
{
    put_argument(call, name, 'i');
    put(call, &value, sizeof value);
}

void mock_call_uint(struct mock_call *call, const char *name, uint64_t value)
{
    put_argument(call, name, 'u');
    put(call, &value, sizeof value);
}

void mock_call_double(struct mock_call *call, const char *name, double value)
{
    put_argument(call, name, 'd');
    put(call, &value, sizeof value);
}

void mock_call_bool(struct mock_call *call, const char *name, bool value)
{
    const uint8_t byte = value ? 1 : 0;
    put_argument(call, name, 'b');
    put(call, &byte, sizeof byte);
}

void mock_call_string(struct mock_call *call, const char *name, const char *value)
{
    put_argument(call, name, value == NULL ? 'n' : 'c');
    if (value != NULL) {
        put_string(call, value);
        if (call->group == NULL && strncmp(name, "group", 5) == 0) {
            call->group = value;
        }
    }
}

void mock_call_values(struct mock_call *call, const char *name, char tag, const void *values,
                      uint64_t count)
{
    const size_t item = tag == 'F' ? sizeof(float) : strchr("idI", tag) != NULL ? 8 : 1;
    if (tag == 'c') {
        mock_call_string(call, name, values);
        return;
    }
    put_argument(call, name, tag);
    if (strchr("IFB", tag) != NULL) {
        put_u64(call, count);
    }
    put(call, values, count * item);
}

void mock_call_finish(struct mock_call *call, uint32_t flags)
{
    uint8_t *counts = call->bytes + MOCK_PREFIX + sizeof(uint32_t) + strlen(call->operator_name);
    memcpy(counts, &flags, sizeof flags);
    memcpy(counts + sizeof flags, &call->arguments, sizeof call->arguments);
}

void mock_call_free(struct mock_call *call)
{
    free(call->bytes);
    free(call->slots);
    free(call->scalars);
    free(call->used);
}
