/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every header of this tree needs first: which CANN release the declarations stand for, and
 * the mark of an exported function. No real installation has this header.
 */
#ifndef INCLUDE_STUBS_ACL_ACL_STUBS_H_
#define INCLUDE_STUBS_ACL_ACL_STUBS_H_

#include <stddef.h>
#include <stdint.h>

/* 901 declares CANN 9.1, 801 leaves out whatever is newer than CANN 8.1. */
#ifndef ACL_STUBS_CANN
#define ACL_STUBS_CANN 901
#endif

/* Lets a library built with hidden visibility export exactly what is declared here. */
#ifndef ACL_FUNC_VISIBILITY
#if defined(__GNUC__) || defined(__clang__)
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#endif

#endif
