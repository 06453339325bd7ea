/* SPDX-License-Identifier: Apache-2.0 */
/* C++ class members under their mangled names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "error_message.h"
#include "float16.h"
#include "handles.h"
#include "nnopbase/members.h"
#include "objects.h"
#include "violation.h"

static const void *find(const void *handle, enum mock_kind kind, const char *member)
{
    const void *object = mock_handle_get(handle, kind);
    if (object == NULL) {
        mock_violate_handle(handle, kind, false);
        mock_fail(ACLNN_ERR_PARAM_INVALID, "%s: %p is no live %s", member, handle,
                  mock_kind_name(kind));
    }
    return object;
}

void *_ZNK9aclTensor7GetDataEv(const aclTensor *self)
{
    const struct tensor *tensor = find(self, MOCK_TENSOR, "aclTensor::GetData");
    void *address = tensor == NULL || tensor->offset != 0 ? NULL : tensor->address;
    if (tensor != NULL && tensor->offset != 0) {
        mock_fail(ACLNN_ERR_PARAM_INVALID,
                  "aclTensor::GetData: a tensor that begins %lld elements behind its storage is "
                  "not implemented by the simulated NPU",
                  (long long)tensor->offset);
    }
    return address;
}

const int64_t *_ZNK8aclArrayIlE7GetDataEv(const aclIntArray *self)
{
    const struct values *array = find(self, MOCK_INT_ARRAY, "aclArray<int64_t>::GetData");
    const int64_t *items = array == NULL ? NULL : array->items.integers;
    return items;
}

const void *_ZNK9aclScalar7GetDataEv(const aclScalar *self)
{
    const struct scalar *scalar = find(self, MOCK_SCALAR, "aclScalar::GetData");
    const void *value = scalar == NULL ? NULL : scalar->value;
    return value;
}

aclDataType _ZNK9aclScalar11GetDataTypeEv(const aclScalar *self)
{
    const struct scalar *scalar = find(self, MOCK_SCALAR, "aclScalar::GetDataType");
    return scalar == NULL ? ACL_DT_UNDEFINED : scalar->data_type;
}

/* ---- a scalar as a number ------------------------------------------------------------------ */

/* The value of a scalar as a complex number, which holds every type. */
static aclComplex128 read(const struct scalar *scalar)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32[2];
        double f64[2];
    } value;
    memcpy(&value, scalar->value, sizeof scalar->value);
    switch (scalar->data_type) {
    case ACL_BOOL:
        return (aclComplex128){value.u8 != 0, 0};
    case ACL_UINT8:
        return (aclComplex128){value.u8, 0};
    case ACL_INT8:
        return (aclComplex128){value.i8, 0};
    case ACL_UINT16:
        return (aclComplex128){value.u16, 0};
    case ACL_INT16:
        return (aclComplex128){value.i16, 0};
    case ACL_UINT32:
        return (aclComplex128){value.u32, 0};
    case ACL_INT32:
        return (aclComplex128){value.i32, 0};
    case ACL_UINT64:
        return (aclComplex128){(double)value.u64, 0};
    case ACL_INT64:
        return (aclComplex128){(double)value.i64, 0};
    case ACL_FLOAT16:
        return (aclComplex128){(double)mock_float16_to_float(value.u16), 0};
    case ACL_BF16:
        return (aclComplex128){(double)mock_bfloat16_to_float(value.u16), 0};
    case ACL_FLOAT:
        return (aclComplex128){(double)value.f32[0], 0};
    case ACL_COMPLEX64:
        return (aclComplex128){(double)value.f32[0], (double)value.f32[1]};
    case ACL_COMPLEX128:
        return (aclComplex128){value.f64[0], value.f64[1]};
    default: /* of the types that a scalar can have, the last */
        return (aclComplex128){value.f64[0], 0};
    }
}

static aclComplex128 number(const aclScalar *handle, bool real, const char *member)
{
    aclComplex128 found = {(double)NAN, (double)NAN};
    mock_enter();
    const struct scalar *scalar = find(handle, MOCK_SCALAR, member);
    const bool is_complex = scalar != NULL && (scalar->data_type == ACL_COMPLEX64 ||
                                               scalar->data_type == ACL_COMPLEX128);
    if (real && is_complex) {
        mock_fail(ACLNN_ERR_PARAM_INVALID,
                  "%s: of a complex number, is not implemented by the simulated NPU", member);
    } else if (scalar != NULL) {
        found = read(scalar);
    }
    mock_leave();
    return found;
}

float _ZNK9aclScalar7ToFloatEv(const aclScalar *self)
{
    return (float)number(self, true, "aclScalar::ToFloat").real;
}

aclComplex64 _ZNK9aclScalar11ToComplex64Ev(const aclScalar *self)
{
    const aclComplex128 found = number(self, false, "aclScalar::ToComplex64");
    return (aclComplex64){(float)found.real, (float)found.imag};
}

aclComplex128 _ZNK9aclScalar12ToComplex128Ev(const aclScalar *self)
{
    return number(self, false, "aclScalar::ToComplex128");
}

/* ---- texts --------------------------------------------------------------------------------- */

void *_ZNK9aclScalar8ToStringEv(void *place, const aclScalar *self)
{
    (void)self;
    mock_unimplemented("aclScalar::ToString");
#ifdef __x86_64__
    memset(place, 0, sizeof(aclAscendString));
    return place;
#else
    /* C cannot declare this call, so the address of the result is unknown. */
    (void)place;
    fputs("simulated NPU: aclScalar::ToString is not implemented\n", stderr);
    abort();
#endif
}

const char *_ZNK2ge12AscendString9GetStringEv(const aclAscendString *self)
{
    if (self == NULL || self->text != NULL) {
        mock_unimplemented("ge::AscendString::GetString of a text");
    }
    return "";
}
