/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the library itself do what a checking tool must see: flaws WHAT. Every flaw lies in the
 * library's own code, so a library that was built without the tool shows none. */
#include <pthread.h>

#include "expect.h"

#include "aclnn/acl_meta.h"

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

/* aclGetViewShape allocates what its caller must free. */
static void leak(void)
{
    const int64_t four = 4;
    uint64_t rank = 0;
    int64_t *dims = NULL;
    aclTensor *tensor = aclCreateTensor(&four, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &four, 1, NULL);
    OK(tensor == NULL);
    OK(aclGetViewShape(tensor, &dims, &rank));
    dims = NULL;
    OK(aclDestroyTensor(tensor));
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
