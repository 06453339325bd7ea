/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of tensors: copied on the stream of their operator, hashed once they have arrived. */
#pragma once

#include "operands.h"

enum capture_phase { CAPTURE_BEFORE, CAPTURE_AFTER, CAPTURE_HOST };

void capture_write_contents(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                            const void *data, uint64_t bytes, bool full);
void capture_copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                         enum capture_phase phase);
/* Copy what is read before a call, or written after it; NULL: nothing is known of it. */
void capture_copy_operands(uint64_t call, const struct capture_operands *of, uint64_t stream,
                           enum capture_phase phase);
void capture_arrived(uint64_t stream, bool failed); /* the program has waited for it */
void capture_drain(void);                           /* wait for all copies */
void capture_await(void);                           /* the program begins to wait for a stream */
bool capture_is_settled(void);                      /* no copy is on its way */
/* The program gives its device back, and with it all that it has of it. */
void capture_free_room(void);
