/* SPDX-License-Identifier: Apache-2.0 */
/* Stream configurations. Their content is CANN's, so a handle of one is a pointer. */
#pragma once

#include <stdbool.h>

#include "acl/acl.h"

/* A new configuration, or NULL. */
aclrtStreamConfigHandle *mock_stream_config_new(void);
/* Return whether the configuration is live; an unknown one breaks a rule. */
bool mock_stream_config_check(const aclrtStreamConfigHandle *handle, bool destroying);
void mock_stream_config_free(const aclrtStreamConfigHandle *handle);
