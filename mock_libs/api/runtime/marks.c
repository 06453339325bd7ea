/* SPDX-License-Identifier: Apache-2.0 */
/* Marks for tools. Without a tool that listens, the functions of mstx do nothing; the header has
 * them inline, and this library has them for programs that look them up by name.
 * Source: CANN: mstx of 8.1 and 9.x. */
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))
/* Called with more arguments, which it ignores. */
#define NOTHING(name)              \
    EXPORTED uint64_t name(void);  \
    EXPORTED uint64_t name(void)   \
    {                              \
        return 0;                  \
    }

NOTHING(mstxDomainCreateA)
NOTHING(mstxDomainDestroy)
NOTHING(mstxDomainMarkA)
NOTHING(mstxDomainRangeEnd)
NOTHING(mstxDomainRangeStartA)
NOTHING(mstxMarkA)
NOTHING(mstxMemHeapRegister)
NOTHING(mstxMemHeapUnregister)
NOTHING(mstxMemRegionsRegister)
NOTHING(mstxMemRegionsUnregister)
NOTHING(mstxRangeEnd)
NOTHING(mstxRangeStartA)

EXPORTED void mstxGetToolId(uint64_t *id);
EXPORTED void mstxGetToolId(uint64_t *id)
{
    if (id != NULL) {
        *id = 0;
    }
}
