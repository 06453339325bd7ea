/* SPDX-License-Identifier: Apache-2.0 */
/* Which chip is simulated. */
#include "chip.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

static const struct chip CHIPS[] = {
#include "chips.inc"
};

bool mock_chip_is_recent(const struct chip *chip)
{
    static const char *const FAMILIES[] = {"910b", "910_93", "950"};
    for (size_t i = 0; i < sizeof FAMILIES / sizeof FAMILIES[0]; i++) {
        if (strcmp(chip->family, FAMILIES[i]) == 0) {
            return true;
        }
    }
    return false;
}

const struct chip *mock_chip(void)
{
    const char *wanted = getenv("PYACLNN_MOCK_SOC");
    if (wanted == NULL || wanted[0] == '\0') {
        wanted = "Ascend910B3";
    }
    for (size_t i = 0; i < sizeof CHIPS / sizeof CHIPS[0]; i++) {
        if (strcmp(CHIPS[i].soc_name, wanted) == 0) {
            return &CHIPS[i];
        }
    }
    mock_fail(ACL_ERROR_RT_SOC_VERSION,
              "PYACLNN_MOCK_SOC is '%s', which is no chip the simulated NPU knows; "
              "`pyaclnn mock chips` lists them",
              wanted);
    return NULL;
}
