/* SPDX-License-Identifier: Apache-2.0 */
/* The gate, for libopapi: as in CANN, that library needs libnnopbase and no other. */
#ifndef MOCK_OPERATOR_GATE_H
#define MOCK_OPERATOR_GATE_H

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "gate.h"

#pragma GCC visibility push(default) /* used by the other mock libraries */

bool mock_operator_gate_open(struct mock_frame *frame, struct mock_function *function,
                             const void *caller);
bool mock_operator_gate_refuse(struct mock_frame *frame, const struct mock_pointer *pointers,
                               size_t count);
int mock_operator_gate_close(struct mock_frame *frame, int status);
void mock_operator_gate_register(struct mock_function *functions, size_t count);
void mock_operator_gate_unregister(const struct mock_function *functions);
/* Phase 2 was refused at the gate: CANN consumes the executor then as well. */
void mock_operator_gate_abandon(const aclOpExecutor *executor);

#pragma GCC visibility pop

#endif
