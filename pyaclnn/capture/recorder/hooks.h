/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of the recorder at functions besides their records: contents, operands, graphs. */
#pragma once

#include "operands.h"

/* of: the tensors of the executor or graph; drawn: the call has become a part of a graph. */
void capture_before(const struct capture_function *function, uint64_t call,
                    const union mock_word *words, const struct capture_operands *of);
void capture_after(const struct capture_function *function, uint64_t call,
                   const union mock_word *words, uint64_t result, const struct capture_operands *of,
                   bool drawn);
/* True if the host can read memory: that of a device faults, and a program may be wrong. */
bool capture_is_readable(const uint8_t *data, uint64_t size);
