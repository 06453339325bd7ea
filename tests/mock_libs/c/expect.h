/* SPDX-License-Identifier: Apache-2.0 */
/* Common macros of the programs in this folder: a call and its expected status. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

#define EXPECT(code, expression)                                                         \
    do {                                                                                 \
        const long long got_ = (long long)(expression);                                  \
        if (got_ != (long long)(code)) {                                                 \
            const char *text_ = aclGetRecentErrMsg();                                    \
            fprintf(stderr, "line %d: %s answered %lld: %s\n", __LINE__, #expression, got_, \
                    text_ == NULL ? "" : text_);                                         \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)
#define OK(expression) EXPECT(0, expression)
