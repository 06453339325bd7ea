/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Release of CANN that the headers of this tree declare, and the mark of an exported function. No
 * real installation has this header.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The release, as pyaclnn/facts/releases.json numbers it: 901 declares CANN 9.1, 801 declares CANN
 * 8.1. An include folder of one release has a header that defines it. */
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

/* Linkage of C, for what stands between them. */
#ifdef __cplusplus
#define ACL_STUBS_C_BEGIN extern "C" {
#define ACL_STUBS_C_END   }
#else
#define ACL_STUBS_C_BEGIN
#define ACL_STUBS_C_END
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

/* Refuses a function that the chosen release lacks, and names a release that has it. The build
 * defines ACL_STUBS_CHOSEN, the name of the chosen release; without a build it is the number. */
#ifdef __GNUC__
#define ACL_STUBS_STRING(value) #value
#define ACL_STUBS_LEVEL(value) ACL_STUBS_STRING(value)
#ifndef ACL_STUBS_CHOSEN
#define ACL_STUBS_CHOSEN ACL_STUBS_LEVEL(ACL_STUBS_CANN)
#endif
#define ACL_STUBS_TEXT(name, since, level)                                                \
    #name " is not in CANN " ACL_STUBS_CHOSEN ", which is chosen here (-DACL_STUBS_CANN=" \
          ACL_STUBS_LEVEL(ACL_STUBS_CANN) "); CANN " since " has it (-DACL_STUBS_CANN="   \
          #level ", pyaclnn mock cflags --cann " since ")"
#if defined(__has_attribute) && __has_attribute(unavailable)
#define ACL_STUBS_REFUSED(...) __attribute__((unavailable(ACL_STUBS_TEXT(__VA_ARGS__))))
#else
#define ACL_STUBS_REFUSED(...) __attribute__((error(ACL_STUBS_TEXT(__VA_ARGS__))))
#endif
/* With any arguments: types may be newer than the release as well. */
#ifdef __cplusplus
#define ACL_STUBS_NEWER(name, since, level)                                                 \
    extern "C++" {                                                                          \
    template <typename... Arguments>                                                        \
    ACL_STUBS_REFUSED(name, since, level) int name(Arguments...);                           \
    }
#else
#define ACL_STUBS_NEWER(name, since, level)                                                 \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wstrict-prototypes\"") \
    ACL_STUBS_REFUSED(name, since, level) int name();                                       \
    _Pragma("GCC diagnostic pop")
#endif
#endif
