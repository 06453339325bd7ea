/* SPDX-License-Identifier: Apache-2.0 */
// Collective operations of two ranks in graphs: each execution is an operation, no capture is one.
#include <vector>

#include "acl/acl.h"
#include "condition.h"
#include "hccl/hccl.h"

namespace {

constexpr uint64_t COUNT = 4, BYTES = COUNT * sizeof(int32_t);

struct Rank {
    int32_t number;
    HcclComm group = nullptr;
    aclrtStream stream = nullptr;
    int32_t *from = nullptr, *to = nullptr;
    aclmdlRI graph = nullptr;

    void reduce(int32_t *source)
    {
        OK(HcclAllReduce(source, to, COUNT, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, group, stream));
    }

    // One rank captures more often than the other, which changes nothing.
    void capture()
    {
        OK(aclrtSetDevice(number));
        OK(aclrtCreateStream(&stream));
        OK(aclrtMalloc(reinterpret_cast<void **>(&from), BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMalloc(reinterpret_cast<void **>(&to), BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        for (int32_t i = 0; i <= number; i++) {
            if (graph != nullptr) {
                OK(aclmdlRIDestroy(graph));
            }
            OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
            reduce(from);
            OK(aclmdlRICaptureEnd(stream, &graph));
        }
    }

    // The sum; then twice that; then the sum again, and once more twice that.
    void queue(int32_t value)
    {
        const std::vector<int32_t> values(COUNT, value);
        OK(aclrtSetDevice(number));
        OK(aclrtMemcpy(from, BYTES, values.data(), BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
        for (int i = 0; i < 2; i++) {
            OK(aclmdlRIExecuteAsync(graph, stream));
            reduce(to);
        }
    }

    void check(int32_t expected)
    {
        std::vector<int32_t> values(COUNT);
        OK(aclrtSetDevice(number));
        OK(aclrtSynchronizeStream(stream));
        OK(aclrtMemcpy(values.data(), BYTES, to, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
        for (const int32_t value : values) {
            EXPECT(value == expected);
        }
    }

    void end()
    {
        OK(aclrtSetDevice(number));
        OK(aclmdlRIDestroy(graph));
        OK(aclrtFree(from));
        OK(aclrtFree(to));
        OK(aclrtDestroyStream(stream));
        OK(aclrtResetDeviceForce(number));
    }
};

} // namespace

int main()
{
    OK(aclInit(nullptr));
    Rank ranks[] = {{0}, {1}};
    int32_t devices[] = {0, 1};
    HcclComm groups[2];
    OK(HcclCommInitAll(2, devices, groups));
    for (Rank &rank : ranks) {
        rank.group = groups[rank.number];
        rank.capture();
    }
    for (const int32_t value : {5, 6}) {
        for (Rank &rank : ranks) {
            rank.queue(value + rank.number);
        }
        for (Rank &rank : ranks) {
            rank.check(2 * (2 * value + 1));
        }
    }
    OK(HcclCommDestroy(groups[0]));
    OK(aclrtSetDevice(0));
    OK(aclmdlRIExecuteAsync(ranks[0].graph, ranks[0].stream)); // of a group that is gone
    EXPECT(aclrtSynchronizeStream(ranks[0].stream) == ACL_ERROR_RT_FFTS_PLUS_EXCEPTION);
    OK(HcclCommDestroy(groups[1]));
    for (Rank &rank : ranks) {
        rank.end();
    }
    OK(aclFinalize());
    std::puts("done");
}
