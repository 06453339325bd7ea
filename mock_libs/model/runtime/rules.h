/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of CANN's contract in words, and which of them the user lets the program break. */
#ifndef MOCK_RULES_H
#define MOCK_RULES_H

#include <stdbool.h>

#include "rule_numbers.inc"

struct mock_rule_text {
    const char *id, *title, *fix;
};

/* By the numbers of rule_numbers.inc. */
extern const struct mock_rule_text mock_rules[];

/* Whether PYACLNN_MOCK_ALLOW names the rule. */
bool mock_rule_allowed(unsigned rule);

#endif
