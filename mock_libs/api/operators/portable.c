/* SPDX-License-Identifier: Apache-2.0 */
/* Both phases of every operator, for a machine whose calling convention entry.S does not know: the
 * compiler reads the arguments. */
#include "library.h"

static union mock_word word_of_unsigned(uint64_t value)
{
    return (union mock_word){.bits = value};
}

static union mock_word word_of_integer(int64_t value)
{
    return (union mock_word){.bits = (uint64_t)value};
}

static union mock_word word_of_real(double value)
{
    return (union mock_word){.real = value};
}

static union mock_word word_of_pointer(const void *value)
{
    return (union mock_word){.pointer = value};
}

/* An argument as a word, by its type; an integer with its sign. */
#define INTEGER(type) type : word_of_integer
#define WORD(value)                                                                              \
    _Generic((value), double: word_of_real, float: word_of_real, INTEGER(bool), INTEGER(int8_t), \
             INTEGER(int32_t), INTEGER(int64_t), uint64_t: word_of_unsigned,                     \
             default: word_of_pointer)(value)

#define OPERATOR(operator, kinds, names, parameters, words) NUMBER_##operator, PHASE_2_OF_##operator,
enum number {
#include OPERATORS
};
#undef OPERATOR

#define LISTED(...) __VA_ARGS__
#define OPERATOR(operator, kinds, names, parameters, given)                                        \
    aclnnStatus operator##GetWorkspaceSize parameters;                                             \
    aclnnStatus operator(void *, uint64_t, aclOpExecutor *, aclrtStream);                          \
    __attribute__((visibility("default"))) aclnnStatus operator##GetWorkspaceSize parameters       \
    {                                                                                              \
        const union mock_word words[] = {LISTED given};                                            \
        return mock_operator_phase1(&mock_library, NUMBER_##operator, __builtin_return_address(0), \
                                    words);                                                        \
    }                                                                                              \
    __attribute__((visibility("default"))) aclnnStatus operator(                                   \
        void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)      \
    {                                                                                              \
        return mock_operator_phase2(&mock_library, PHASE_2_OF_##operator,                          \
                                    __builtin_return_address(0), workspace, workspaceSize,         \
                                    executor, stream);                                             \
    }
#include OPERATORS
