/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the rules of CANN's contract, and the rules that the user allows to break. */
#include "rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mock_rule_text mock_rules[MOCK_RULE_COUNT] = {
#include "rule_texts.inc"
};

/* The next name of the rules that the user lets the program break, and its length; NULL: no more. */
static const char *next_allowed(const char **rest, size_t *length)
{
    const char *name = *rest;
    if (name == NULL || name[0] == '\0') {
        return NULL;
    }
    *length = strcspn(name, ",");
    *rest = name + *length + (name[*length] == ',');
    return name;
}

static bool has_function_name(const char *id, const char *name, size_t length)
{
    return strlen(id) == length && strncmp(id, name, length) == 0;
}

bool mock_rule_allowed(unsigned rule)
{
    size_t length;
    const char *rest = getenv("PYACLNN_MOCK_ALLOW");
    for (const char *name; (name = next_allowed(&rest, &length)) != NULL;) {
        if (has_function_name(mock_rules[rule].id, name, length)) {
            return true;
        }
    }
    return false;
}

/* A misspelt name allows nothing, and is reported. */
__attribute__((constructor)) static void check_allowed(void)
{
    size_t length;
    const char *rest = getenv("PYACLNN_MOCK_ALLOW");
    for (const char *name; (name = next_allowed(&rest, &length)) != NULL;) {
        bool known = false;
        for (size_t i = 0; i < MOCK_RULE_COUNT; i++) {
            known = known || has_function_name(mock_rules[i].id, name, length);
        }
        if (!known) {
            fprintf(stderr, "simulated NPU: PYACLNN_MOCK_ALLOW: there is no rule '%.*s'; "
                            "`pyaclnn mock rules` lists them\n", (int)length, name);
        }
    }
}
