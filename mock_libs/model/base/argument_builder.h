/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of an operator of a package, which come one by one. The lock is held. */
#pragma once

#include "call.h"
#include "registers.h"

/* Parameters of a role: the highest index. */
enum { MOCK_MAX_PARTS = 255 };

/* In the order in which they are sent. */
enum mock_role { MOCK_INPUT, MOCK_ATTRIBUTE, MOCK_OUTPUT };

struct mock_part {
    enum mock_role role;
    uint32_t index; /* among those of its role */
    char kind;      /* t, T: a tensor, a list of them; I: integers; b, d, q, s: a value */
    union mock_word value;
    const char *name; /* as long as the process lives */
};

struct assembly {
    struct mock_part *parts;
    size_t count, capacity;
};

struct assembly *mock_builder_new(void);
void mock_builder_free(struct assembly *assembly);
/* false: no memory. */
bool mock_builder_add(struct assembly *assembly, const struct mock_part *part);
/* Name a part that was added; true also if there is none. */
bool mock_builder_name(struct assembly *assembly, enum mock_role role, uint32_t index,
                        const char *name);
/* Add the arguments to a message: inputs, attributes, outputs. An input that is an output as
 * well is sent once, and its name ends in Ref. */
void mock_builder_send(const struct assembly *assembly, struct mock_call *call);
/* The same text for as long as the process lives, or NULL: no memory. */
const char *mock_intern(const char *text);
