/* SPDX-License-Identifier: Apache-2.0 */
/* The gate, for libopapi. */
#include "operator_gate.h"

#include "phase2.h"

bool mock_operator_gate_open(struct mock_frame *frame, struct mock_function *function,
                             const void *caller)
{
    return mock_gate_open(frame, function, caller);
}

bool mock_operator_gate_refuse(struct mock_frame *frame, const struct mock_pointer *pointers,
                               size_t count)
{
    return mock_gate_refuse(frame, pointers, count);
}

int mock_operator_gate_close(struct mock_frame *frame, int status)
{
    return mock_gate_close(frame, status);
}

void mock_operator_gate_register(struct mock_function *functions, size_t count)
{
    mock_gate_register(functions, count);
}

void mock_operator_gate_unregister(const struct mock_function *functions)
{
    mock_gate_unregister(functions);
}

void mock_operator_gate_abandon(const aclOpExecutor *executor)
{
    mock_phase2_abandon(executor);
}
