/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches from C++: kernel<<<blocks, l2, stream>>>(arguments), which `pyaclnn ascendc compile`
 * rewrites to the macro below, and the functions aclrtlaunch_NAME. They queue the kernel on the
 * stream by CANN's own functions, and return their status.
 */
#pragma once

#include <map>
#include <mutex>

#include "acl/acl.h"
#include "ascendc/kernel_table.h"

namespace AscendC::emulation {

/* A loaded kernel of the program. */
struct LoadedKernel {
    pyaclnn_kernel kernel;
    pyaclnn_kernels table;
    aclrtFuncHandle function = nullptr;
    aclError status = ACL_SUCCESS;

    explicit LoadedKernel(const pyaclnn_kernel &entry)
        : kernel(entry), table{PYACLNN_KERNELS_MAGIC, &kernel, 1}
    {
        aclrtBinHandle binary = nullptr;
        const aclrtBinary data = aclrtCreateBinary(&table, sizeof table);
        status = aclrtBinaryLoad(data, &binary);
        aclrtDestroyBinary(data);
        if (status == ACL_SUCCESS) {
            status = aclrtBinaryGetFunction(binary, kernel.name, &function);
        }
    }
};

inline const LoadedKernel &Load(const pyaclnn_kernel &kernel)
{
    static std::mutex lock;
    static auto &loaded = *new std::map<void (*)(), LoadedKernel>; /* as long as the program */
    const std::lock_guard<std::mutex> guard(lock);
    return loaded.try_emplace(kernel.function, kernel).first->second;
}

template <typename... P> struct Launcher {
    pyaclnn_kernel kernel;
    uint32_t blocks;
    aclrtStream stream;

    uint32_t operator()(P... values) const
    {
        const LoadedKernel &loaded = Load(kernel);
        aclrtArgsHandle arguments = nullptr;
        aclError status = loaded.status;
        if (status == ACL_SUCCESS) {
            status = aclrtKernelArgsInit(loaded.function, &arguments);
        }
        (Append(status, arguments, values), ...);
        if (status == ACL_SUCCESS) {
            status = aclrtKernelArgsFinalize(arguments);
        }
        if (status == ACL_SUCCESS) {
            status = aclrtLaunchKernelWithConfig(loaded.function, blocks, stream, nullptr,
                                                 arguments, nullptr);
        }
        return static_cast<uint32_t>(status);
    }

 private:
    template <typename T> static void Append(aclError &status, aclrtArgsHandle arguments, T &value)
    {
        aclrtParamHandle parameter;
        if (status == ACL_SUCCESS) {
            status = aclrtKernelArgsAppend(
                arguments, const_cast<void *>(static_cast<const void *>(&value)), sizeof value,
                &parameter);
        }
    }
};

/* The operand between the blocks and the stream is the size of a buffer, or NULL. */
template <typename... P, typename B, typename L>
Launcher<P...> LauncherOf(const char *name, void (*function)(P...), B blocks, L /*l2*/,
                          aclrtStream stream)
{
    return {KernelOf(name, function), static_cast<uint32_t>(blocks), stream};
}

}  // namespace AscendC::emulation

#define PYACLNN_LAUNCH(name, function, ...)                                                        \
    AscendC::emulation::LauncherOf(name, function, __VA_ARGS__)
