/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of kernels that were compiled for the host: unpacks the arguments of a launch, runs the
 * blocks one after the other, and reports the rule that one of them broke.
 */
#pragma once

#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <tuple>
#include <type_traits>

#include "ascendc/core.h"
#include "ascendc/compiled_kernels.h"

#ifndef PYACLNN_UNIFIED_BUFFER /* see pyaclnn/ascendc/target.py */
#error "compile kernels by pyaclnn ascendc compile"
#endif

namespace AscendC::emulation {

/* Global memory of a run: arguments have their number for a name. */
struct Memory {
    std::deque<std::string> names;
    std::deque<Region> regions;

    explicit Memory(const pyaclnn_run &run)
    {
        for (size_t i = 0; i < run.memory_count; i++) {
            regions.push_back({"in device memory", run.memory[i].address,
                               static_cast<size_t>(run.memory[i].bytes), "", {}, {}});
        }
    }

    void Name(const void *address, size_t number)
    {
        for (Region &region : regions) {
            if (region.data == address) {
                region.name = names.emplace_back("number " + std::to_string(number)).c_str();
            }
        }
    }
};

class Arguments {
 public:
    Arguments(const pyaclnn_run &run, Memory &memory) : run_(run), memory_(memory) {}

    template <typename T> T Take()
    {
        static_assert(std::is_trivially_copyable_v<T>, "arguments of kernels are plain data");
        const size_t step = std::max(run_.slot, alignof(T));
        const size_t begin = (end_ + step - 1) / step * step;
        T value{};
        end_ = begin + sizeof(T);
        number_++;
        if (end_ > run_.bytes) {
            throw Fault{"arguments", "launch", "", "", {}, {},
                        Text("the launch gives %zu bytes of arguments; the kernel takes more",
                             run_.bytes)};
        }
        std::memcpy(&value, run_.arguments + begin, sizeof(T));
        if constexpr (std::is_pointer_v<T>) {
            memory_.Name(value, number_);
        }
        return value;
    }

 private:
    const pyaclnn_run &run_;
    Memory &memory_;
    size_t end_ = 0, number_ = 0;
};

inline void ReportFault(const pyaclnn_run &run, const Fault &fault, uint32_t block)
{
    std::snprintf(run.fault, run.fault_bytes, "%s%s%s:%d: %s: %s [rule: %s; block %u]",
                  fault.memory.c_str(), fault.memory.empty() ? "" : ": ", fault.site.file,
                  fault.site.line, fault.api.c_str(), fault.message.c_str(), fault.rule, block);
}

template <typename... P> void RunKernel(void (*function)(), const pyaclnn_run *run)
{
    const auto kernel = reinterpret_cast<void (*)(P...)>(function);
    const Chip chip{static_cast<Family>(PYACLNN_FAMILY), PYACLNN_UNIFIED_BUFFER};
    Memory memory(*run);
    Arguments arguments(*run, memory);
    uint32_t block = 0;
    try {
        /* In braces: from the first to the last. */
        const std::tuple<std::remove_cv_t<P>...> values{arguments.Take<std::remove_cv_t<P>>()...};
        RunBlocks(block, run->blocks, chip, memory.regions, [&] { std::apply(kernel, values); });
    } catch (const Fault &fault) {
        ReportFault(*run, fault, block);
    } catch (const std::exception &error) {
        std::snprintf(run->fault, run->fault_bytes, "the kernel threw: %s", error.what());
    }
}

template <typename... P> inline constexpr size_t kParameterSizes[] = {sizeof(P)..., 0};

template <typename... P> pyaclnn_kernel KernelOf(const char *name, void (*function)(P...))
{
    return {name, reinterpret_cast<void (*)()>(function), RunKernel<P...>, kParameterSizes<P...>,
            sizeof...(P)};
}

}  // namespace AscendC::emulation
