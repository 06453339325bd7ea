/* SPDX-License-Identifier: Apache-2.0 */
/* The limits on memory that this process and those that it starts have. */
#ifndef MOCK_SHORTAGE_H
#define MOCK_SHORTAGE_H

/* What goes behind a process's name where its end may come of them, between commas; empty where
 * nothing is limited. It stays until the next call. */
const char *mock_shortage(void);

#endif
