/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the libraries of telling.py, and their output. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int aclnnStatus;
typedef int aclDataType;
typedef int aclFormat;
typedef void *aclrtStream;
typedef struct aclTensor {
    int64_t dims[25];
    uint64_t rank;
    int64_t storage[25];
    uint64_t storage_rank;
    int data_type, format;
    const void *data;
} aclTensor, aclOpExecutor;
typedef struct aclScalar {
    unsigned char bytes[16];
    int data_type;
} aclScalar;
typedef struct aclTensorList {
    uint64_t count;
    const aclTensor *items[64];
} aclTensorList;
typedef struct aclScalarList {
    uint64_t count;
    const aclScalar *items[64];
} aclScalarList;
typedef struct aclIntArray {
    uint64_t count;
    int64_t items[64];
} aclIntArray;
typedef struct aclFloatArray {
    uint64_t count;
    float items[64];
} aclFloatArray;
typedef struct aclBoolArray {
    uint64_t count;
    bool items[64];
} aclBoolArray;
