/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations of a kernel's template arguments, from which CANN's build derives tiling keys. Here
 * a launch names the arguments, so that declarations and selections mean nothing.
 */
#pragma once

#define ASCENDC_TPL_ARGS_DECL(...) static_assert(true)
#define ASCENDC_TPL_SEL(...) static_assert(true)

/* Element types and formats as values of template arguments. */
enum {
    C_DT_FLOAT = 0,
    C_DT_FLOAT16 = 1,
    C_DT_INT8 = 2,
    C_DT_INT32 = 3,
    C_DT_UINT8 = 4,
    C_DT_INT16 = 6,
    C_DT_UINT16 = 7,
    C_DT_UINT32 = 8,
    C_DT_INT64 = 9,
    C_DT_UINT64 = 10,
    C_DT_DOUBLE = 11,
    C_DT_BOOL = 12,
    C_DT_BF16 = 27
};
enum { C_FORMAT_ND = 2 };
