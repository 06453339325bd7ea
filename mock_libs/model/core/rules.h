/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the rules of CANN's contract, and the rules that the user allows to break. */
#pragma once

#include <stdbool.h>

#include "rule_numbers.inc"

struct mock_rule_text {
    const char *id, *title, *fix;
};

/* By the numbers of rule_numbers.inc. */
extern const struct mock_rule_text mock_rules[];

/* Return whether PYACLNN_MOCK_ALLOW names the rule. */
bool mock_rule_allowed(unsigned rule);
