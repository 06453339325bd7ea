/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of weights in the layouts of the cube unit, and packed factors of quantization: functions
 * of operator libraries that run on the host alone.
 * Source: CANN: ops-math conversion/trans_data/op_api, ops-nn quant/trans_quant_param. */
#include <stdlib.h>
#include <string.h>

#include "aclnnop/aclnn_trans_convolution_weight.h"
#include "aclnnop/aclnn_trans_matmul_weight.h"
#include "aclnnop/aclnn_trans_quant_param.h"
#include "chip.h"
#include "error_message.h"
#include "handles.h"
#include "objects.h"

enum { CUBE = 16, BYTES_OF_INT8 = 32, MOST_DIMS = 6 };

/* ---- sizes of weights ------------------------------------------------------------------------ */

/* Chips whose cube unit reads weights of more than two dimensions in FRACTAL_NZ. */
static bool takes_batches(const struct chip *chip)
{
    return strcmp(chip->family, "910b") == 0 || strcmp(chip->family, "910_93") == 0;
}

static bool reads_fractals(const struct chip *chip)
{
    return takes_batches(chip) || strcmp(chip->family, "310p") == 0;
}

/* The shape in an array of integers, or NULL after mock_fail. */
static const struct values *shape_of(const aclIntArray *array, uint64_t least, uint64_t most,
                                     bool with_elements)
{
    const struct values *shape = mock_handle_get(array, MOCK_INT_ARRAY);
    bool good = shape != NULL && shape->count >= least && shape->count <= most;
    for (uint64_t i = 0; good && i < shape->count; i++) {
        good = shape->items.integers[i] >= (with_elements ? 1 : 0);
    }
    if (!good) {
        mock_fail(ACLNN_ERR_PARAM_INVALID,
                  "tensorShape must be an array of %llu to %llu lengths%s",
                  (unsigned long long)least, (unsigned long long)most,
                  with_elements ? " above 0" : "");
    }
    return good ? shape : NULL;
}

static uint64_t up(int64_t length, uint64_t step)
{
    return ((uint64_t)length + step - 1) / step * step;
}

static uint64_t product(const struct values *shape, uint64_t row_step, uint64_t column_step)
{
    uint64_t elements = 1;
    for (uint64_t i = 0; i < shape->count; i++) {
        const uint64_t behind = shape->count - i;
        elements *= up(shape->items.integers[i], behind == 2   ? row_step
                                                 : behind == 1 ? column_step
                                                               : 1);
    }
    return elements;
}

aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape,
                                           uint64_t *weightTensorSize)
{
    const struct chip *chip = mock_chip();
    const struct values *shape =
        chip == NULL ? NULL : shape_of(tensorShape, 2, takes_batches(chip) ? MOST_DIMS : 2, false);
    if (shape == NULL) {
        return ACLNN_ERR_PARAM_INVALID;
    }
    const uint64_t step = reads_fractals(chip) ? CUBE : 1;
    *weightTensorSize = product(shape, step, step);
    return ACLNN_SUCCESS;
}

aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape, aclDataType dataType,
                                             uint64_t *weightTensorSize)
{
    const struct chip *chip = mock_chip();
    const struct values *shape = chip == NULL ? NULL : shape_of(tensorShape, 2, MOST_DIMS, true);
    if (shape == NULL) {
        return ACLNN_ERR_PARAM_INVALID;
    }
    if (!reads_fractals(chip)) {
        return mock_fail(ACLNN_ERR_RUNTIME_ERROR, "%s has no such layout of weights", chip->soc_name);
    }
    const bool bytes = dataType == ACL_INT8;
    if (!bytes && dataType != ACL_FLOAT16 && dataType != ACL_BF16) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID,
                         "dataType is %d; it must be float16, bfloat16 or int8", (int)dataType);
    }
    *weightTensorSize = product(shape, CUBE, bytes ? BYTES_OF_INT8 : CUBE);
    return ACLNN_SUCCESS;
}

aclnnStatus aclnnCalculateConvolutionWeightSize(const aclIntArray *tensorShape, bool transposed,
                                                int64_t groups, aclDataType dataType,
                                                uint64_t *weightTensorSize)
{
    const struct values *shape = shape_of(tensorShape, 4, 4, false);
    if (shape == NULL) {
        return ACLNN_ERR_PARAM_INVALID;
    }
    if (dataType != ACL_FLOAT16) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID, "dataType is %d; it must be float16",
                         (int)dataType);
    }
    if (groups != 1) {
        return mock_fail(MOCK_NOT_IMPLEMENTED,
                         "how FRACTAL_Z holds the weights of %lld groups is not known",
                         (long long)groups);
    }
    (void)transposed; /* it exchanges two lengths that are rounded alike */
    const int64_t *dims = shape->items.integers;
    *weightTensorSize = up(dims[0], CUBE) * up(dims[1], CUBE) * (uint64_t)(dims[2] * dims[3]);
    return ACLNN_SUCCESS;
}

/* ---- factors of quantization ----------------------------------------------------------------- */

enum { MARK = 46, OFFSET_AT = 37, OFFSET_BITS = 9 };

static uint64_t packed(float scale, const float *offset)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    uint64_t word = bits | UINT64_C(1) << MARK;
    if (offset != NULL) {
        const float half = *offset < 0 ? -0.5f : 0.5f;
        const int clamped = *offset < -256 ? -256 : *offset > 255 ? 255 : (int)(*offset + half);
        const uint64_t field = (unsigned)clamped & ((1u << OFFSET_BITS) - 1);
        word = (word & UINT64_C(0x4000FFFFFFFF)) | field << OFFSET_AT;
    }
    return word;
}

aclnnStatus aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize,
                                 const float *offsetArray, uint64_t offsetSize,
                                 uint64_t **quantParam, uint64_t *quantParamSize)
{
    if (scaleArray == NULL || scaleSize == 0 || (offsetArray == NULL) != (offsetSize == 0) ||
        (scaleSize != 1 && offsetSize > 1 && offsetSize != scaleSize)) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID,
                         "scaleSize is %llu and offsetSize %llu: there must be scales, and an "
                         "offset for each, one or none",
                         (unsigned long long)scaleSize, (unsigned long long)offsetSize);
    }
    const uint64_t most = scaleSize > offsetSize ? scaleSize : offsetSize;
    const uint64_t count = most == 1 ? 1 : (most + CUBE - 1) / CUBE * CUBE;
    uint64_t *words = count < most ? NULL : calloc(count, sizeof *words);
    if (words == NULL) {
        return mock_fail(ACLNN_ERR_INNER, "no host memory for %llu factors",
                         (unsigned long long)count);
    }
    for (uint64_t i = 0; i < most; i++) {
        const float *offset = offsetSize == 0 ? NULL : &offsetArray[offsetSize == 1 ? 0 : i];
        words[i] = packed(scaleArray[scaleSize == 1 ? 0 : i], offset);
    }
    *quantParam = words;
    *quantParamSize = count;
    return ACLNN_SUCCESS;
}
