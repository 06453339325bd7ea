/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a capture: what is recorded, and how much. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CAPTURE_CONTENTS_NONE = 0, CAPTURE_CONTENTS_HASH, CAPTURE_CONTENTS_FULL };

struct capture_settings {
    int contents;           /* of all operators */
    uint64_t largest;       /* the most bytes of one tensor in full */
    uint64_t limit;         /* of the file, before it is rotated; 0: none */
    uint64_t first, last;   /* the calls that are recorded */
    const char *full;       /* names of operators in full, each between commas, or NULL */
    bool by_program;        /* the program has begun a capture, and may begin others */
};
extern struct capture_settings capture_settings;

/* Read NAME=VALUE, each with a semicolon behind it. */
void capture_set(const char *options);
/* True if a part of the trace may be needed that is not written, or is thrown away. */
bool capture_keeping(void);
bool capture_is_copied(void); /* contents of some operators are recorded */
