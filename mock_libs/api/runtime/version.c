/* SPDX-License-Identifier: Apache-2.0 */
/* Versions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_message.h"
#include "release.h"

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    *majorVersion = mock_release_current()->interface[0];
    *minorVersion = mock_release_current()->interface[1];
    *patchVersion = mock_release_current()->interface[2];
    return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    if ((int)name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: no such package");
    }
    memset(version, 0, sizeof *version);
    const struct mock_release *release = mock_release_current();
    snprintf(version->version, sizeof version->version, "%s", release->version);
    snprintf(version->majorVersion, sizeof version->majorVersion, "%s", release->major);
    snprintf(version->minorVersion, sizeof version->minorVersion, "%s", release->minor);
    snprintf(version->releaseVersion, sizeof version->releaseVersion, "%s", release->rest);
    return ACL_SUCCESS;
}

/* Return whether a package has a name, in which - and _ are equal. */
static bool is_called(const char *package, const char *name)
{
    for (; *package != '\0' && *name != '\0'; package++, name++) {
        if ((*package == '-' ? '_' : *package) != (*name == '-' ? '_' : *name)) {
            return false;
        }
    }
    return *package == *name;
}

/* The packages of an installation; all of the simulated one are of its release. */
static aclError find_package(const char *package)
{
    static const char *const PACKAGES[] = {
        "runtime",     "bisheng-compiler", "hccl",    "oam-tools", "ops-legacy",
        "ops-math",    "ops-nn",           "ops-cv",  "opbase",    "ops-transformer",
        "ge-compiler", "ge-executor",      "metadef", "driver",    "firmware",
    };
    for (size_t i = 0; i < sizeof PACKAGES / sizeof PACKAGES[0]; i++) {
        if (is_called(package, PACKAGES[i])) {
            return ACL_SUCCESS;
        }
    }
    return mock_fail(ACL_ERROR_INVALID_FILE, "there is no package '%.64s'", package);
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr)
{
    const aclError status = find_package(pkgName);
    if (status == ACL_SUCCESS) {
        strcpy(versionStr, mock_release_current()->version); /* which has room for 128 */
    }
    return status;
}

/* 9.1.0 is 90100000. */
aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum)
{
    const aclError status = find_package(pkgName);
    if (status == ACL_SUCCESS) {
        const long major = strtol(mock_release_current()->major, NULL, 10);
        const long minor = strtol(mock_release_current()->minor, NULL, 10);
        const long patch = strtol(mock_release_current()->rest, NULL, 10);
        *versionNum = (int32_t)(major * 10000000 + minor * 100000 + patch * 1000);
    }
    return status;
}
