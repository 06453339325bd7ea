/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled single operators: for which tensors they are, as the kernels themselves are there. */
#include "compiled_operator.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_message.h"
#include "single_operator.h"
#include "violation.h"

static struct compiled {
    struct compiled *next;
    char *pattern;
} *compiled;

bool mock_compiled_find(const char *key)
{
    const struct compiled *each = compiled;
    while (each != NULL && fnmatch(each->pattern, key, 0) != 0) {
        each = each->next;
    }
    return each != NULL;
}

bool mock_compiled_add(char *key)
{
    const struct compiled *each = compiled;
    while (each != NULL && strcmp(each->pattern, key) != 0) {
        each = each->next;
    }
    struct compiled *made = each == NULL ? malloc(sizeof *made) : NULL;
    if (made == NULL) {
        free(key);
        return each != NULL;
    }
    *made = (struct compiled){compiled, key};
    compiled = made;
    return true;
}

static aclError print_side(FILE *key, const char *side, int count, const aclTensorDesc *const *descs)
{
    if (count < 0 || (count > 0 && descs == NULL)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%d %s without descriptions", count, side);
    }
    for (int i = 0; i < count; i++) {
        const struct tensor_desc *desc = mock_handle_get(descs[i], MOCK_TENSOR_DESC);
        if (desc == NULL) {
            mock_violate_handle(descs[i], MOCK_TENSOR_DESC, false);
            return mock_fail(ACL_ERROR_INVALID_PARAM, "%s[%d] has no live description", side, i);
        }
        fprintf(key, "|%d", (int)desc->data_type);
        for (int axis = 0; axis < desc->dims.count; axis++) {
            const int64_t dim = desc->dims.values[axis];
            if (dim < 0) {
                fputs(",*", key);
            } else {
                fprintf(key, ",%lld", (long long)dim);
            }
        }
    }
    return fputc('>', key) == EOF ? mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory") : ACL_SUCCESS;
}

aclError mock_compiled_key(const char *type, int inputs, const aclTensorDesc *const *input_descs,
                           int outputs, const aclTensorDesc *const *output_descs, char **key)
{
    size_t bytes;
    *key = NULL;
    FILE *text = open_memstream(key, &bytes);
    if (text == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for an operator");
    }
    fputs(type, text);
    aclError status = print_side(text, "inputDesc", inputs, input_descs);
    status = status != ACL_SUCCESS ? status
                                   : print_side(text, "outputDesc", outputs, output_descs);
    fclose(text);
    if (status != ACL_SUCCESS) {
        free(*key);
        *key = NULL;
    }
    return status;
}
