/* SPDX-License-Identifier: Apache-2.0 */
/* Children that are forked while other threads are inside the library: each can call it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

enum { CHILDREN = 40, SECONDS = 120 };

size_t pyaclnn_mock_call_counts(char *text, size_t capacity);
const char *pyaclnn_mock_faults_set(const char *text);
size_t pyaclnn_mock_violation_count(void);

static atomic_bool done;

static void ask_faults(void)
{
    aclrtRunMode mode;
    OK(aclrtGetRunMode(&mode));
}

static void ask_counts(void)
{
    char text[64];
    EXPECT(1, pyaclnn_mock_call_counts(text, sizeof text) > 0);
}

static void ask_violations(void)
{
    OK(pyaclnn_mock_violation_count());
}

static void ask_devices(void)
{
    uint32_t count;
    OK(aclrtGetDeviceCount(&count));
}

static void (*const QUESTIONS[])(void) = {ask_faults, ask_counts, ask_violations, ask_devices};
enum { COUNT = sizeof QUESTIONS / sizeof QUESTIONS[0] };

static void *ask(void *question)
{
    while (!atomic_load(&done)) {
        (*(void (*const *)(void))question)();
    }
    return NULL;
}

static void child(void)
{
    alarm(SECONDS); /* what waits for a lock that nobody gives back ends by a signal */
    for (int i = 0; i < COUNT; i++) {
        QUESTIONS[i]();
    }
    _exit(0);
}

int main(void)
{
    pthread_t threads[COUNT];
    /* As long as there are faults, every call looks at them. */
    OK(pyaclnn_mock_faults_set("aclrtMemFlush=107000") != NULL);
    for (int i = 0; i < COUNT; i++) {
        OK(pthread_create(&threads[i], NULL, ask, (void *)(uintptr_t)&QUESTIONS[i]));
    }
    for (int i = 0; i < CHILDREN; i++) {
        const pid_t process = fork();
        if (process == 0) {
            child();
        }
        int status = 1;
        EXPECT(process, waitpid(process, &status, 0));
        OK(status);
    }
    atomic_store(&done, true);
    for (int i = 0; i < COUNT; i++) {
        OK(pthread_join(threads[i], NULL));
    }
    return 0;
}
