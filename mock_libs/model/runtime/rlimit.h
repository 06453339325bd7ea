/* SPDX-License-Identifier: Apache-2.0 */
/* The limits on memory that this process and those that it starts have. */
#ifndef MOCK_RLIMIT_H
#define MOCK_RLIMIT_H

/* What goes behind a process's name where its end may come of them, between commas; empty where
 * nothing is limited. It stays until the next call. */
const char *mock_rlimit_describe(void);

#endif
