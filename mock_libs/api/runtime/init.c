/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "error_message.h"
#include "live_objects.h"
#include "violation.h"

static uint64_t initialisations;
static bool finalised, configured;
static uint64_t configuration;

/* FNV-1a over the content of a configuration file; no file counts as empty content. */
static aclError hash_configuration(const char *path, uint64_t *hash)
{
    *hash = 14695981039346656037u;
    if (path == NULL || path[0] == '\0') {
        return ACL_SUCCESS;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return mock_fail(ACL_ERROR_INVALID_FILE, "aclInit: cannot open '%s': %s", path,
                         strerror(errno));
    }
    for (int byte = fgetc(file); byte != EOF; byte = fgetc(file)) {
        *hash = (*hash ^ (uint64_t)byte) * 1099511628211u;
    }
    const bool readable = ferror(file) == 0; /* a directory can be opened, but not read */
    fclose(file);
    return readable ? ACL_SUCCESS
                    : mock_fail(ACL_ERROR_INVALID_FILE, "aclInit: cannot read '%s'", path);
}

aclError aclInit(const char *path)
{
    uint64_t hash;
    if (initialisations > 0) {
        initialisations++;
        return mock_fail(ACL_ERROR_REPEAT_INITIALIZE,
                         "aclInit was called before in this process; the code may be ignored");
    }
    const aclError status = hash_configuration(path, &hash);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (configured && hash != configuration) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "aclInit: the configuration differs from that of the first aclInit of "
                         "this process, which stays in force");
    }
    if (mock_device_chip() == NULL) {
        return ACL_ERROR_INTERNAL_ERROR;
    }
    configured = true;
    configuration = hash;
    initialisations = 1;
    finalised = false;
    return ACL_SUCCESS;
}

static aclError finalise(void)
{
    if (finalised) {
        mock_violate(MOCK_FINALIZED_TWICE, "process", NULL, NULL,
                     "there was no aclInit since the last aclFinalize");
        return mock_fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize was called before");
    }
    mock_live_objects_report(MOCK_ALIVE_AT_FINALIZE);
    finalised = true;
    initialisations = 0;
    return ACL_SUCCESS;
}

aclError aclFinalize(void)
{
    return finalise();
}

aclError aclFinalizeReference(uint64_t *left)
{
    aclError status = ACL_SUCCESS;
    if (initialisations > 1) {
        initialisations--;
    } else if (initialisations == 1 || finalised) {
        status = finalise();
    } else {
        status = mock_fail(ACL_ERROR_REPEAT_FINALIZE, "there was no aclInit before");
    }
    if (left != NULL) {
        *left = initialisations;
    }
    return status;
}
