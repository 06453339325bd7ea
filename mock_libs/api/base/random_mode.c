/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which an Ascend 950 draws random numbers: CANN's, or that of PyTorch. The numbers
 * of the simulated NPU are its own in both; torch-npu sets it before operators that draw. */
#include "aclnnop/aclnn_set_pytorch_random.h"

static _Atomic int32_t order;

aclnnStatus aclnnSetPytorchRandom(int32_t pytorchRandom)
{
    order = pytorchRandom;
    return ACLNN_SUCCESS;
}

int32_t aclnnGetPytorchRandom(void)
{
    return order;
}
