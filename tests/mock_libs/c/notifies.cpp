// SPDX-License-Identifier: Apache-2.0
// Streams of two processes wait for each other by notifies: the parent fills memory that both have
// and says so, the child adds to it and answers.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipe.h"

namespace {

constexpr size_t BYTES = 256;
constexpr int ROUNDS = 5;
constexpr uint32_t SECONDS = 60;

aclrtNotify imported(const std::string &key)
{
    aclrtNotify notify = nullptr;
    OK(aclrtNotifyImportByKey(&notify, key.c_str(), ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
    return notify;
}

// What lies in the memory is one more than what the parent wrote, or the answer is wrong.
int child(const Pipe &asked, const Pipe &answered)
{
    OK(prctl(PR_SET_PDEATHSIG, SIGKILL)); // nobody would answer it
    OK(aclrtSetDevice(0));
    aclrtNotify none = nullptr;
    const std::string early = asked.line();
    EXPECT(aclrtNotifyImportByKey(&none, early.c_str(), 0) == ACL_ERROR_RT_NO_PERMISSION);
    EXPECT(none == nullptr);
    answered.put("refused");
    const aclrtNotify ping = imported(asked.line()), pong = imported(asked.line());
    void *shared = nullptr;
    OK(aclrtIpcMemImportByKey(&shared, asked.line().c_str(), 0));
    aclrtStream stream = nullptr;
    OK(aclrtCreateStream(&stream));
    OK(aclrtWaitAndResetNotify(ping, stream, SECONDS));
    OK(aclrtSynchronizeStream(stream));
    answered.put("heard");
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char found = 0;
        OK(aclrtWaitAndResetNotify(ping, stream, SECONDS));
        OK(aclrtMemcpyAsync(&found, 1, shared, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtSynchronizeStream(stream));
        OK(aclrtMemsetAsync(shared, BYTES, found + 1, BYTES, stream));
        OK(aclrtRecordNotify(pong, stream));
    }
    OK(aclrtSynchronizeStream(stream));
    answered.put("answered");
    OK(aclrtIpcMemClose(asked.line().c_str())); // when the parent has read it
    OK(aclrtDestroyNotify(ping));
    OK(aclrtDestroyNotify(pong));
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    return 0;
}

std::string exported(aclrtNotify notify, uint64_t flags)
{
    char key[65];
    OK(aclrtNotifyGetExportKey(notify, key, sizeof key, flags));
    return key;
}

void test_what_is_refused(aclrtNotify notify, const std::string &key)
{
    char again[65];
    int32_t process = getpid();
    aclrtNotify other = nullptr;
    OK(aclrtCreateNotify(&other, ACL_NOTIFY_DEFAULT));
    EXPECT(aclrtNotifyGetExportKey(notify, again, sizeof again, 0) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtNotifyGetExportKey(other, again, 64, 0) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtNotifyGetExportKey(other, again, sizeof again, 1) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtNotifyGetExportKey(other, nullptr, 65, 0) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtNotifySetImportPid(other, &process, 1) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtNotifySetImportPid(notify, nullptr, 1) == ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyNotify(other));
    EXPECT(aclrtNotifyImportByKey(&other, "no key", 0) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtNotifyImportByKey(&other, key.c_str(), 1) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemImportByKey(&other, key.c_str(), 0) == ACL_ERROR_RT_PARAM_INVALID);
}

int parent(pid_t process, const Pipe &ask, const Pipe &answer)
{
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    aclrtNotify ping = nullptr, pong = nullptr;
    aclrtStream stream = nullptr;
    void *shared = nullptr;
    char key[65];
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&shared, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateNotify(&ping, ACL_NOTIFY_DEFAULT));
    OK(aclrtCreateNotify(&pong, ACL_NOTIFY_DEFAULT));
    const std::string ping_key = exported(ping, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT);
    test_what_is_refused(ping, ping_key);
    ask.put(ping_key);
    EXPECT(answer.line() == "refused");
    int32_t allowed = process;
    OK(aclrtNotifySetImportPid(ping, &allowed, 1));
    ask.put(ping_key);
    ask.put(exported(pong, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    OK(aclrtIpcMemGetExportKey(shared, BYTES, key, sizeof key,
                               ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    ask.put(key);
    // A record that others may wait for is not put off, though nobody here waits for the stream.
    OK(aclrtMemsetAsync(shared, BYTES, 0, BYTES, stream));
    OK(aclrtRecordNotify(ping, stream));
    EXPECT(answer.line() == "heard");
    unsigned char found[ROUNDS] = {};
    for (int round = 0; round < ROUNDS; round++) {
        OK(aclrtMemsetAsync(shared, BYTES, 10 * round, BYTES, stream));
        OK(aclrtRecordNotify(ping, stream));
        OK(aclrtWaitAndResetNotify(pong, stream, SECONDS));
        OK(aclrtMemcpyAsync(&found[round], 1, shared, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    }
    EXPECT(answer.line() == "answered");
    OK(aclrtSynchronizeStream(stream));
    for (int round = 0; round < ROUNDS; round++) {
        EXPECT(found[round] == 10 * round + 1);
    }
    ask.put(key);
    int status = 1;
    EXPECT(waitpid(process, &status, 0) == process && status == 0);
    OK(aclrtDestroyNotify(ping));
    OK(aclrtDestroyNotify(pong));
    EXPECT(aclrtNotifyImportByKey(&ping, ping_key.c_str(), 0) == ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(shared));
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
