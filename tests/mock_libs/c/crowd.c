/* SPDX-License-Identifier: Apache-2.0 */
/* Eight threads at what the other programs do from one thread only: functions that take no lock,
 * settings of the process, broken rules, and what the tools ask for. */
#include <pthread.h>

#include "expect.h"

enum { THREADS = 8, ROUNDS = 40 };

size_t pyaclnn_mock_alive(char *text, size_t capacity);
size_t pyaclnn_mock_call_counts(char *text, size_t capacity);
void pyaclnn_mock_call_counts_reset(void);
const char *pyaclnn_mock_faults_set(const char *text);
int pyaclnn_mock_mode_set(const char *text);
void pyaclnn_mock_violation_clear(void);
size_t pyaclnn_mock_violation_count(void);
size_t pyaclnn_mock_violation_read(size_t index, char *text, size_t capacity);

static void failed(aclrtExceptionInfo *info)
{
    (void)info;
}

static void ask(void)
{
    const aclCannAttr *attributes;
    size_t count;
    int32_t major, minor, patch, value;
    aclrtRunMode mode;
    uint32_t devices;
    OK(aclGetCannAttributeList(&attributes, &count));
    OK(aclGetCannAttribute(attributes[0], &value));
    OK(aclrtGetVersion(&major, &minor, &patch));
    OK(aclrtGetRunMode(&mode));
    OK(aclrtGetDeviceCount(&devices));
    EXPECT(1, aclrtGetSocName() != NULL);
    EXPECT(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
}

static void set(int round)
{
    static const char *const modes[] = {"deferred", "eager", "shuffled:3"};
    int64_t value;
    OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, round % 2));
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    OK(aclrtSetOpExecuteTimeOut(100));
    OK(aclrtSetExceptionInfoCallback(round % 2 ? failed : NULL));
    OK(pyaclnn_mock_mode_set(modes[round % 3]));
    EXPECT(1, pyaclnn_mock_faults_set(round % 2 ? "aclrtMemFlush=107000" : NULL) == NULL);
}

static void break_rules(void)
{
    aclrtEvent event;
    OK(aclrtCreateEvent(&event));
    OK(aclrtRecordEvent(event, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtDestroyEvent(event));
    EXPECT(1, aclrtDestroyEvent(event) != ACL_SUCCESS);
    EXPECT(1, aclrtMemFlush(&event, 1) != ACL_SUCCESS);
    EXPECT(1, aclGetRecentErrMsg() != NULL);
    EXPECT(1, aclrtGetLastError(ACL_RT_THREAD_LEVEL) != ACL_SUCCESS);
}

static void watch(int round)
{
    char text[256];
    EXPECT(1, pyaclnn_mock_alive(text, sizeof text) > 0);
    EXPECT(1, pyaclnn_mock_call_counts(text, sizeof text) > 0);
    pyaclnn_mock_violation_read(pyaclnn_mock_violation_count() / 2, text, sizeof text);
    if (round % 8 == 0) {
        pyaclnn_mock_call_counts_reset();
        pyaclnn_mock_violation_clear();
    }
}

static void *work(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        OK(aclrtSetDevice(0));
        ask();
        set(round);
        break_rules();
        watch(round);
        OK(aclrtResetDevice(0));
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_create(&threads[i], NULL, work, NULL));
    }
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_join(threads[i], NULL));
    }
    OK(pyaclnn_mock_faults_set(NULL) != NULL);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
