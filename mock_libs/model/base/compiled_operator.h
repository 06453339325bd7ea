/* SPDX-License-Identifier: Apache-2.0 */
/* Single operators that were compiled. */
#pragma once

#include <stdbool.h>

#include "acl/acl_base_mdl.h"

/* The type, data types and dimensions of a call, with * for a dimension that is left open. The
 * caller frees it. */
aclError mock_compiled_key(const char *type, int inputs, const aclTensorDesc *const *input_descs,
                           int outputs, const aclTensorDesc *const *output_descs, char **key);

bool mock_compiled_find(const char *key);

/* Take over a key; false: no memory. */
bool mock_compiled_add(char *key);
