/* SPDX-License-Identifier: Apache-2.0 */
/* Records of contents: of tensors whose elements lie anyhow, of the host, and of what is missing. */
#pragma once

#include "operands.h"

enum capture_phase { CAPTURE_BEFORE, CAPTURE_AFTER, CAPTURE_HOST };

void capture_write_contents(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                            const void *data, uint64_t bytes, uint64_t hash, bool full);
/* Contents that replay would miss are not recorded, for a reason. */
void capture_write_absence(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                           const char *reason);
/* Write a tensor; its elements are put together in row-major order. Where they lie so, their hash is
 * taken from where it is, or put there if that is 0. */
void capture_write_tensor(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                          const uint8_t *data, uint64_t *hash, bool full);
/* The elements of a tensor; 0: they overlap, and are many, as an expanded tensor may have any number. */
int64_t capture_elements(const struct capture_tensor *tensor);
bool capture_is_in_full(const struct capture_function *function);
/* Why a tensor cannot be recorded, or NULL; whether it has nothing to record. */
const char *capture_obstacle(const struct capture_tensor *tensor);
bool capture_is_empty(const struct capture_tensor *tensor);
