/* SPDX-License-Identifier: Apache-2.0 */
/* Which release of CANN these libraries are of; the only file that is compiled for each. */
#include "release.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mock_release mock_release = {
#include RELEASE
};

const char *mock_release_complaint(void)
{
    static _Thread_local char text[512];
    const char *wanted = getenv("PYACLNN_MOCK_CANN");
    if (wanted == NULL || wanted[0] == '\0' || strcmp(wanted, mock_release.name) == 0 ||
        strcmp(wanted, mock_release.version) == 0) {
        return NULL;
    }
    snprintf(text, sizeof text,
             "PYACLNN_MOCK_CANN is '%.64s', and the libraries of this process are those of CANN %s: "
             "`pyaclnn mock run` finds those that are wanted, if there are any",
             wanted, mock_release.name);
    return text;
}
