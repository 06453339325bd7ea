/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of devices to phase 1, of all threads. A call that was accepted once is accepted again,
 * wherever its tensors are; unlike the executor cache of CANN, this changes nothing but the time. */
#pragma once

#include "cache.h"

/* Find the answer of a device to a call without addresses; a session is a device and its process. */
bool mock_answer_find(uint64_t session, const uint8_t *call, size_t length, struct plan *plan);
/* Keep an answer; an older one may give way. */
void mock_answer_store(uint64_t session, const uint8_t *call, size_t length,
                       const struct plan *plan);
