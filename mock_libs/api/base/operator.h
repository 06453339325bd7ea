/* SPDX-License-Identifier: Apache-2.0 */
/* The operator table of a library, and the function that receives all of its calls. */
#pragma once

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "frame.h"
#include "registers.h"

/* `kinds` has a letter for each parameter of the first phase but the last two:
 *   t, T  tensor, list of tensors    a, A  scalar, list of scalars    I, F, B  array
 *   s  string    d  double    f  float    b  bool    c  int8_t    i, y  int32_t    q, Q  64 bits
 * `parameters` are their names, each with its NUL. */
struct mock_operator {
    const char *name, *kinds, *parameters;
};

/* Each operator has two functions in the library: the first phase, then the second. */
struct mock_operators {
    const struct mock_operator *operators;
    struct mock_function *functions;
    size_t count;
};

#pragma GCC visibility push(default) /* used by libraries of operators */

void mock_operators_add(const struct mock_operators *library);
void mock_operators_drop(const struct mock_operators *library);

/* A call of a function by its number, with what it has left in registers; its answer. */
int mock_operator_arrive(const struct mock_operators *library, uint32_t number,
                         const struct mock_registers *registers);
/* The same where a compiler has read the arguments. */
int mock_operator_phase1(const struct mock_operators *library, uint32_t number,
                         const void *caller, const union mock_word *words);
int mock_operator_phase2(const struct mock_operators *library, uint32_t number,
                         const void *caller, void *workspace, uint64_t workspace_size,
                         aclOpExecutor *executor, aclrtStream stream);

#pragma GCC visibility pop
