/* SPDX-License-Identifier: Apache-2.0 */
/* Allocators of programs, kept by stream. The simulated NPU allocates nothing through them, as the
 * runtime itself does not. Source: CANN: runtime aclrt_impl/allocator.cpp. */
#include <stdlib.h>

#include "acl/acl_rt_allocator.h"
#include "error_message.h"

struct allocator {
    struct allocator *next; /* of the descriptions */
    aclrtAllocator object;
    aclrtAllocatorAllocFunc allocate;
    aclrtAllocatorFreeFunc free;
    aclrtAllocatorAllocAdviseFunc advise;
    aclrtAllocatorGetAddrFromBlockFunc address;
};

struct registration {
    struct registration *next;
    aclrtStream stream;
    aclrtAllocatorDesc given;
    struct allocator allocator;
};

static struct registration *registrations;
static struct allocator *descriptions;

/* Where a description is linked in, or NULL after mock_fail. */
static struct allocator **find(const void *description)
{
    struct allocator **place = &descriptions;
    while (*place != NULL && *place != description) {
        place = &(*place)->next;
    }
    if (*place == NULL) {
        mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no description of an allocator", description);
        return NULL;
    }
    return place;
}

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void)
{
    struct allocator *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->next = descriptions;
        descriptions = made;
    }
    return made;
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc)
{
    struct allocator **place = find(allocatorDesc);
    if (place == NULL) {
        return ACL_ERROR_INVALID_PARAM;
    }
    *place = (*place)->next;
    free(allocatorDesc);
    return ACL_SUCCESS;
}

#define SETTER(function, type, argument, member)                       \
    aclError function(aclrtAllocatorDesc allocatorDesc, type argument) \
    {                                                                  \
        struct allocator **place = find(allocatorDesc);                \
        if (place == NULL) {                                           \
            return ACL_ERROR_INVALID_PARAM;                            \
        }                                                              \
        (*place)->member = argument;                                   \
        return ACL_SUCCESS;                                            \
    }
SETTER(aclrtAllocatorSetObjToDesc, aclrtAllocator, allocator, object)
SETTER(aclrtAllocatorSetAllocFuncToDesc, aclrtAllocatorAllocFunc, func, allocate)
SETTER(aclrtAllocatorSetFreeFuncToDesc, aclrtAllocatorFreeFunc, func, free)
SETTER(aclrtAllocatorSetAllocAdviseFuncToDesc, aclrtAllocatorAllocAdviseFunc, func, advise)
SETTER(aclrtAllocatorSetGetAddrFromBlockFuncToDesc, aclrtAllocatorGetAddrFromBlockFunc, func, address)

static struct registration **place_of(aclrtStream stream)
{
    struct registration **place = &registrations;
    while (*place != NULL && (*place)->stream != stream) {
        place = &(*place)->next;
    }
    return place;
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc)
{
    struct allocator **described = find(allocatorDesc);
    if (described == NULL) {
        return ACL_ERROR_INVALID_PARAM;
    }
    const struct allocator *given = *described;
    if (given->object == NULL || given->allocate == NULL || given->free == NULL ||
        given->address == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "the description lacks the allocator, or one of its functions to allocate, "
                         "to free and to get an address");
    }
    struct registration **place = place_of(stream);
    if (*place == NULL) {
        *place = calloc(1, sizeof **place);
    }
    if (*place == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for an allocator");
    }
    (*place)->stream = stream;
    (*place)->given = allocatorDesc;
    (*place)->allocator = *given;
    return ACL_SUCCESS;
}

aclError aclrtAllocatorUnregister(aclrtStream stream)
{
    struct registration **place = place_of(stream), *gone = *place;
    if (gone != NULL) {
        *place = gone->next;
        free(gone);
    }
    return ACL_SUCCESS;
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc,
                                   aclrtAllocator *allocator, aclrtAllocatorAllocFunc *allocFunc,
                                   aclrtAllocatorFreeFunc *freeFunc,
                                   aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc)
{
    const struct registration *found = *place_of(stream);
    if (found == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "no allocator is registered for stream %p", stream);
    }
    *allocatorDesc = found->given;
    if (allocator != NULL) {
        *allocator = found->allocator.object;
    }
    if (allocFunc != NULL) {
        *allocFunc = found->allocator.allocate;
    }
    if (freeFunc != NULL) {
        *freeFunc = found->allocator.free;
    }
    if (allocAdviseFunc != NULL) {
        *allocAdviseFunc = found->allocator.advise;
    }
    if (getAddrFromBlockFunc != NULL) {
        *getAddrFromBlockFunc = found->allocator.address;
    }
    return ACL_SUCCESS;
}
