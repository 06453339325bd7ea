/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels called by a program on the CPU, without a device: ICPU_RUN_KF(kernel, blocks, arguments).
 * Global memory is that of GmAlloc. A broken rule is printed, and ends the program.
 */
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>

#include "ascendc/kernel_table.h"
#include "kernel_operator.h"

/* Read by nothing: a kernel's own words, or what it calls, declare its cores. */
enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };

namespace AscendC {
inline void SetKernelMode(KernelMode) {}

namespace emulation {

inline std::map<void *, size_t> &GlobalMemory()
{
    static std::map<void *, size_t> memory;
    return memory;
}

template <typename T> void Append(std::vector<uint8_t> &bytes, const T &value)
{
    const size_t step = std::max(sizeof(void *), alignof(T));
    const size_t begin = (bytes.size() + step - 1) / step * step;
    bytes.resize(begin + sizeof value);
    std::memcpy(bytes.data() + begin, &value, sizeof value);
}

template <typename T> struct Given {
    using Type = T; /* the kernel's types decide, not those of the values */
};

template <typename... P>
void RunOnCpu(const char *name, void (*function)(P...), uint32_t blocks,
              typename Given<P>::Type... values)
{
    std::vector<uint8_t> bytes;
    (Append(bytes, values), ...);
    std::vector<pyaclnn_memory> memory;
    for (const auto &[address, size] : GlobalMemory()) {
        memory.push_back({static_cast<uint8_t *>(address), size});
    }
    char fault[1024] = "";
    const pyaclnn_run run{bytes.data(), bytes.size(), sizeof(void *), blocks, memory.data(),
                          memory.size(), fault, sizeof fault};
    const pyaclnn_kernel kernel = KernelOf(name, function);
    kernel.run(kernel.function, &run);
    if (fault[0] != '\0') {
        std::fprintf(stderr, "%s: %s\n", name, fault);
        std::exit(1);
    }
}

}  // namespace emulation

/* Whole blocks of 512 bytes, which hold no zeros by chance; NULL when there is no memory. */
inline void *GmAlloc(size_t size)
{
    void *address = std::aligned_alloc(512, (size + 511) / 512 * 512);
    if (address != nullptr) {
        std::memset(address, 0xFF, size);
        emulation::GlobalMemory()[address] = size;
    }
    return address;
}

inline void GmFree(void *address)
{
    emulation::GlobalMemory().erase(address);
    std::free(address);
}
}  // namespace AscendC

#define ICPU_RUN_KF(kernel, blocks, ...)                                                           \
    AscendC::emulation::RunOnCpu(#kernel, kernel, blocks, ##__VA_ARGS__)
