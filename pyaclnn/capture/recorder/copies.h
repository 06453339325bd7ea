/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tensors, on the stream of their operator. */
#pragma once

#include "contents.h"

void capture_copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                         enum capture_phase phase);
/* Copy what is read before a call, or written after it; NULL: nothing is known of it. */
void capture_copy_operands(uint64_t call, const struct capture_operands *of, uint64_t stream,
                           enum capture_phase phase);
