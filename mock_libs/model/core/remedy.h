/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies of failed system calls. */
#pragma once

/* Describe a failed system call and what helps; the text is valid until the next call. */
const char *mock_remedy(const char *call, int error);
