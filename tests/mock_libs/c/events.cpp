// SPDX-License-Identifier: Apache-2.0
// Streams and hosts of two processes wait for each other by events, which either may record: the parent
// fills memory that both have, the child adds to it.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipe.h"

namespace {

constexpr size_t BYTES = 256;
constexpr int ROUNDS = 3;

aclrtEvent made(uint32_t flags = ACL_EVENT_IPC)
{
    aclrtEvent event = nullptr;
    OK(aclrtCreateEventExWithFlag(&event, flags));
    return event;
}

std::string shared(aclrtEvent event)
{
    aclrtIpcEventHandle handle = {};
    OK(aclrtIpcGetEventHandle(event, &handle));
    return std::string(handle.reserved, strnlen(handle.reserved, sizeof handle.reserved));
}

aclError open(const std::string &text, aclrtEvent *event)
{
    aclrtIpcEventHandle handle = {};
    std::memcpy(handle.reserved, text.data(), std::min(text.size(), sizeof handle.reserved));
    return aclrtIpcOpenEventHandle(handle, event);
}

aclrtEvent opened(const std::string &text)
{
    aclrtEvent event = nullptr;
    OK(open(text, &event));
    return event;
}

bool is_complete(aclrtEvent event)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    OK(aclrtQueryEventStatus(event, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

// A record that the parent holds up: neither the host nor a stream passes it.
void test_a_record_is_waited_for(const Pipe &asked, const Pipe &answered, aclrtStream stream,
                                 void *memory, aclrtEvent before)
{
    unsigned char *found = nullptr; // pinned: a copy to other memory would wait itself
    OK(aclrtMallocHost(reinterpret_cast<void **>(&found), 1));
    float milliseconds = -1;
    const aclrtEvent held = opened(asked.line()), same = opened(asked.line());
    EXPECT(!is_complete(held));
    EXPECT(aclrtSynchronizeEventWithTimeout(held, 20) == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    OK(aclrtStreamWaitEvent(stream, held));
    OK(aclrtMemcpyAsync(found, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtDestroyEvent(held)); // the wait stands all the same
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    answered.put("waits");
    OK(aclrtSynchronizeEvent(same));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(is_complete(same) && *found == 99);
    OK(aclrtEventElapsedTime(&milliseconds, before, same));
    EXPECT(milliseconds > 20);
    OK(aclrtDestroyEvent(same));
    OK(aclrtFreeHost(found));
}

// What lies in the memory is one more than what the parent wrote, or the answer is wrong.
int child(const Pipe &asked, const Pipe &answered)
{
    OK(prctl(PR_SET_PDEATHSIG, SIGKILL)); // nobody would answer it
    OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    void *memory = nullptr;
    OK(aclrtCreateStream(&stream));
    const aclrtEvent ping = opened(asked.line()), pong = opened(asked.line());
    const std::string key = asked.line();
    OK(aclrtIpcMemImportByKey(&memory, key.c_str(), 0));
    EXPECT(is_complete(ping)); // as with any such event that nobody has recorded
    answered.put("ready");
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char found = 0;
        EXPECT(asked.line() == "recorded");
        OK(aclrtStreamWaitEvent(stream, ping));
        OK(aclrtMemcpyAsync(&found, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtSynchronizeStream(stream));
        EXPECT(is_complete(ping) && found == 10 * round + 1);
        OK(aclrtMemsetAsync(memory, BYTES, found + 1, BYTES, stream));
        OK(aclrtRecordEvent(pong, stream));
        answered.put("recorded");
    }
    test_a_record_is_waited_for(asked, answered, stream, memory, ping);
    OK(aclrtIpcMemClose(key.c_str()));
    OK(aclrtDestroyEvent(ping));
    OK(aclrtDestroyEvent(pong));
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    return 0;
}

void test_what_is_refused(aclrtStream stream)
{
    aclrtIpcEventHandle handle = {};
    aclrtEvent other = nullptr;
    const aclrtEvent event = made(), plain = made(ACL_EVENT_SYNC), reset = made();
    const std::string text = shared(event);
    EXPECT(aclrtIpcGetEventHandle(nullptr, &handle) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcGetEventHandle(event, nullptr) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcGetEventHandle(plain, &handle) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtResetEvent(event, stream) == ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtRecordEvent(reset, stream));
    OK(aclrtResetEvent(reset, stream));
    EXPECT(aclrtIpcGetEventHandle(reset, &handle) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcOpenEventHandle(handle, nullptr) == ACL_ERROR_INVALID_PARAM);
    for (const std::string &none : {std::string(), std::string(64, '-'), text + "0", "x" + text}) {
        EXPECT(open(none, &other) == ACL_ERROR_RT_PARAM_INVALID && other == nullptr);
    }
    aclmdlRI graph = nullptr;
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(aclrtRecordEvent(event, stream) == ACL_ERROR_RT_PARAM_INVALID);
    OK(aclmdlRICaptureEnd(stream, &graph));
    OK(aclmdlRIDestroy(graph));
    for (const aclrtEvent each : {event, plain, reset}) {
        OK(aclrtDestroyEvent(each));
    }
    OK(aclrtSynchronizeStream(stream));
    EXPECT(open(text, &other) == ACL_ERROR_RT_PARAM_INVALID);
}

// Two handles of one event in one process, and a record that was queued before it was shared.
void test_the_process_itself_may_open_it(aclrtStream stream)
{
    aclrtStream other = nullptr;
    void *memory = nullptr;
    unsigned char found = 0;
    aclrtIpcEventHandle handle = {};
    OK(aclrtCreateStream(&other));
    OK(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    const aclrtEvent event = made();
    OK(aclrtMemsetAsync(memory, BYTES, 7, BYTES, stream));
    OK(aclrtRecordEvent(event, stream));
    const std::string text = shared(event);
    EXPECT(text == shared(event));
    const aclrtEvent same = opened(text);
    EXPECT(same != event);
    EXPECT(aclrtIpcGetEventHandle(same, &handle) == ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtStreamWaitEvent(other, same));
    OK(aclrtMemcpyAsync(&found, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST, other));
    OK(aclrtSynchronizeStream(other));
    EXPECT(found == 7 && is_complete(event) && is_complete(same));
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyEvent(same));
    OK(aclrtDestroyStream(other));
    OK(aclrtFree(memory));
}

// The record stands behind a notify; its event is destroyed before it is reached.
void hold_up(const Pipe &ask, const Pipe &answer, aclrtStream stream, void *memory)
{
    aclrtStream side = nullptr;
    aclrtNotify gate = nullptr;
    OK(aclrtCreateStream(&side));
    OK(aclrtCreateNotify(&gate, ACL_NOTIFY_DEFAULT));
    const aclrtEvent held = made(ACL_EVENT_IPC | ACL_EVENT_TIME_LINE);
    const std::string text = shared(held);
    OK(aclrtWaitAndResetNotify(gate, stream, 0));
    OK(aclrtMemsetAsync(memory, BYTES, 99, BYTES, stream));
    OK(aclrtRecordEvent(held, stream));
    ask.put(text);
    ask.put(text);
    EXPECT(answer.line() == "waits");
    OK(aclrtDestroyEvent(held));
    OK(aclrtRecordNotify(gate, side));
    OK(aclrtSynchronizeStream(side));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyNotify(gate));
    OK(aclrtDestroyStream(side));
}

int parent(pid_t process, const Pipe &ask, const Pipe &answer)
{
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    void *memory = nullptr;
    char key[65];
    OK(aclrtCreateStream(&stream));
    test_what_is_refused(stream);
    test_the_process_itself_may_open_it(stream);
    const aclrtEvent ping = made(ACL_EVENT_IPC | ACL_EVENT_TIME_LINE), pong = made();
    OK(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtIpcMemGetExportKey(memory, BYTES, key, sizeof key,
                               ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    for (const std::string &line : {shared(ping), shared(pong), std::string(key)}) {
        ask.put(line);
    }
    EXPECT(answer.line() == "ready");
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char found = 0;
        // A record that others may wait for is not put off, though nobody here waits for the stream.
        OK(aclrtMemsetAsync(memory, BYTES, 10 * round + 1, BYTES, stream));
        OK(aclrtRecordEvent(ping, stream));
        ask.put("recorded");
        EXPECT(answer.line() == "recorded");
        OK(aclrtStreamWaitEvent(stream, pong));
        OK(aclrtMemcpyAsync(&found, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtSynchronizeStream(stream));
        EXPECT(found == 10 * round + 2);
    }
    hold_up(ask, answer, stream, memory);
    int status = 1;
    EXPECT(waitpid(process, &status, 0) == process && status == 0);
    OK(aclrtDestroyEvent(ping));
    OK(aclrtDestroyEvent(pong));
    OK(aclrtFree(memory));
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    std::puts("done");
    return 0;
}

} // namespace

int main()
{
    const Pipe ask, answer;
    const pid_t process = fork();
    return process == 0 ? child(ask, answer) : parent(process, ask, answer);
}
