// SPDX-License-Identifier: Apache-2.0
// What a program of CANN 9.1 asks of its streams, events and devices, and how it ends what it has.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "condition.h"

namespace {

constexpr size_t BYTES = 4096;

void test_what_is_asked_of_streams()
{
    aclrtStream plain = nullptr, made = nullptr, standard = nullptr;
    uint32_t before = 0, after = 0, priority = 9, flags = 9;
    OK(aclrtGetStreamAvailableNum(&before));
    OK(aclrtCreateStream(&plain));
    OK(aclrtCreateStreamWithConfig(&made, 3, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    OK(aclrtGetStreamAvailableNum(&after));
    EXPECT(after == before - 2);
    OK(aclrtStreamGetPriority(made, &priority));
    OK(aclrtStreamGetFlags(made, &flags));
    EXPECT(priority == 3 && flags == (ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    OK(aclrtStreamGetPriority(plain, &priority));
    OK(aclrtStreamGetFlags(nullptr, &flags));
    EXPECT(priority == 0 && flags == 0);
    OK(aclrtCtxGetCurrentDefaultStream(&standard));
    OK(aclrtSynchronizeStream(standard));
    EXPECT(standard != nullptr && standard != plain && aclrtDestroyStream(nullptr) == 100000);
    EXPECT(aclrtStreamGetPriority(plain, nullptr) == 100000);
    aclrtStreamAttrValue value = {};
    for (const uint32_t kept : {2u, 3u, 4u, 5u}) {
        value.reserve[0] = 10 + kept;
        OK(aclrtSetStreamAttribute(made, static_cast<aclrtStreamAttr>(kept), &value));
        value.reserve[0] = 0;
        OK(aclrtGetStreamAttribute(made, static_cast<aclrtStreamAttr>(kept), &value));
        EXPECT(value.reserve[0] == 10 + kept);
    }
    OK(aclrtStreamGetPriority(made, &priority));
    EXPECT(priority == 15);
    value.failureMode = 1;
    OK(aclrtSetStreamAttribute(plain, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    value.failureMode = 0;
    OK(aclrtGetStreamAttribute(plain, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT(value.failureMode == 1);
    EXPECT(aclrtSetStreamAttribute(plain, static_cast<aclrtStreamAttr>(6), &value) == 107000);
    EXPECT(aclrtSetStreamAttribute(plain, ACL_STREAM_ATTR_PRIORITY, nullptr) == 100000);
    OK(aclrtDestroyStream(plain));
    OK(aclrtDestroyStream(made));
}

void test_what_is_asked_of_events()
{
    aclrtEvent one = nullptr, other = nullptr;
    uint32_t before = 0, after = 0, id = 0, other_id = 0;
    OK(aclrtGetEventAvailNum(&before));
    OK(aclrtCreateEventExWithFlag(&one, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&other, ACL_EVENT_SYNC));
    OK(aclrtGetEventAvailNum(&after));
    OK(aclrtGetEventId(one, &id));
    OK(aclrtGetEventId(other, &other_id));
    EXPECT(after == before - 2 && id != other_id);
    EXPECT(aclrtGetEventId(one, nullptr) == 100000);

    aclrtStream first = nullptr, second = nullptr;
    void *device = nullptr;
    char host[BYTES] = {};
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(device, BYTES, 7, BYTES, first));
    OK(aclrtRecordEvent(one, first));
    OK(aclrtStreamWaitEventWithTimeout(second, one, 100000));
    OK(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, second));
    OK(aclrtSynchronizeStream(second));
    EXPECT(host[0] == 7 && host[BYTES - 1] == 7);
    for (const int32_t negative : {-1, -2, INT32_MIN}) {
        EXPECT(aclrtStreamWaitEventWithTimeout(second, one, negative) == 107000);
    }
    OK(aclrtSynchronizeStream(first));
    OK(aclrtFree(device));
    OK(aclrtDestroyStream(first));
    OK(aclrtDestroyStream(second));
    OK(aclrtDestroyEvent(one));
    OK(aclrtDestroyEvent(other));
}

void test_a_wait_with_a_timeout_joins_streams_of_a_capture()
{
    aclrtEvent begun = nullptr, done = nullptr;
    aclrtStream first = nullptr, second = nullptr;
    aclmdlRI graph = nullptr;
    OK(aclrtCreateEventExWithFlag(&begun, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&done, ACL_EVENT_SYNC));
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclrtRecordEvent(begun, first));
    OK(aclrtStreamWaitEventWithTimeout(second, begun, 100000));
    OK(aclrtRecordEvent(done, second));
    OK(aclrtStreamWaitEventWithTimeout(first, done, 100000));
    OK(aclmdlRICaptureEnd(first, &graph));
    OK(aclmdlRIDestroy(graph));
    OK(aclrtDestroyStream(first));
    OK(aclrtDestroyStream(second));
    OK(aclrtDestroyEvent(begun));
    OK(aclrtDestroyEvent(done));
}

void test_what_is_asked_of_devices()
{
    int32_t active = 9, enabled = 9;
    OK(aclrtGetPrimaryCtxState(0, nullptr, &active));
    EXPECT(active == 1);
    OK(aclrtGetPrimaryCtxState(1, nullptr, &active));
    EXPECT(active == 0 && aclrtGetPrimaryCtxState(7, nullptr, &active) == 107001);
    uint32_t reserved = 0;
    EXPECT(aclrtGetPrimaryCtxState(0, &reserved, &active) == 100000);

    OK(aclrtDevicePeerAccessStatus(0, 1, &enabled));
    EXPECT(enabled == 0);
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    OK(aclrtDevicePeerAccessStatus(0, 1, &enabled));
    EXPECT(enabled == 1);
    OK(aclrtDeviceDisablePeerAccess(1));
    EXPECT(aclrtDevicePeerAccessStatus(0, 0, &enabled) == 100000);

    int64_t cores = 0, told = 0, memory = 0;
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
    OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &told));
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &memory));
    EXPECT(cores == told && memory >= int64_t{1} << 30);
    EXPECT(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE, &told) == 207000);
    aclrtUuid first, second;
    OK(aclrtDeviceGetUuid(0, &first));
    OK(aclrtDeviceGetUuid(1, &second));
    EXPECT(memcmp(&first, &second, sizeof first) != 0);
    EXPECT(aclrtDeviceGetUuid(9, &first) == 107001);
    EXPECT(aclrtGetDeviceInfo(9, ACL_DEV_ATTR_VECTOR_CORE_NUM, &told) == 107001);
}

void test_a_block_is_found_by_an_address_in_it()
{
    void *block = nullptr, *start = nullptr;
    size_t size = 0;
    char host = 0;
    OK(aclrtMalloc(&block, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemGetAddressRange(static_cast<char *>(block) + 99, &start, &size));
    EXPECT(start == block && size == BYTES);
    EXPECT(aclrtMemGetAddressRange(&host, &start, &size) == 107000);
    EXPECT(aclrtMemGetAddressRange(block, nullptr, &size) == 100000);
    OK(aclrtFree(block));
}

// With aclrtFree and aclrtFreeHost the copy would be a broken rule.
void test_memory_is_freed_when_the_device_is_done_with_it()
{
    void *device = nullptr, *pinned = nullptr;
    aclrtStream stream = nullptr;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, BYTES));
    OK(aclrtMemcpyAsync(device, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtFreeHostWithDevSync(pinned));
    OK(aclrtMemsetAsync(device, BYTES, 1, BYTES, stream));
    OK(aclrtFreeWithDevSync(device));
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    OK(aclrtStreamQuery(stream, &status));
    EXPECT(status == ACL_STREAM_STATUS_COMPLETE);
    EXPECT(aclrtFreeWithDevSync(nullptr) == 100000 && aclrtFreeHostWithDevSync(nullptr) == 100000);
    OK(aclrtDestroyStream(stream));
}

void test_who_is_refused_is_told_what_there_is_instead()
{
    size_t work = 0, weights = 0;
    EXPECT(aclmdlQuerySize("model.om", &work, &weights) == 999001);
    const std::string text = aclGetRecentErrMsg();
    EXPECT(text.find("aclmdlQuerySize is declared by CANN but not implemented") != text.npos);
    EXPECT(text.find("ONNX Runtime") != text.npos);
}

} // namespace

int main()
{
    uint64_t left = 9;
    EXPECT(aclFinalizeReference(&left) == 100037 && left == 0);
    OK(aclInit(nullptr));
    EXPECT(aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
    OK(aclrtSetDevice(0));
    test_what_is_asked_of_streams();
    test_what_is_asked_of_events();
    test_a_wait_with_a_timeout_joins_streams_of_a_capture();
    test_what_is_asked_of_devices();
    test_a_block_is_found_by_an_address_in_it();
    test_memory_is_freed_when_the_device_is_done_with_it();
    test_who_is_refused_is_told_what_there_is_instead();
    // The device is still set, which only the last one would have to say.
    OK(aclFinalizeReference(&left));
    EXPECT(left == 1);
    OK(aclrtResetDevice(0));
    OK(aclFinalizeReference(nullptr));
    std::puts("done");
}
