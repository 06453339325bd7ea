/* SPDX-License-Identifier: Apache-2.0 */
// What programs in C++ need that look at more than codes: a condition that must hold.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

#define EXPECT(condition)                                                                  \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            const char *text = aclGetRecentErrMsg();                                       \
            std::printf("line %d: not %s: %s\n", __LINE__, #condition, text ? text : "-"); \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (0)
#define OK(call) EXPECT((call) == ACL_SUCCESS)
