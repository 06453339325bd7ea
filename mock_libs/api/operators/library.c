/* SPDX-License-Identifier: Apache-2.0 */
/* A library of operators: its table, registered while the library is loaded. */
#include "library.h"

#include <string.h>

#define OPERATOR(name, kinds, names, parameters, words) +1
enum {
    COUNT = 0
#include OPERATORS
};
#undef OPERATOR

/* The texts of the table, one behind the other. Pointers to each would take more space in the
 * file than the texts, so they are made when the library is loaded. */
#define OPERATOR(name, letters, list, parameters, words)     \
    struct {                                                 \
        char phase1[sizeof #name "GetWorkspaceSize"];        \
        char phase2[sizeof #name];                           \
        char kinds[sizeof letters], names[sizeof list];      \
    } name;
static const struct {
#include OPERATORS
#undef OPERATOR
#define OPERATOR(name, letters, list, parameters, words) \
    {#name "GetWorkspaceSize", #name, letters, list},
} texts = {
#include OPERATORS
};

static struct mock_operator operators[COUNT];
static struct mock_function functions[2 * COUNT];
const struct mock_operators mock_library = {operators, functions, COUNT};

/* The text that begins there, and where the next one does. */
static const char *take(const char **place)
{
    const char *text = *place;
    *place += strlen(text) + 1;
    return text;
}

static void list(struct mock_operator *operator, struct mock_function *phases, const char **place)
{
    phases[0].name = take(place);
    phases[1].name = operator->name = take(place);
    phases[0].status = phases[1].status = phases[1].runs = true;
    const char *kind = operator->kinds = take(place);
    operator->parameters = *place;
    do { /* a name for each, and an empty one where there are none */
        take(place);
    } while (*kind != '\0' && *++kind != '\0');
}

__attribute__((constructor)) static void add(void)
{
    const char *place = (const char *)&texts;
    for (size_t i = 0; i < COUNT; i++) {
        list(&operators[i], &functions[2 * i], &place);
    }
    mock_operators_add(&mock_library);
}

__attribute__((destructor)) static void drop(void)
{
    mock_operators_drop(&mock_library);
}
