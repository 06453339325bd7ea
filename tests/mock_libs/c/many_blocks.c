/* SPDX-License-Identifier: Apache-2.0 */
/* As many blocks of device memory at once as the argument says, freed in another order than they
 * were made. */
#include "expect.h"

enum { STRIDE = 7919 }; /* a prime number, which the number of blocks must not be a multiple of */

int main(int count, char **arguments)
{
    OK(count != 2);
    const size_t number = strtoul(arguments[1], NULL, 10);
    void **blocks = malloc(number * sizeof *blocks);
    OK(blocks == NULL);
    OK(aclrtSetDevice(0));
    for (size_t i = 0; i < number; i++) {
        OK(aclrtMalloc(&blocks[i], 64, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (size_t i = 0; i < number; i++) {
        OK(aclrtFree(blocks[i * STRIDE % number]));
    }
    OK(aclrtResetDevice(0));
    free(blocks);
    return 0;
}
