// SPDX-License-Identifier: Apache-2.0
// Two processes on one piece of device memory: the parent exports it, and lets the child in; the
// child's NPU computes on it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "condition.h"
#include "aclnnop/aclnn_abs.h"

namespace {

constexpr size_t PIECE = 2 << 20, COUNT = 256;

void *map(aclrtDrvMemHandle memory)
{
    void *address;
    OK(aclrtReserveMemAddress(&address, PIECE, 0, nullptr, 0));
    OK(aclrtMapMem(address, PIECE, 0, memory, 0));
    return address;
}

void unmap(void *address, aclrtDrvMemHandle memory)
{
    OK(aclrtUnmapMem(address));
    OK(aclrtReleaseMemAddress(address));
    OK(aclrtFreePhysical(memory));
}

aclTensor *tensor(float *address)
{
    const int64_t dims[] = {COUNT};
    return aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, address);
}

// y = |x|, both in memory of another process.
void compute(float *x_at, float *y_at)
{
    uint64_t size;
    aclOpExecutor *executor;
    void *workspace = nullptr;
    aclTensor *x = tensor(x_at), *y = tensor(y_at);
    OK(aclnnAbsGetWorkspaceSize(x, y, &size, &executor));
    if (size > 0) {
        OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    OK(aclnnAbs(workspace, size, executor, nullptr));
    OK(aclrtSynchronizeStream(nullptr));
    if (workspace != nullptr) {
        OK(aclrtFree(workspace));
    }
    OK(aclDestroyTensor(x));
    OK(aclDestroyTensor(y));
}

#if ACL_STUBS_CANN >= 901
// The same by a key, which names a part of an allocation at no particular address.
std::string next_key()
{
    char key[80];
    EXPECT(std::scanf("%79s", key) == 1);
    return key;
}

void compute_by_key()
{
    void *address;
    EXPECT(aclrtIpcMemImportByKey(&address, next_key().c_str(), 0) == ACL_ERROR_RT_NO_PERMISSION);
    std::printf("refused\n");
    std::fflush(stdout);
    const std::string key = next_key();
    OK(aclrtIpcMemImportByKey(&address, key.c_str(), 0));
    EXPECT(aclrtIpcMemImportByKey(&address, key.c_str(), 0) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtUnmapMem(address) == ACL_ERROR_RT_PARAM_INVALID);
    auto *x = static_cast<float *>(address);
    compute(x, x + COUNT);
    OK(aclrtIpcMemClose(key.c_str()));
    EXPECT(aclrtIpcMemClose(key.c_str()) == ACL_ERROR_RT_PARAM_INVALID);
}
#endif

uint64_t next_number()
{
    unsigned long long number = 0;
    EXPECT(std::scanf("%llu", &number) == 1);
    return number;
}

int child()
{
    aclrtDrvMemHandle memory;
    OK(aclrtSetDevice(0));
    EXPECT(aclrtMemImportFromShareableHandle(next_number(), 0, &memory) ==
           ACL_ERROR_RT_NO_PERMISSION);
    std::printf("refused\n");
    std::fflush(stdout);
    OK(aclrtMemImportFromShareableHandle(next_number(), 0, &memory));
    auto *x = static_cast<float *>(map(memory));
    compute(x, x + COUNT);
    unmap(x, memory);
    std::printf("computed\n");
    std::fflush(stdout);
#if ACL_STUBS_CANN >= 901
    compute_by_key();
    std::printf("computed\n");
#endif
    OK(aclrtResetDevice(0));
    return 0;
}

#if ACL_STUBS_CANN >= 901
// The same by the handle of a fabric, all bytes of which are written.
void share_by_fabric(aclrtDrvMemHandle memory, const std::vector<float> &values)
{
    const auto fabric = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
    aclrtMemFabricHandle handle;
    std::fill_n(handle.data, sizeof handle.data, uint8_t{0xff});
    OK(aclrtMemExportToShareableHandleV2(memory, 1, fabric, &handle));
    EXPECT(handle.data[sizeof handle.data - 1] == 0);
    aclrtDrvMemHandle same;
    OK(aclrtMemImportFromShareableHandleV2(&handle, fabric, 0, &same));
    void *address = map(same);
    std::vector<float> found(values.size());
    const size_t bytes = values.size() * sizeof(float);
    OK(aclrtMemcpy(found.data(), bytes, address, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(found == values);
    unmap(address, same);
}
#endif

std::string line_of(std::FILE *file)
{
    char text[256] = "";
    return std::fgets(text, sizeof text, file) == nullptr ? "" : text;
}

// What the child says to a line, shown.
void tell(int to_child, std::FILE *answers, const std::string &line)
{
    dprintf(to_child, "%s\n", line.c_str());
    std::printf("%s", line_of(answers).c_str());
}

void check(const float *y, const std::vector<float> &values)
{
    std::vector<float> found(COUNT);
    const size_t bytes = COUNT * sizeof(float);
    OK(aclrtMemcpy(found.data(), bytes, y, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < COUNT; i++) {
        EXPECT(found[i] == (values[i] < 0 ? -values[i] : values[i]));
    }
}

#if ACL_STUBS_CANN >= 901
void share_by_key(int to_child, std::FILE *answers, int32_t process,
                  const std::vector<float> &values)
{
    void *whole, *again;
    char key[65], late[65];
    const size_t bytes = COUNT * sizeof(float);
    OK(aclrtMalloc(&whole, 4 * bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    auto *x = static_cast<float *>(whole) + COUNT;
    OK(aclrtMemcpy(x, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(aclrtIpcMemGetExportKey(x, 2 * bytes, key, 64, 0) == ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtIpcMemGetExportKey(x, 2 * bytes, key, sizeof key, 0));
    OK(aclrtIpcMemGetExportKey(x, bytes, late, sizeof late,
                               ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    tell(to_child, answers, key);
    OK(aclrtIpcMemSetImportPid(key, &process, 1));
    tell(to_child, answers, key);
    check(x + COUNT, values);
    OK(aclrtIpcMemClose(key));
    EXPECT(aclrtIpcMemImportByKey(&again, key, 0) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemSetImportPid(key, &process, 1) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemClose(key) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemImportByKey(&again, "no key", 0) == ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(whole));
    EXPECT(aclrtIpcMemImportByKey(&again, late, 0) == ACL_ERROR_RT_PARAM_INVALID);
}
#endif

int parent(const char *program)
{
    std::vector<float> values(COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = i % 2 == 0 ? -1.5f * static_cast<float>(i) : static_cast<float>(i);
    }
    aclrtPhysicalMemProp property = {};
    property.memAttr = ACL_HBM_MEM_HUGE;
    property.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle memory;
    uint64_t number;
    OK(aclrtSetDevice(0));
    OK(aclrtMallocPhysical(&memory, PIECE, &property, 0));
    auto *x = static_cast<float *>(map(memory));
    const size_t bytes = COUNT * sizeof(float);
    OK(aclrtMemcpy(x, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
#if ACL_STUBS_CANN >= 901
    share_by_fabric(memory, values);
#endif
    OK(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 0, &number));

    int to_child[2], from_child[2];
    OK(pipe(to_child));
    OK(pipe(from_child));
    std::fflush(stdout);
    const pid_t process = fork();
    if (process == 0) {
        dup2(to_child[0], 0);
        dup2(from_child[1], 1);
        close(to_child[1]);
        close(from_child[0]);
        execl(program, program, "child", nullptr);
        _exit(127);
    }
    close(to_child[0]);
    close(from_child[1]);
    std::FILE *answers = fdopen(from_child[0], "r");
    tell(to_child[1], answers, std::to_string(number));
    int32_t allowed = process;
    OK(aclrtMemSetPidToShareableHandle(number, &allowed, 1));
    tell(to_child[1], answers, std::to_string(number));
#if ACL_STUBS_CANN >= 901
    share_by_key(to_child[1], answers, process, values);
#endif
    int status = 0;
    EXPECT(waitpid(process, &status, 0) == process && status == 0);
    std::fclose(answers);
    close(to_child[1]);

    check(x + COUNT, values);
    aclrtDrvMemHandle again;
    unmap(x, memory);
    EXPECT(aclrtMemImportFromShareableHandle(number, 0, &again) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemSetPidToShareableHandle(number, &allowed, 1) == ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtResetDevice(0));
    std::puts("done");
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    OK(aclInit(nullptr));
    const int status = count > 1 ? child() : parent(arguments[0]);
    OK(aclFinalize());
    return status;
}
