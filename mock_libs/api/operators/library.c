/* SPDX-License-Identifier: Apache-2.0 */
/* A library of operators: the table of them, and that it is known as long as it is loaded. */
#include "library.h"

#define OPERATOR(name, kinds, names, parameters, words) {#name, kinds, names},
static const struct mock_operator operators[] = {
#include OPERATORS
};
#undef OPERATOR

#define OPERATOR(operator, kinds, names, parameters, words) \
    {.name = #operator "GetWorkspaceSize", .status = true}, \
        {.name = #operator, .status = true, .runs = true},
static struct mock_function functions[] = {
#include OPERATORS
};

const struct mock_operators mock_library = {operators, functions,
                                            sizeof operators / sizeof operators[0]};

__attribute__((constructor)) static void add(void)
{
    mock_operators_add(&mock_library);
}

__attribute__((destructor)) static void drop(void)
{
    mock_operators_drop(&mock_library);
}
