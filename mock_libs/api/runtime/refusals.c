/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a library that do nothing but refuse: their table, and what all of them do. */
#include <string.h>

#include "error_message.h"
#include "gate.h"
#include "registry.h"

#define REFUSES(name, answer) +1
enum {
    COUNT = 0
#include REFUSALS
};
#undef REFUSES

/* One behind the other, because pointers take more space in the file than the texts. */
#define REFUSES(name, answer) char name[sizeof answer #name];
static const struct {
#include REFUSALS
    char end[1];
#undef REFUSES
#define REFUSES(name, answer) .name = answer #name,
} texts = {
#include REFUSALS
    .end = "",
};
#undef REFUSES

static struct mock_function functions[COUNT + 1];

/* A call of a function by its number: a status, what its type has for nothing, or, if it is a member
 * that returns its object, the first argument: descriptions of operators are chains of such calls. */
intptr_t mock_refuse(uint32_t number, intptr_t first);
intptr_t mock_refuse(uint32_t number, intptr_t first)
{
    struct mock_function *function = &functions[number];
    struct mock_frame frame;
    int answer;
    if (mock_gate_open(&frame, function, NULL, 0, __builtin_return_address(0))) {
        answer = frame.code;
    } else {
        answer = mock_gate_close(&frame, mock_unimplemented(function->name));
    }
    return function->status ? answer : function->is_chained ? first : function->nothing;
}

#if !defined(__x86_64__) && !defined(__aarch64__)
#define REFUSES(name, answer) NUMBER_##name,
enum number {
#include REFUSALS
    NUMBER_BEHIND_ALL
};
#undef REFUSES
#define REFUSES(name, answer)                                         \
    __attribute__((visibility("default"))) intptr_t name(intptr_t);   \
    intptr_t name(intptr_t first)                                     \
    {                                                                 \
        return mock_refuse(NUMBER_##name, first);                     \
    }
#include REFUSALS
#endif

__attribute__((constructor)) static void add(void)
{
    const char *place = (const char *)&texts;
    for (struct mock_function *each = functions; each != functions + COUNT; each++) {
        each->status = *place == 's';
        each->nothing = *place == '-' ? -1 : 0;
        each->is_chained = *place == 'o';
        each->refuses = true;
        each->name = place + 1;
        place += strlen(place) + 1;
    }
    mock_functions_register(functions, COUNT, NULL);
}

__attribute__((destructor)) static void drop(void)
{
    mock_functions_unregister(functions);
}
