/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a tensor in another format: a function of operator libraries for the host alone.
 * Source: CANN: ops-math conversion/npu_format_cast/op_host/op_api. */
#include <stdlib.h>
#include <string.h>

#include "aclnnop/aclnn_npu_format_cast.h"
#include "data_type.h"
#include "error_message.h"
#include "handles.h"
#include "objects.h"

enum { CUBE = 16, BLOCK_BYTES = 32, MOST = MAX_DIMENSIONS + 2 };

/* A pair of formats: the letters of the dense dimensions, and products of them that are the blocked
 * ones: c and n are C and N in blocks, # the rows of a block and $ its columns. */
static const struct pair {
    aclFormat dense, blocked;
    const char *dims, *blocks;
} PAIRS[] = {
    {ACL_FORMAT_NCDHW, ACL_FORMAT_NDC1HWC0, "NCDHW", "N D c H W $"},
    {ACL_FORMAT_NDHWC, ACL_FORMAT_NDC1HWC0, "NDHWC", "N D c H W $"},
    {ACL_FORMAT_NCHW, ACL_FORMAT_NC1HWC0, "NCHW", "N c H W $"},
    {ACL_FORMAT_NHWC, ACL_FORMAT_NC1HWC0, "NHWC", "N c H W $"},
    {ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_Z, "NCHW", "cHW n # $"},
    {ACL_FORMAT_HWCN, ACL_FORMAT_FRACTAL_Z, "HWCN", "cHW n # $"},
    {ACL_FORMAT_NCDHW, ACL_FRACTAL_Z_3D, "NCDHW", "DcHW n # $"},
    {ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, NULL, NULL},
    {ACL_FORMAT_NCL, ACL_FORMAT_FRACTAL_NZ, NULL, NULL},
};

static int64_t in_blocks(int64_t length, int64_t step)
{
    return (length + step - 1) / step;
}

static int64_t factor(const struct tensor *tensor, const char *dims, char letter, int64_t columns)
{
    if (letter == '#' || letter == '$') {
        return letter == '#' ? CUBE : columns;
    }
    const char name = letter == 'c' ? 'C' : letter == 'n' ? 'N' : letter;
    const int64_t length = tensor->dims[strchr(dims, name) - dims];
    return letter == 'c' ? in_blocks(length, columns) : letter == 'n' ? in_blocks(length, CUBE) : length;
}

/* Write the blocked dimensions of a tensor; returns how many. */
static uint64_t block(const struct tensor *tensor, const struct pair *pair, int64_t columns,
                      int64_t *dims)
{
    uint64_t count = 0;
    if (pair->blocks == NULL) {
        count = tensor->rank + 2;
        const uint32_t rows = tensor->rank - 2;
        memcpy(dims, tensor->dims, rows * sizeof *dims);
        dims[rows] = in_blocks(tensor->dims[rows + 1], columns);
        dims[rows + 1] = in_blocks(tensor->dims[rows], CUBE);
        dims[rows + 2] = CUBE;
        dims[rows + 3] = columns;
        return count;
    }
    dims[count] = 1;
    for (const char *at = pair->blocks; *at != '\0'; at++) {
        if (*at == ' ') {
            dims[++count] = 1;
        } else {
            dims[count] *= factor(tensor, pair->dims, *at, columns);
        }
    }
    return count + 1;
}

/* The pair of a format that a tensor has and one it shall have; *packs: it becomes a blocked one. */
static const struct pair *find_pair(aclFormat from, aclFormat to, bool *packs)
{
    for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++) {
        *packs = PAIRS[i].dense == from && PAIRS[i].blocked == to;
        if (*packs || (PAIRS[i].blocked == from && PAIRS[i].dense == to)) {
            return &PAIRS[i];
        }
    }
    return NULL;
}

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor *srcTensor,
                                                     const int dstFormat, int additionalDtype,
                                                     int64_t **dstShape, uint64_t *dstShapeSize,
                                                     int *actualFormat)
{
    const struct tensor *tensor = mock_handle_get(srcTensor, MOCK_TENSOR);
    if (tensor == NULL) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID, "srcTensor is no live aclTensor");
    }
    bool packs;
    const struct pair *pair = find_pair(tensor->format, (aclFormat)dstFormat, &packs);
    if (pair == NULL) {
        return mock_fail(ACLNN_ERR_RUNTIME_ERROR, "no tensor of format %d becomes one of format %d",
                         (int)tensor->format, dstFormat);
    }
    const uint32_t rank = pair->dims == NULL ? 0 : (uint32_t)strlen(pair->dims);
    const aclDataType type = additionalDtype == -1 ? tensor->data_type : (aclDataType)additionalDtype;
    const int64_t bytes = (int64_t)mock_data_type_size(type);
    if ((rank != 0 && tensor->rank != rank) || tensor->rank < 2 || bytes == 0 ||
        bytes > BLOCK_BYTES) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID,
                         "srcTensor has %u dimensions, and the data type is %d", tensor->rank,
                         (int)type);
    }
    int64_t *dims = calloc(MOST, sizeof *dims); /* the caller frees it */
    if (dims == NULL) {
        return mock_fail(ACLNN_ERR_INNER, "no host memory");
    }
    *dstShapeSize = tensor->rank;
    memcpy(dims, tensor->dims, sizeof tensor->dims);
    if (packs) {
        *dstShapeSize = block(tensor, pair, BLOCK_BYTES / bytes, dims);
    }
    *dstShape = dims;
    *actualFormat = dstFormat;
    return ACLNN_SUCCESS;
}
