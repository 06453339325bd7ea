/* SPDX-License-Identifier: Apache-2.0 */
/* Builder of a message to the device: the arguments of phase 1 of an operator. */
#pragma once

#include "aclnn/acl_meta.h"
#include "handles.h"

/* The offset of a tensor in a message, at which phase 2 writes its current address. */
struct mock_tensor_slot {
    const void *handle;
    size_t address_at;
    uint32_t argument, element;
    bool replaced; /* aclSet…TensorAddr gave another address */
    void *replacement;
};

/* The place of a scalar's value in a message: phase 1 of many operators answers alike for all. */
struct mock_scalar_slot {
    size_t value_at, bytes;
};

/* An object that the executor will need in phase 2. */
struct mock_used {
    const void *handle;
    enum mock_kind kind;
    const char *argument;
};

/* A message under construction: the arguments of a phase 1. */
struct mock_call {
    const char *operator_name;
    uint8_t *bytes;
    size_t length, capacity;
    uint32_t arguments;
    struct mock_tensor_slot *slots;
    size_t slot_count, slot_capacity;
    struct mock_scalar_slot *scalars;
    size_t scalar_count, scalar_capacity;
    struct mock_used *used;
    size_t used_count, used_capacity;
    bool no_memory;
    const char *argument;      /* the one that is being added */
    const char *long_argument; /* the one that makes the message too long to send */
    const char *group;         /* the first name of a group of ranks among the arguments */
    const char *dead_argument; /* an argument that is no live object, and what it should be */
    enum mock_kind dead_kind;
};

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* mock_call_begin takes the lock and mock_phase1 releases it; only the functions that add an
 * argument may be called between them. */
void mock_call_begin(struct mock_call *call, const char *operator_name);

#pragma GCC visibility pop

void mock_call_tensor(struct mock_call *call, const char *name, const aclTensor *tensor);
void mock_call_tensor_list(struct mock_call *call, const char *name, const aclTensorList *list);
/* Tensors by their handles, of which some may be NULL, as a list. */
void mock_call_tensors(struct mock_call *call, const char *name, void *const *handles,
                       uint64_t count);
/* Values under a tag of the wire: one of 'b', 'i', 'd'; a text of 'c'; an array of 'I', 'F', 'B'. */
void mock_call_values(struct mock_call *call, const char *name, char tag, const void *values,
                      uint64_t count);
void mock_call_scalar(struct mock_call *call, const char *name, const aclScalar *scalar);
void mock_call_scalar_list(struct mock_call *call, const char *name, const aclScalarList *list);
void mock_call_int_array(struct mock_call *call, const char *name, const aclIntArray *array);
void mock_call_float_array(struct mock_call *call, const char *name, const aclFloatArray *array);
void mock_call_bool_array(struct mock_call *call, const char *name, const aclBoolArray *array);
void mock_call_int(struct mock_call *call, const char *name, int64_t value);
void mock_call_uint(struct mock_call *call, const char *name, uint64_t value);
void mock_call_double(struct mock_call *call, const char *name, double value);
void mock_call_bool(struct mock_call *call, const char *name, bool value);
void mock_call_string(struct mock_call *call, const char *name, const char *value);

/* Bytes of the longest message that the device process accepts. */
enum { MOCK_MAX_PAYLOAD = 4 << 20 };

/* The bits of the flags from here on count the ranks of the group. */
enum { MOCK_RANKS_SHIFT = 16 };

/* Fill in what is known last: the flags of the call and the number of its arguments. */
void mock_call_finish(struct mock_call *call, uint32_t flags);
/* Free what was not taken over. */
void mock_call_free(struct mock_call *call);
