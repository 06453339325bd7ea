/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated chip. */
#include "chip.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "error_message.h"

static const struct chip CHIPS[] = {
#include "chips.inc"
};

/* The known chip that shares the longest prefix with a name, whatever the case. */
static const char *nearest(const char *name)
{
    const struct chip *best = &CHIPS[0];
    size_t shared = 0;
    for (size_t i = 0; i < sizeof CHIPS / sizeof CHIPS[0]; i++) {
        while (shared < strlen(name) && strncasecmp(CHIPS[i].soc_name, name, shared + 1) == 0) {
            best = &CHIPS[i];
            shared++;
        }
    }
    return best->soc_name;
}

const struct chip *mock_chip_named(const char *name)
{
    for (size_t i = 0; i < sizeof CHIPS / sizeof CHIPS[0]; i++) {
        if (strcmp(CHIPS[i].soc_name, name) == 0) {
            return &CHIPS[i];
        }
    }
    return NULL;
}

const struct chip *mock_chip(void)
{
    const char *wanted = getenv("PYACLNN_MOCK_SOC");
    if (wanted == NULL || wanted[0] == '\0') {
        return &CHIPS[0]; /* the one by default */
    }
    const struct chip *chip = mock_chip_named(wanted);
    if (chip != NULL) {
        return chip;
    }
    mock_fail(ACL_ERROR_RT_SOC_VERSION,
              "PYACLNN_MOCK_SOC is '%s', which is no chip the simulated NPU knows; "
              "did you mean '%s'? `pyaclnn mock chips` lists them",
              wanted, nearest(wanted));
    return NULL;
}
