/* SPDX-License-Identifier: Apache-2.0 */
/* What devices may do in mapped memory. */
#ifndef MOCK_MEMORY_ACCESS_H
#define MOCK_MEMORY_ACCESS_H

#include "address_space.h"
#include "stream.h"

/* Set where a program has told; what nobody has told anything of is the mapping device's own. */
enum { MOCK_ACCESS_SET = 0x80 };

/* What a device may do: bits of aclrtMemAccessFlags. */
uint8_t mock_access_of(const struct mapping *mapping, const struct device *device);
/* Whether a task of a stream does only what its device was told it may; else a rule is broken. */
void mock_access_check(const struct stream *stream, const struct task *task);

#endif
