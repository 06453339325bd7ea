/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every header of this tree needs first: which CANN release the declarations stand for, and
 * the mark of an exported function. No real installation has this header.
 */
#ifndef INCLUDE_STUBS_ACL_ACL_STUBS_H_
#define INCLUDE_STUBS_ACL_ACL_STUBS_H_

#include <stddef.h>
#include <stdint.h>

/* 901 declares CANN 9.1, 801 leaves out whatever is newer than CANN 8.1. An include folder that is
 * of one release has a header that says so. */
#ifndef ACL_STUBS_CANN
#ifdef __has_include
#if __has_include("acl/acl_release.h")
#  include "acl/acl_release.h"
#endif
#endif
#endif
#ifndef ACL_STUBS_CANN
#define ACL_STUBS_CANN 901
#endif

/* The answer of everything the simulated NPU does not have: a code that CANN does not use. */
#define MOCK_NOT_IMPLEMENTED 999001

/* Lets a library built with hidden visibility export exactly what is declared here. */
#ifndef ACL_FUNC_VISIBILITY
#if defined(__GNUC__) || defined(__clang__)
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#endif

/* Says of a function that the chosen release lacks which one has it, where somebody uses it. */
#if ACL_STUBS_CANN < 901 && defined(__GNUC__)
#define ACL_STUBS_TEXT(name)                                                              \
    #name " is not in CANN 8.1, which is chosen here (-DACL_STUBS_CANN=801); "            \
          "CANN 9.1 has it (-DACL_STUBS_CANN=901, pyaclnn mock cflags --cann 9.1)"
#if defined(__has_attribute) && __has_attribute(unavailable)
#define ACL_STUBS_REFUSED(name) __attribute__((unavailable(ACL_STUBS_TEXT(name))))
#else
#define ACL_STUBS_REFUSED(name) __attribute__((error(ACL_STUBS_TEXT(name))))
#endif
/* Whatever it is called with: what is newer than the release is not only functions. */
#ifdef __cplusplus
#define ACL_STUBS_NEWER(name)                                                               \
    extern "C++" {                                                                          \
    template <typename... Arguments> ACL_STUBS_REFUSED(name) int name(Arguments...);        \
    }
#else
#define ACL_STUBS_NEWER(name)                                                               \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wstrict-prototypes\"") \
    ACL_STUBS_REFUSED(name) int name();                                                     \
    _Pragma("GCC diagnostic pop")
#endif
#endif

#endif
