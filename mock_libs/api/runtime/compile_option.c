/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the operator compiler: stored and returned. The simulated NPU compiles nothing. */
#include <stdlib.h>
#include <string.h>

#include "acl/acl_op_compiler.h"
#include "chip.h"
#include "device.h"
#include "error_message.h"

enum { OPTION_COUNT = ACL_OP_DEBUG_OPTION + 1 };

static char *values[OPTION_COUNT];

static bool is_option(aclCompileOpt opt)
{
    return (int)opt >= 0 && (int)opt < OPTION_COUNT;
}

/* The value of an option, or NULL. ACL_OP_JIT_COMPILE has a default: only the first generation
 * of chips came without compiled operators. */
static const char *value_of(aclCompileOpt opt)
{
    if (!is_option(opt) || values[opt] != NULL || opt != ACL_OP_JIT_COMPILE) {
        return is_option(opt) ? values[opt] : NULL;
    }
    const struct chip *chip = mock_device_chip();
    return chip != NULL && chip->recent ? "disable" : "enable";
}

aclError aclSetCompileopt(aclCompileOpt opt, const char *value)
{
    if (!is_option(opt)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclSetCompileopt: there is no such option");
    }
    char *copy = strdup(value);
    if (copy == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "aclSetCompileopt: no host memory");
    }
    free(values[opt]);
    values[opt] = copy;
    return ACL_SUCCESS;
}

size_t aclGetCompileoptSize(aclCompileOpt opt)
{
    const char *value = value_of(opt);
    return value == NULL ? 0 : strlen(value) + 1;
}

aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length)
{
    const char *kept = value_of(opt);
    if (kept == NULL || strlen(kept) >= length) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclGetCompileopt: %s",
                         kept == NULL ? "the option was not set"
                                      : "length is less than aclGetCompileoptSize reports");
    }
    memcpy(value, kept, strlen(kept) + 1);
    return ACL_SUCCESS;
}

/* True if one compiled operator serves many shapes, as every operator does here. */
aclError aclopSetCompileFlag(aclOpCompileFlag flag)
{
    if (flag != ACL_OP_COMPILE_DEFAULT && flag != ACL_OP_COMPILE_FUZZ) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclopSetCompileFlag: there is no such flag");
    }
    return ACL_SUCCESS;
}
