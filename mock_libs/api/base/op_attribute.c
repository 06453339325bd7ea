/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a single operator: a list of names and values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_op.h"
#include "error_message.h"
#include "single_operator.h"
#include "violation.h"

aclopAttr *aclopCreateAttr(void)
{
    struct op_attributes *attributes = calloc(1, sizeof *attributes);
    void *handle = attributes == NULL ? NULL : mock_handle_new(MOCK_OP_ATTR, attributes);
    if (handle == NULL) {
        free(attributes);
    }
    return handle;
}

static void free_attribute(struct op_attribute *attribute)
{
    free(attribute->name);
    free(attribute->values);
    free(attribute);
}

void aclopDestroyAttr(const aclopAttr *handle)
{
    struct op_attributes *attributes = mock_handle_close(handle, MOCK_OP_ATTR);
    if (attributes == NULL) {
        mock_violate_handle(handle, MOCK_OP_ATTR, true);
        return;
    }
    while (attributes->first != NULL) {
        struct op_attribute *next = attributes->first->next;
        free_attribute(attributes->first);
        attributes->first = next;
    }
    free(attributes);
}

/* Report that there are no values for an attribute. */
static aclError no_values(const void *values, int count)
{
    return mock_fail(ACL_ERROR_INVALID_PARAM, "%d values at %p", count, values);
}

/* Insert an attribute, or replace the one of its name. */
static aclError set(aclopAttr *handle, const char *name, char tag, const void *values, int count,
                    size_t item)
{
    struct op_attributes *attributes = mock_handle_get(handle, MOCK_OP_ATTR);
    if (attributes == NULL) {
        mock_violate_handle(handle, MOCK_OP_ATTR, false);
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no live aclopAttr", (void *)handle);
    }
    if (name == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "attrName is NULL");
    }
    if (count < 0 || (count > 0 && values == NULL)) {
        return no_values(values, count);
    }
    const size_t bytes = (size_t)count * item;
    struct op_attribute *made = calloc(1, sizeof *made);
    char *own = NULL;
    void *copy = malloc(bytes + 1);
    if (made == NULL || copy == NULL || asprintf(&own, "@%s", name) < 0) {
        free(made);
        free(copy);
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for an attribute");
    }
    if (bytes > 0) {
        memcpy(copy, values, bytes);
    }
    *made = (struct op_attribute){NULL, own, tag, (uint64_t)count, copy};
    struct op_attribute **link = &attributes->first;
    while (*link != NULL && strcmp((*link)->name, own) != 0) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        made->next = (*link)->next;
        free_attribute(*link);
    }
    *link = made;
    return ACL_SUCCESS;
}

aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName, uint8_t attrValue)
{
    const uint8_t value = attrValue != 0;
    return set(attr, attrName, 'b', &value, 1, sizeof value);
}

aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName, int64_t attrValue)
{
    return set(attr, attrName, 'i', &attrValue, 1, sizeof attrValue);
}

aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName, float attrValue)
{
    const double value = attrValue;
    return set(attr, attrName, 'd', &value, 1, sizeof value);
}

aclError aclopSetAttrString(aclopAttr *attr, const char *attrName, const char *attrValue)
{
    if (attrValue == NULL) {
        return no_values(attrValue, 1);
    }
    return set(attr, attrName, 'c', attrValue, (int)strlen(attrValue) + 1, 1);
}

aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName, aclDataType attrValue)
{
    const int64_t value = attrValue;
    return set(attr, attrName, 'i', &value, 1, sizeof value);
}

aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName, int numValues,
                              const uint8_t *values)
{
    return set(attr, attrName, 'B', values, numValues, sizeof *values);
}

aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName, int numValues,
                             const int64_t *values)
{
    return set(attr, attrName, 'I', values, numValues, sizeof *values);
}

aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName, int numValues,
                               const float *values)
{
    return set(attr, attrName, 'F', values, numValues, sizeof *values);
}

aclError aclopSetAttrListDataType(aclopAttr *attr, const char *attrName, int numValues,
                                  const aclDataType *values)
{
    int64_t *wide = calloc((size_t)(numValues > 0 ? numValues : 0) + 1, sizeof *wide);
    for (int i = 0; wide != NULL && values != NULL && i < numValues; i++) {
        wide[i] = values[i];
    }
    const aclError status =
        set(attr, attrName, 'I', values == NULL ? NULL : wide, numValues, sizeof *wide);
    free(wide);
    return status;
}

/* The lists one behind the other, and their lengths under the name with ".lengths". */
aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists,
                                 const int *numValues, const int64_t *const *values)
{
    size_t total = 0;
    if (numLists < 0 || (numLists > 0 && (numValues == NULL || values == NULL))) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%d lists", numLists);
    }
    for (int i = 0; i < numLists; i++) {
        if (numValues[i] < 0 || (numValues[i] > 0 && values[i] == NULL)) {
            return no_values(values[i], numValues[i]);
        }
        total += (size_t)numValues[i];
    }
    int64_t *all = calloc(total + (size_t)numLists + 1, sizeof *all), *lengths = NULL;
    char *name = NULL;
    if (all == NULL || asprintf(&name, "%s.lengths", attrName) < 0) {
        free(all);
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for an attribute");
    }
    int64_t *next = all;
    lengths = all + total;
    for (int i = 0; i < numLists; i++) {
        if (numValues[i] > 0) {
            memcpy(next, values[i], (size_t)numValues[i] * sizeof *next);
        }
        next += numValues[i];
        lengths[i] = numValues[i];
    }
    aclError status = set(attr, attrName, 'I', all, (int)total, sizeof *all);
    if (status == ACL_SUCCESS) {
        status = set(attr, name, 'I', lengths, numLists, sizeof *lengths);
    }
    free(name);
    free(all);
    return status;
}

/* The array may be of any address, and may have NULL. */
static const char *text_at(const char **values, int place)
{
    const char *text;
    memcpy(&text, (const char *)values + (size_t)place * sizeof text, sizeof text);
    return text == NULL ? "" : text;
}

/* A line each. */
aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName, int numValues,
                                const char **values)
{
    size_t bytes = 1;
    if (numValues < 0 || (numValues > 0 && values == NULL)) {
        return no_values(values, numValues);
    }
    for (int i = 0; i < numValues; i++) {
        bytes += strlen(text_at(values, i)) + 1;
    }
    char *all = calloc(bytes, 1);
    if (all == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for an attribute");
    }
    char *end = all;
    for (int i = 0; i < numValues; i++) {
        end = stpcpy(stpcpy(end, i == 0 ? "" : "\n"), text_at(values, i));
    }
    const aclError status = set(attr, attrName, 'c', all, (int)(end - all) + 1, 1);
    free(all);
    return status;
}
