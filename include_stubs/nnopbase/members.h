/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ class members that programs link beside the C functions: the content of tensors, scalars and
 * arrays. They are declared by their mangled names: the object is an argument. Provided by
 * libnnopbase.so.
 */
#pragma once

#include "aclnn/acl_meta.h"

ACL_STUBS_C_BEGIN

#if ACL_STUBS_CANN >= 901
/* Passed as std::complex is. */
typedef struct aclComplex64 {
    float real, imag;
} aclComplex64;
typedef struct aclComplex128 {
    double real, imag;
} aclComplex128;
/* ge::AscendString: a std::shared_ptr, which holds nothing while both are NULL. */
typedef struct aclAscendString {
    const void *text;
    void *owners;
} aclAscendString;

ACL_FUNC_VISIBILITY void *_ZNK9aclTensor7GetDataEv(const aclTensor *self);
ACL_FUNC_VISIBILITY const int64_t *_ZNK8aclArrayIlE7GetDataEv(const aclIntArray *self);
ACL_FUNC_VISIBILITY const void *_ZNK9aclScalar7GetDataEv(const aclScalar *self);
ACL_FUNC_VISIBILITY aclDataType _ZNK9aclScalar11GetDataTypeEv(const aclScalar *self);
ACL_FUNC_VISIBILITY float _ZNK9aclScalar7ToFloatEv(const aclScalar *self);
ACL_FUNC_VISIBILITY aclComplex64 _ZNK9aclScalar11ToComplex64Ev(const aclScalar *self);
ACL_FUNC_VISIBILITY aclComplex128 _ZNK9aclScalar12ToComplex128Ev(const aclScalar *self);
/* The result is made in a place of the caller's. */
ACL_FUNC_VISIBILITY void *_ZNK9aclScalar8ToStringEv(void *place, const aclScalar *self);
ACL_FUNC_VISIBILITY const char *_ZNK2ge12AscendString9GetStringEv(const aclAscendString *self);
#endif

ACL_STUBS_C_END
