/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a capture, from the text that Python writes. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

struct capture_settings capture_settings;

static uint64_t option(const char *options, const char *name, uint64_t otherwise)
{
    const char *found = strstr(options, name);
    return found == NULL ? otherwise : strtoull(found + strlen(name), NULL, 10);
}

void capture_set(const char *options)
{
    const char *full = strstr(options, "full=");
    char *names; /* stays: another thread may read it */
    capture_settings = (struct capture_settings){
        .contents = (int)option(options, "contents=", CAPTURE_CONTENTS_HASH),
        .largest = option(options, "largest=", 16 << 20),
        .limit = option(options, "limit=", 0),
        .first = option(options, "first=", 0),
        .last = option(options, "last=", UINT64_MAX),
        .by_program = capture_settings.by_program,
    };
    if (full != NULL && asprintf(&names, ",%.*s,", (int)strcspn(full + 5, ";"), full + 5) > 0) {
        capture_settings.full = names;
    }
}

bool capture_keeping(void)
{
    return (capture_settings.by_program || capture_settings.first != 0 || capture_settings.limit != 0) &&
           !capture_is_out_of_memory();
}

bool capture_is_copied(void)
{
    return capture_settings.contents != CAPTURE_CONTENTS_NONE || capture_settings.full != NULL;
}
