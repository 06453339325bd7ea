/* SPDX-License-Identifier: Apache-2.0 */
/* Profiling: it starts and stops, and collects nothing, which a line on stderr says.
 * Source: CANN: runtime dfx/msprof msprofiler/prof_acl_api.cpp. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl_prof.h"
#include "device.h"
#include "error_message.h"

static enum { CLOSED, READY, RUNNING } state;
static uint32_t ranges;

aclError aclprofInit(const char *path, size_t length)
{
    if (state != CLOSED) {
        return mock_fail(ACL_ERROR_PROF_ALREADY_RUN, "profiling was initialised before");
    }
    fprintf(stderr, "simulated NPU: profiling collects nothing, and writes nothing to %.*s\n",
            (int)length, path);
    state = READY;
    return ACL_SUCCESS;
}

aclError aclprofFinalize(void)
{
    if (state == CLOSED) {
        return mock_fail(ACL_ERROR_PROF_NOT_RUN, "profiling is not initialised");
    }
    state = CLOSED;
    return ACL_SUCCESS;
}

aclError aclprofStart(const aclprofConfig *profilerConfig)
{
    (void)profilerConfig;
    if (state != READY) {
        return mock_fail(state == CLOSED ? ACL_ERROR_PROF_NOT_RUN : ACL_ERROR_PROF_ALREADY_RUN,
                         "profiling %s", state == CLOSED ? "is not initialised" : "runs already");
    }
    state = RUNNING;
    return ACL_SUCCESS;
}

aclError aclprofStop(const aclprofConfig *profilerConfig)
{
    (void)profilerConfig;
    if (state != RUNNING) {
        return mock_fail(ACL_ERROR_PROF_NOT_RUN, "profiling does not run");
    }
    state = READY;
    return ACL_SUCCESS;
}

aclError aclprofSetConfig(aclprofConfigType type, const char *config, size_t length)
{
    (void)config;
    (void)length;
    if ((int)type <= ACL_PROF_ARGS_MIN || type >= ACL_PROF_ARGS_MAX) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "there is no configType %d", (int)type);
    }
    return ACL_SUCCESS;
}

/* ---- what a program makes and gives back ----------------------------------------------------- */

struct aclprofConfig {
    uint64_t kinds;
};

static bool are_devices(const uint32_t *devices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool good = mock_device_exists((int32_t)devices[i]);
        for (uint32_t j = 0; j < i; j++) {
            good = good && devices[j] != devices[i];
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

aclprofConfig *aclprofCreateConfig(uint32_t *devices, uint32_t count, aclprofAicoreMetrics metrics,
                                   const aclprofAicoreEvents *events, uint64_t kinds)
{
    (void)metrics;
    const bool marks_alone = count == 0 && (kinds & ACL_PROF_MSPROFTX) != 0;
    if (events != NULL || (count > 0 && (devices == NULL || !are_devices(devices, count))) ||
        (count == 0 && !marks_alone)) {
        mock_fail(ACL_ERROR_INVALID_PARAM,
                  "aclprofCreateConfig: the devices must exist, each once, and aicoreEvents be NULL");
        return NULL;
    }
    aclprofConfig *config = calloc(1, sizeof *config);
    if (config != NULL) {
        config->kinds = kinds;
    }
    return config;
}

aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig)
{
    free((void *)(uintptr_t)profilerConfig);
    return ACL_SUCCESS;
}

struct aclprofStepInfo {
    uint64_t stamp;
};

aclprofStepInfo *aclprofCreateStepInfo(void)
{
    return calloc(1, sizeof(aclprofStepInfo));
}

void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo)
{
    free(stepinfo);
}

aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag, aclrtStream stream)
{
    (void)stepInfo;
    (void)tag;
    (void)stream;
    return ACL_SUCCESS;
}

void *aclprofCreateStamp(void)
{
    return calloc(1, sizeof(uint64_t));
}

void aclprofDestroyStamp(void *stamp)
{
    free(stamp);
}

/* ---- marks, which nobody reads ---------------------------------------------------------------- */

aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen)
{
    (void)stamp;
    (void)msg;
    (void)msgLen;
    return ACL_SUCCESS;
}

aclError aclprofMark(void *stamp)
{
    (void)stamp;
    return ACL_SUCCESS;
}

aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream)
{
    (void)msg;
    (void)msgLen;
    (void)stream;
    return ACL_SUCCESS;
}

aclError aclprofPush(void *stamp)
{
    return aclprofMark(stamp);
}

aclError aclprofPop(void)
{
    return ACL_SUCCESS;
}

aclError aclprofRangeStart(void *stamp, uint32_t *rangeId)
{
    (void)stamp;
    *rangeId = ++ranges;
    return ACL_SUCCESS;
}

aclError aclprofRangeStop(uint32_t rangeId)
{
    (void)rangeId;
    return ACL_SUCCESS;
}
