/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the library itself do what a checking tool must see: flaws WHAT. Every flaw lies in the
 * library's own code, so a library that was built without the tool shows none. */
#include <pthread.h>

#include "expect.h"

static aclrtRunMode shared;

/* aclrtGetRunMode writes to its argument and takes no lock. */
static void *write_shared(void *unused)
{
    OK(aclrtGetRunMode(&shared));
    return unused;
}

static void race(void)
{
    pthread_t one, other;
    OK(pthread_create(&one, NULL, write_shared, NULL));
    OK(pthread_create(&other, NULL, write_shared, NULL));
    OK(pthread_join(one, NULL));
    OK(pthread_join(other, NULL));
}

static void overflow(void)
{
    char *small = malloc(1);
    OK(aclrtGetRunMode((aclrtRunMode *)(void *)small));
    free(small);
}

static void misaligned(void)
{
    _Alignas(aclrtRunMode) char bytes[2 * sizeof(aclrtRunMode)];
    OK(aclrtGetRunMode((aclrtRunMode *)(void *)(bytes + 1)));
}

static void leak(void)
{
    OK(aclrtCreateStreamConfigHandle() == NULL);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } FLAWS[] = {{"race", race}, {"overflow", overflow}, {"misaligned", misaligned}, {"leak", leak}};
    EXPECT(2, count);
    for (size_t i = 0; i < sizeof FLAWS / sizeof FLAWS[0]; i++) {
        if (strcmp(arguments[1], FLAWS[i].name) == 0) {
            FLAWS[i].run();
        }
    }
    return 0;
}
