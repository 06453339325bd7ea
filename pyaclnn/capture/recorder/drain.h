/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a stream whose copies have become many. */
#pragma once

#include <stdint.h>

void capture_drain(uint64_t stream);
/* The program has waited: whether a wait of this thread was in vain before says no more. */
void capture_forget_vain_waits(void);
