/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies of failed system calls. */
#ifndef MOCK_REMEDY_H
#define MOCK_REMEDY_H

/* Describe a failed system call and what helps; the text is valid until the next call. */
const char *mock_remedy(const char *call, int error);

#endif
