// SPDX-License-Identifier: Apache-2.0
// Transfers that CANN 9.1 has beside copies and fills of bytes: reductions, fills of words, batches.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "condition.h"

namespace {

constexpr auto SUM = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
constexpr auto MAX = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX;
constexpr auto MIN = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;
constexpr size_t BYTES = 4096;

void *device_memory()
{
    void *address;
    OK(aclrtMalloc(&address, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(address, BYTES, 0, BYTES));
    return address;
}

template <class T> std::vector<T> fetch(const void *from, size_t count)
{
    std::vector<T> values(count);
    const size_t bytes = count * sizeof(T);
    OK(aclrtMemcpy(values.data(), bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
}

template <class T> void put(void *to, const std::vector<T> &values)
{
    const size_t bytes = values.size() * sizeof(T);
    OK(aclrtMemcpy(to, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

// What is in memory, what comes, and what must then be there, for each of the three.
template <class T> struct Row {
    aclDataType type;
    std::vector<T> there, comes, sums, largest, least;
};

template <class T> void reduce(const Row<T> &row)
{
    void *to = device_memory(), *from = device_memory();
    const size_t bytes = row.there.size() * sizeof(T);
    put(from, row.comes);
    for (const auto &[kind, wanted] :
         {std::pair{SUM, row.sums}, {MAX, row.largest}, {MIN, row.least}}) {
        put(to, row.there);
        OK(aclrtReduceAsync(to, from, bytes, kind, row.type, nullptr, nullptr));
        OK(aclrtSynchronizeStream(nullptr));
        EXPECT(fetch<T>(to, row.there.size()) == wanted);
    }
    OK(aclrtFree(to));
    OK(aclrtFree(from));
}

void numbers_are_brought_together()
{
    reduce<int8_t>({ACL_INT8, {1, -5, 127}, {2, 3, 1}, {3, -2, -128}, {2, 3, 127}, {1, -5, 1}});
    reduce<int16_t>({ACL_INT16, {300, -7}, {-1, 9}, {299, 2}, {300, 9}, {-1, -7}});
    reduce<int32_t>({ACL_INT32, {70000, -7}, {-1, 9}, {69999, 2}, {70000, 9}, {-1, -7}});
    reduce<float>({ACL_FLOAT, {1.5f, -2}, {0.25f, 8}, {1.75f, 6}, {1.5f, 8}, {0.25f, -2}});
    // 1, 2, 3 and 2048 + 1, which rounds to even.
    reduce<uint16_t>({ACL_FLOAT16, {0x3C00, 0x6800}, {0x4000, 0x3C00}, {0x4200, 0x6800},
                      {0x4000, 0x6800}, {0x3C00, 0x3C00}});
    // 1, 2, 3 and 256 + 1, likewise.
    reduce<uint16_t>({ACL_BF16, {0x3F80, 0x4380}, {0x4000, 0x3F80}, {0x4040, 0x4380},
                      {0x4000, 0x4380}, {0x3F80, 0x3F80}});
    const float nan = std::nanf("");
    void *to = device_memory(), *from = device_memory();
    put<float>(to, {1, nan});
    put<float>(from, {nan, 1});
    OK(aclrtReduceAsync(to, from, 8, MAX, ACL_FLOAT, nullptr, nullptr));
    OK(aclrtSynchronizeStream(nullptr));
    for (const float value : fetch<float>(to, 2)) {
        EXPECT(std::isnan(value));
    }
    float host = 0;
    const auto wrong = [&](void *dst, uint64_t bytes, aclrtReduceKind kind, aclDataType type) {
        return aclrtReduceAsync(dst, from, bytes, kind, type, nullptr, nullptr);
    };
    EXPECT(wrong(nullptr, 4, SUM, ACL_FLOAT) == ACL_ERROR_INVALID_PARAM);
    EXPECT(wrong(to, 4, static_cast<aclrtReduceKind>(9), ACL_FLOAT) == ACL_ERROR_INVALID_PARAM);
    EXPECT(wrong(to, 8, SUM, ACL_INT64) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(wrong(to, 6, SUM, ACL_FLOAT) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(wrong(&host, 4, SUM, ACL_FLOAT) == ACL_ERROR_RT_PARAM_INVALID); // breaks a rule
    OK(wrong(to, 0, SUM, ACL_FLOAT));
    OK(aclrtFree(to));
    OK(aclrtFree(from));
}

void words_fill_memory()
{
    void *memory = device_memory(), *pinned;
    OK(aclrtMallocHost(&pinned, BYTES));
    auto *middle = static_cast<uint32_t *>(memory) + 1;
    OK(aclrtMemsetD32(middle, 12, 0x01020304, 2));
    OK(aclrtMemsetD32Async(middle + 2, 4, 0x0A0B0C0D, 1, nullptr));
    OK(aclrtMemsetD32(pinned, BYTES, 7, 3));
    OK(aclrtSynchronizeStream(nullptr));
    EXPECT((fetch<uint32_t>(memory, 5) ==
            std::vector<uint32_t>{0, 0x01020304, 0x01020304, 0x0A0B0C0D, 0}));
    EXPECT(static_cast<uint32_t *>(pinned)[2] == 7);
    uint32_t pageable[2];
    EXPECT(aclrtMemsetD32(pageable, 8, 1, 2) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemsetD32(nullptr, 8, 1, 2) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemsetD32(static_cast<char *>(memory) + 2, 8, 1, 1) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemsetD32(memory, 11, 1, 3) == ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(memory));
    OK(aclrtFreeHost(pinned));
}

void a_batch_copies_one_after_the_other()
{
    void *memory = device_memory(), *pinned;
    OK(aclrtMallocHost(&pinned, BYTES));
    auto *near = static_cast<uint32_t *>(pinned);
    auto *far = static_cast<uint32_t *>(memory);
    const std::vector<uint32_t> first = {1, 2, 3, 4};
    std::memcpy(near, first.data(), 16);
    aclrtMemcpyBatchAttr attributes[2] = {};
    attributes[0].dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attributes[0].srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    attributes[1].dstLoc = attributes[0].srcLoc;
    attributes[1].srcLoc = attributes[0].dstLoc;
    void *to[] = {far, far + 2, near + 8}, *from[] = {near + 2, near, far};
    size_t room[] = {8, 8, 16}, sizes[] = {8, 8, 16}, firsts[] = {0, 2}, failed = 77;
    OK(aclrtMemcpyBatch(to, room, from, sizes, 3, attributes, firsts, 2, &failed));
    EXPECT(near[8] == 3 && near[9] == 4 && near[10] == 1 && near[11] == 2 && failed == 77);
    near[2] = 9;
    OK(aclrtMemcpyBatchAsync(to, room, from, sizes, 3, attributes, firsts, 2, &failed, nullptr));
    OK(aclrtSynchronizeStream(nullptr));
    EXPECT(near[8] == 9);
    near[2] = 8;
    OK(aclrtMemcpyBatchV2(to, room, from, sizes, 3, attributes, firsts, 2));
    EXPECT(near[8] == 8);
    near[2] = 7;
    OK(aclrtMemcpyBatchAsyncV2(to, room, from, sizes, 3, attributes, firsts, 2, nullptr));
    OK(aclrtSynchronizeStream(nullptr));
    EXPECT(near[8] == 7);

    room[1] = 4;
    EXPECT(aclrtMemcpyBatch(to, room, from, sizes, 3, attributes, firsts, 2, &failed) ==
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(failed == 1);
    room[1] = 8;
    EXPECT(aclrtMemcpyBatch(to, room, from, sizes, 3, attributes, firsts, 1, &failed) ==
           ACL_ERROR_RT_PARAM_INVALID); // the third goes the other way
    EXPECT(failed == 2);
    firsts[0] = 1;
    EXPECT(aclrtMemcpyBatch(to, room, from, sizes, 3, attributes, firsts, 2, &failed) ==
           ACL_ERROR_INVALID_PARAM);
    EXPECT(failed == SIZE_MAX);
    EXPECT(aclrtMemcpyBatchV2(to, room, from, sizes, 0, attributes, firsts, 2) ==
           ACL_ERROR_INVALID_PARAM);
    OK(aclrtFree(memory));
    OK(aclrtFreeHost(pinned));
}

// In the order of its stream alone: the wrong half breaks a rule, the right one none.
void streams_must_be_ordered()
{
    void *to = device_memory(), *from = device_memory();
    aclrtStream first, second;
    aclrtEvent event;
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    for (const bool ordered : {true, false}) {
        OK(aclrtMemsetD32Async(from, BYTES, 5, BYTES / 4, first));
        if (ordered) {
            OK(aclrtRecordEvent(event, first));
            OK(aclrtStreamWaitEvent(second, event));
        }
        OK(aclrtReduceAsync(to, from, BYTES, SUM, ACL_INT32, second, nullptr));
        OK(aclrtSynchronizeStream(first));
        OK(aclrtSynchronizeStream(second));
        EXPECT(!ordered || fetch<int32_t>(to, 1)[0] == 5);
    }
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyStream(first));
    OK(aclrtDestroyStream(second));
    OK(aclrtFree(to));
    OK(aclrtFree(from));
}

} // namespace

int main()
{
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    numbers_are_brought_together();
    words_fill_memory();
    a_batch_copies_one_after_the_other();
    streams_must_be_ordered();
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    std::puts("done");
}
