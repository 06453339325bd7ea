// SPDX-License-Identifier: Apache-2.0
// What orders streams beside events: notifies, values in memory, functions of the host. Every step
// says what must be in memory by then, whatever the order in which the device works.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "condition.h"

namespace {

constexpr size_t COUNT = 1024, BYTES = COUNT * sizeof(int32_t);

// Two streams, a block of device memory, and a pinned one.
struct Stage {
    aclrtStream first = nullptr, second = nullptr;
    void *device = nullptr, *pinned = nullptr;

    Stage()
    {
        OK(aclrtCreateStream(&first));
        OK(aclrtCreateStream(&second));
        OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMallocHost(&pinned, BYTES));
        OK(aclrtMemset(device, BYTES, 0, BYTES));
    }
    ~Stage()
    {
        OK(aclrtDestroyStream(first));
        OK(aclrtDestroyStream(second));
        OK(aclrtFree(device));
        OK(aclrtFreeHost(pinned));
    }
    Stage(const Stage &) = delete;
    Stage &operator=(const Stage &) = delete;

    void fill(int byte, aclrtStream stream) const
    {
        OK(aclrtMemsetAsync(device, BYTES, byte, BYTES, stream));
    }
    void fetch(aclrtStream stream) const
    {
        OK(aclrtMemcpyAsync(pinned, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    }
    int byte() const
    {
        return *static_cast<unsigned char *>(pinned);
    }
};

void notify_orders_two_streams()
{
    Stage stage;
    aclrtNotify notify;
    uint32_t one, other;
    OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    OK(aclrtGetNotifyId(notify, &one));
    for (int round = 1; round <= 3; round++) {
        OK(aclrtWaitAndResetNotify(notify, stage.second, 0));
        stage.fetch(stage.second);
        stage.fill(round, stage.first);
        OK(aclrtRecordNotify(notify, stage.first));
        OK(aclrtSynchronizeStream(stage.second));
        EXPECT(stage.byte() == round);
    }
    // Each wait has taken its record back: the next one finds none.
    OK(aclrtWaitAndResetNotify(notify, stage.second, 1));
    EXPECT(aclrtSynchronizeStream(stage.second) == ACL_ERROR_RT_TASK_TIMEOUT);
    // Nor does a wait find one that the host has taken back.
    OK(aclrtRecordNotify(notify, stage.first));
    OK(aclrtSynchronizeStream(stage.first));
    OK(aclrtNotifyBatchReset(&notify, 1));
    OK(aclrtWaitAndResetNotify(notify, stage.second, 0));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stage.second, 20) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtRecordNotify(notify, stage.first));
    OK(aclrtSynchronizeStream(stage.second));
    aclrtNotify second;
    OK(aclrtCreateNotify(&second, ACL_NOTIFY_DEVICE_USE_ONLY));
    OK(aclrtGetNotifyId(second, &other));
    EXPECT(one != other);
    OK(aclrtDestroyNotify(second));
    OK(aclrtDestroyNotify(notify));
    EXPECT(aclrtCreateNotify(nullptr, 0) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtCreateNotify(&notify, 2) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyNotify(nullptr) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtNotifyBatchReset(nullptr, 1) == ACL_ERROR_INVALID_PARAM);
}

void values_order_two_streams()
{
    struct Condition {
        uint32_t flag;
        uint64_t wanted, unfit, fit;
    };
    const std::vector<Condition> conditions = {
        {ACL_STREAM_WAIT_VALUE_GEQ, 5, 4, 9},
        {ACL_STREAM_WAIT_VALUE_EQ, 5, 9, 5},
        {ACL_STREAM_WAIT_VALUE_AND, 6, 9, 4},
        {ACL_STREAM_WAIT_VALUE_NOR, ~uint64_t{1}, 1, 0},
    };
    Stage stage;
    auto *place = static_cast<uint64_t *>(stage.device) + 8;
    for (const Condition &each : conditions) {
        OK(aclrtMemcpy(place, 8, &each.unfit, 8, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclrtValueWait(place, each.wanted, each.flag, stage.second));
        EXPECT(aclrtSynchronizeStreamWithTimeout(stage.second, 20) ==
               ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        OK(aclrtValueWrite(place, each.fit, 0, stage.first));
        OK(aclrtSynchronizeStream(stage.second));
    }
    // The host may let it go on as well.
    const uint64_t five = 5, none = 0;
    OK(aclrtMemcpy(place, 8, &none, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtValueWait(place, five, ACL_STREAM_WAIT_VALUE_EQ, stage.second));
    OK(aclrtMemcpy(place, 8, &five, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtSynchronizeStream(stage.second));
    EXPECT(aclrtValueWait(nullptr, 1, 0, stage.first) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtValueWait(place, 1, 4, stage.first) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtValueWrite(stage.pinned, 1, 0, stage.first) == ACL_ERROR_RT_PARAM_INVALID);
    auto *odd = static_cast<char *>(stage.device) + 4;
    EXPECT(aclrtValueWrite(odd, 1, 0, stage.first) == ACL_ERROR_RT_ADDR_UNALIGNED);
}

struct Heard {
    std::vector<int> order;
    std::vector<std::thread::id> threads;
    unsigned char *byte = nullptr;
    std::promise<void> last;
};
struct Step {
    Heard *heard;
    int number;
};

void hear(void *data)
{
    const auto *step = static_cast<Step *>(data);
    step->heard->order.push_back(step->number);
    step->heard->threads.push_back(std::this_thread::get_id());
    *step->heard->byte = static_cast<unsigned char>(*step->heard->byte + 1);
}

void finish(void *data)
{
    static_cast<Heard *>(data)->last.set_value();
}

void functions_of_the_host_hold_their_stream()
{
    Stage stage;
    Heard heard;
    Step steps[] = {{&heard, 1}, {&heard, 2}, {&heard, 3}};
    heard.byte = static_cast<unsigned char *>(stage.pinned);
    stage.fill(40, stage.first);
    stage.fetch(stage.first);
    for (Step &step : steps) {
        OK(aclrtLaunchHostFunc(stage.first, hear, &step));
    }
    OK(aclrtMemcpyAsync(stage.device, BYTES, stage.pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE,
                        stage.first));
    OK(aclrtSynchronizeStream(stage.first));
    OK(aclrtMemcpy(stage.pinned, BYTES, stage.device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(stage.byte() == 43);
    EXPECT((heard.order == std::vector<int>{1, 2, 3}));
    for (const std::thread::id &thread : heard.threads) {
        EXPECT(thread == heard.threads[0] && thread != std::this_thread::get_id());
    }
    // Nobody need wait for the stream: the runtime has a thread of its own.
    OK(aclrtLaunchHostFunc(stage.first, finish, &heard));
    EXPECT(heard.last.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready);
    EXPECT(aclrtLaunchHostFunc(stage.first, nullptr, nullptr) == ACL_ERROR_INVALID_PARAM);
    OK(aclrtSynchronizeStream(stage.first));
}

} // namespace

int main()
{
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    notify_orders_two_streams();
    values_order_two_streams();
    functions_of_the_host_hold_their_stream();
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    std::puts("done");
}
