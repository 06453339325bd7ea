/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tensors, on the stream of their operator, and their arrival. */
#pragma once

#include "contents.h"

enum { CAPTURE_TIMED_OUT = 507046 };
void capture_copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                         enum capture_phase phase);
/* Copy what is read before a call, or written after it; NULL: nothing is known of it. */
void capture_copy_operands(uint64_t call, const struct capture_operands *of, uint64_t stream,
                           enum capture_phase phase);
/* Return whether a function waits, for a stream or for the device of its context, or finds that there
 * is nothing to wait for. */
bool capture_waits(const struct capture_function *function);
/* The program begins to wait, and has waited. */
void capture_await(void);
void capture_arrived(const struct capture_function *function, const union mock_word *words, int32_t status);
/* The status and message of what it waits for, if a wait of the recorder was told of them; or 0. */
int32_t capture_kept_failure(const struct capture_function *function, const union mock_word *words,
                             const char **message);
void capture_await_inputs(uint64_t stream); /* before what runs elsewhere; as long as that is bearable */
void capture_end_stream(uint64_t stream, bool waits); /* the program is about to destroy it */
void capture_end_context(uint64_t context);
void capture_end_contents(void); /* the trace ends */
/* The program gives a device back, and with it all that it has of it; -1: every device. */
void capture_free_room(int32_t device);
