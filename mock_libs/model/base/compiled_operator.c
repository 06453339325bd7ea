/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled single operators: for which tensors they are, as the kernels themselves are there. */
#include "compiled_operator.h"

#include <fnmatch.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_message.h"
#include "tensor_desc.h"
#include "violation.h"

static void *keys; /* a tree of all, as a program of many shapes compiles for each of them */

static struct pattern {
    struct pattern *next;
    const char *key;
} *patterns; /* those that leave a dimension open */

static int compare(const void *one, const void *other)
{
    return strcmp(one, other);
}

bool mock_compiled_find(const char *key)
{
    const struct pattern *each = patterns;
    if (tfind(key, &keys, compare) != NULL) {
        return true;
    }
    while (each != NULL && fnmatch(each->key, key, 0) != 0) {
        each = each->next;
    }
    return each != NULL;
}

bool mock_compiled_add(char *key)
{
    const bool is_open = strchr(key, '*') != NULL;
    struct pattern *pattern = is_open ? malloc(sizeof *pattern) : NULL;
    if (is_open && pattern == NULL) {
        free(key);
        return false;
    }
    char **node = tsearch(key, &keys, compare);
    const bool added = node != NULL && *node == key;
    if (added && pattern != NULL) {
        *pattern = (struct pattern){patterns, key};
        patterns = pattern;
        return true;
    }
    free(pattern);
    if (!added) {
        free(key);
    }
    return node != NULL;
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
