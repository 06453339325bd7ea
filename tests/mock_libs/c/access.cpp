// SPDX-License-Identifier: Apache-2.0
// What devices may do in mapped memory: who may at first, who is let in, and what is told wrongly.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "condition.h"

namespace {

constexpr size_t PIECE = 2 << 20;
constexpr auto NONE = ACL_RT_MEM_ACCESS_FLAGS_NONE, READ = ACL_RT_MEM_ACCESS_FLAGS_READ,
               BOTH = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;

aclrtMemLocation device(uint32_t id)
{
    return {id, ACL_MEM_LOCATION_TYPE_DEVICE};
}

aclrtMemAccessDesc access(aclrtMemAccessFlags flags, aclrtMemLocation location)
{
    return {flags, location, {}};
}

// Two pieces of memory of device 0, side by side.
struct Pieces {
    char *at = nullptr;
    aclrtDrvMemHandle memory = nullptr;

    Pieces()
    {
        void *start = nullptr;
        const aclrtPhysicalMemProp property = {ACL_MEM_HANDLE_TYPE_NONE,
                                               ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_HBM_MEM_HUGE,
                                               device(0), 0};
        OK(aclrtReserveMemAddress(&start, 3 * PIECE, 0, nullptr, 0));
        OK(aclrtMallocPhysical(&memory, 2 * PIECE, &property, 0));
        at = static_cast<char *>(start);
        OK(aclrtMapMem(at, PIECE, 0, memory, 0));
        OK(aclrtMapMem(at + PIECE, PIECE, PIECE, memory, 0));
    }
    ~Pieces()
    {
        OK(aclrtUnmapMem(at));
        OK(aclrtUnmapMem(at + PIECE));
        OK(aclrtFreePhysical(memory));
        OK(aclrtReleaseMemAddress(at));
    }
    Pieces(const Pieces &) = delete;
    Pieces &operator=(const Pieces &) = delete;

    aclError set(aclrtMemAccessDesc wanted, size_t from = 0, size_t size = 2 * PIECE) const
    {
        return aclrtMemSetAccess(at + from, size, &wanted, 1);
    }
    uint64_t get(uint32_t id, size_t from = 0) const
    {
        aclrtMemLocation location = device(id);
        uint64_t flag = 99;
        OK(aclrtMemGetAccess(at + from, &location, &flag));
        return flag;
    }
};

void test_it_is_its_own_devices_until_others_are_let_in()
{
    const Pieces pieces;
    EXPECT(pieces.get(0) == BOTH && pieces.get(1) == NONE);
    OK(pieces.set(access(READ, device(1)), PIECE, PIECE));
    EXPECT(pieces.get(1) == NONE && pieces.get(1, PIECE + 5) == READ);
    aclrtMemAccessDesc both[] = {access(READ, device(0)), access(BOTH, device(1))};
    OK(aclrtMemSetAccess(pieces.at, 2 * PIECE, both, 2));
    EXPECT(pieces.get(0) == READ && pieces.get(1, PIECE) == BOTH);
}

void test_what_is_told_wrongly_changes_nothing()
{
    const Pieces pieces;
    EXPECT(pieces.set(access(static_cast<aclrtMemAccessFlags>(2), device(1))) == 107000);
    EXPECT(pieces.set(access(BOTH, device(7))) == 107001);
    EXPECT(pieces.set(access(BOTH, {0, ACL_MEM_LOCATION_TYPE_HOST})) == 207000);
    EXPECT(pieces.set(access(BOTH, device(1)), 0, 3 * PIECE) == 107000);
    EXPECT(pieces.set(access(BOTH, device(1)), 4096, PIECE) == 107000);
    EXPECT(pieces.set(access(BOTH, device(1)), 0, PIECE / 2) == 107000);
    EXPECT(pieces.set(access(BOTH, device(1)), 0, 0) == 100000);
    EXPECT(aclrtMemSetAccess(pieces.at, PIECE, nullptr, 1) == 100000);
    aclrtMemAccessDesc half[] = {access(READ, device(1)), access(BOTH, device(7))};
    EXPECT(aclrtMemSetAccess(pieces.at, PIECE, half, 2) == 107001);
    EXPECT(pieces.get(0) == BOTH && pieces.get(1) == NONE);

    aclrtMemLocation location = device(0);
    uint64_t flag = 99;
    EXPECT(aclrtMemGetAccess(pieces.at + 2 * PIECE, &location, &flag) == 107000);
    EXPECT(aclrtMemGetAccess(pieces.at, nullptr, &flag) == 100000);
    location.id = 7;
    EXPECT(aclrtMemGetAccess(pieces.at, &location, &flag) == 107001);
    EXPECT(flag == 99);
}

// Device 1 copies from one piece, fills both, and may only read: the second is a broken rule.
void test_work_is_held_against_what_its_device_may()
{
    const Pieces pieces;
    OK(pieces.set(access(READ, device(1))));
    OK(aclrtSetDevice(1));
    void *own = nullptr;
    aclrtStream stream = nullptr;
    OK(aclrtMalloc(&own, PIECE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemcpyAsync(own, PIECE, pieces.at, PIECE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpyAsync(pieces.at + PIECE, PIECE, own, PIECE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStream(stream));
    OK(aclrtFree(own));
    OK(aclrtResetDevice(1));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
}

} // namespace

int main()
{
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    test_it_is_its_own_devices_until_others_are_let_in();
    test_what_is_told_wrongly_changes_nothing();
    test_work_is_held_against_what_its_device_may();
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    std::puts("done");
}
