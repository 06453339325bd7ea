/* SPDX-License-Identifier: Apache-2.0 */
/* Versions. */
#include <stdio.h>
#include <string.h>

#include "message.h"

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    if (majorVersion == NULL || minorVersion == NULL || patchVersion == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: a pointer is NULL");
    }
    /* The interface version of CANN 8.1, whose functions the simulated NPU exports. */
    *majorVersion = 1;
    *minorVersion = 13;
    *patchVersion = 0;
    return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    if (version == NULL || (int)name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: %s",
                         version == NULL ? "version is NULL" : "no such package");
    }
    memset(version, 0, sizeof *version);
    snprintf(version->version, sizeof version->version, "8.1.RC1.simulated");
    snprintf(version->majorVersion, sizeof version->majorVersion, "8");
    snprintf(version->minorVersion, sizeof version->minorVersion, "1");
    snprintf(version->releaseVersion, sizeof version->releaseVersion, "RC1");
    snprintf(version->patchVersion, sizeof version->patchVersion, "simulated");
    return ACL_SUCCESS;
}
