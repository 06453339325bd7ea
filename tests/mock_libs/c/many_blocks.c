/* SPDX-License-Identifier: Apache-2.0 */
/* A million blocks of device memory at once, freed in another order than they were made. */
#include "expect.h"

enum { BLOCKS = 1000000, STRIDE = 7919 };

int main(void)
{
    void **blocks = malloc(BLOCKS * sizeof *blocks);
    OK(blocks == NULL);
    OK(aclrtSetDevice(0));
    for (size_t i = 0; i < BLOCKS; i++) {
        OK(aclrtMalloc(&blocks[i], 64, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        OK(aclrtFree(blocks[i * STRIDE % BLOCKS]));
    }
    OK(aclrtResetDevice(0));
    free(blocks);
    return 0;
}
