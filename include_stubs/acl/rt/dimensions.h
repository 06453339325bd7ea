/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of blocks or threads along three axes; in C++ those that are not given are 1. Newer than
 * CANN 8.1.
 */
#pragma once

#include "acl/acl_stubs.h"

#if ACL_STUBS_CANN >= 901
typedef struct dim3 {
    uint32_t x;
    uint32_t y;
    uint32_t z;
#ifdef __cplusplus
    constexpr dim3(uint32_t along_x = 1, uint32_t along_y = 1, uint32_t along_z = 1)
        : x(along_x), y(along_y), z(along_z)
    {
    }
#endif
} dim3;
#endif
