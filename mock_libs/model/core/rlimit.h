/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits of memory for this process and its children. */
#pragma once

/* Describe the limits that may have ended a process, between commas; empty if there are none.
 * Valid until the next call. */
const char *mock_rlimit_describe(void);
