/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a context that runs the host functions of its streams. */
#pragma once

#include "context.h"

/* Start it, unless it runs. false: there can be no more threads. It ends with the context. */
bool mock_host_thread_start(struct context *context);
