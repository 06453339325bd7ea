/* SPDX-License-Identifier: Apache-2.0 */
/* Versions. */
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "release.h"

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    if (majorVersion == NULL || minorVersion == NULL || patchVersion == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: a pointer is NULL");
    }
    *majorVersion = mock_release.interface[0];
    *minorVersion = mock_release.interface[1];
    *patchVersion = mock_release.interface[2];
    return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    if (version == NULL || (int)name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: %s",
                         version == NULL ? "version is NULL" : "no such package");
    }
    memset(version, 0, sizeof *version);
    const struct mock_release *release = &mock_release;
    snprintf(version->version, sizeof version->version, "%s.simulated", release->version);
    snprintf(version->majorVersion, sizeof version->majorVersion, "%s", release->major);
    snprintf(version->minorVersion, sizeof version->minorVersion, "%s", release->minor);
    snprintf(version->releaseVersion, sizeof version->releaseVersion, "%s", release->rest);
    snprintf(version->patchVersion, sizeof version->patchVersion, "simulated");
    return ACL_SUCCESS;
}
