/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program that are called when any stream is created or destroyed.
 * Source: CANN: runtime stream_state_callback_manager.cc. */
#pragma once

#include "acl/acl.h"

/* Register a function, or with NULL remove the name, also one that is unknown. */
aclError mock_stream_callback_set(const char *name, aclrtStreamStateCallback function, void *data);
/* Call all of them, in the order of registration, without the lock. */
void mock_stream_callbacks_call(aclrtStream stream, aclrtStreamState state);
