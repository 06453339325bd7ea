/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a launch: which one this is, of which cores it is made, waits for the others, and what
 * it prints.
 */
#pragma once

#include "ascendc/global_tensor.h"
#include "ascendc/operand.h"

enum KernelMetaType : uint8_t {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE,
    KERNEL_TYPE_VECTORCORE,
    KERNEL_TYPE_MIX_AICORE,
    KERNEL_TYPE_MIX_VECTOR_CORE
};

namespace AscendC {
namespace emulation {

inline void DeclareKernel(KernelMetaType type)
{
    Core &core = Core::Current();
    if (type == KERNEL_TYPE_MIX_AIC_1_1 || type == KERNEL_TYPE_MIX_AIC_1_2) {
        core.Mix(type == KERNEL_TYPE_MIX_AIC_1_1 ? 1 : 2);
    } else if (type == KERNEL_TYPE_AIC_ONLY || type == KERNEL_TYPE_MIX_AIC_1_0) {
        core.cube = true;
    }
}

/* A kernel that asks, and has not said of which cores its blocks are, runs on one of each. */
inline bool OnCube()
{
    Core &core = Core::Current();
    if (core.mixed == 0 && !core.cube) {
        core.Mix(1);
    }
    return core.cube;
}

inline void SynchroniseAll(const Call &call, uint32_t cores)
{
    Launch &launch = Core::Current().launch;
    const uint32_t round = launch.arrived / cores;
    launch.arrived++;
    if (!Core::Current().WaitUntil([&launch, cores, round] {
            return launch.arrived / cores > round;
        })) {
        call.Fail(rule::Synchronisation,
                  Text("%u of %u cores wait here, and the others have ended; on the chip this "
                       "waits for ever",
                       launch.arrived % cores, cores));
    }
}

inline uint64_t FlagOf(uint32_t group, bool cube, uint16_t number)
{
    return uint64_t{group} << 32 | uint64_t{cube} << 16 | number;
}

}  // namespace emulation

inline int64_t GetBlockIdx() { return emulation::Core::Current().block; }
inline int64_t GetBlockNum() { return emulation::Core::Current().blocks; }
inline int64_t GetSubBlockIdx() { return emulation::Core::Current().part; }
inline int64_t GetSubBlockNum() { return std::max(1U, emulation::Core::Current().mixed); }
inline int64_t GetTaskRation() { return GetSubBlockNum(); }

/* Waits for the vector cores of all blocks, or for all cores. */
template <bool isAIVOnly = true> void SyncAll(emulation::Site site = emulation::Site::Here())
{
    const emulation::Launch &launch = emulation::Core::Current().launch;
    const uint32_t cubes = emulation::Core::Current().mixed != 0 ? launch.blocks : 0;
    emulation::SynchroniseAll(emulation::Call("SyncAll", site),
                              launch.vectors + (isAIVOnly ? 0 : cubes));
}

/* The same through memory, which hardware without the event needs. */
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, int32_t = 0,
             emulation::Site site = emulation::Site::Here())
{
    SyncAll<isAIVOnly>(site);
}

/* mode 2: between the cube core of a block and its vector cores; else as SyncAll. */
template <uint8_t mode, pipe_t pipe> void CrossCoreSetFlag(uint16_t flagId)
{
    emulation::Core &core = emulation::Core::Current();
    core.launch.flags[emulation::FlagOf(core.group, mode == 2 ? core.cube : !core.cube, flagId)]++;
}

template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
void CrossCoreWaitFlag(uint16_t flagId, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("CrossCoreWaitFlag", site);
    emulation::Core &core = emulation::Core::Current();
    uint32_t &flags = core.launch.flags[emulation::FlagOf(core.group, !core.cube, flagId)];
    const uint32_t needed = core.cube ? std::max(1U, core.mixed) : 1;
    uint32_t &seen = core.waited[flagId];
    /* Each vector core sees every flag of the cube core; the cube core needs all of theirs. */
    const auto ready = [&flags, &seen, needed] { return flags >= (seen + 1) * needed; };
    if (!core.WaitUntil(ready)) {
        call.Fail(emulation::rule::Synchronisation,
                  emulation::Text("flag %d is never set by the other cores of the block", flagId));
    }
    seen++;
}

/* Prints the first elements of a tensor. */
template <template <typename> typename Tensor, typename T>
void DumpTensor(const Tensor<T> &tensor, uint32_t desc, uint32_t dumpSize,
                emulation::Site site = emulation::Site::Here())
{
    std::printf("DumpTensor: desc=%u, data_type=%s, block=%lld\n[", desc, emulation::TypeName<T>(),
                static_cast<long long>(GetBlockIdx()));
    for (uint32_t i = 0; i < dumpSize; i++) {
        std::printf(i == 0 ? "%g" : ", %g", static_cast<double>(tensor.GetValue(i, site)));
    }
    std::printf("]\n");
}

}  // namespace AscendC

#define KERNEL_TASK_TYPE_DEFAULT(type) AscendC::emulation::DeclareKernel(type)
#define KERNEL_TASK_TYPE(key, type)                                                                \
    if (TILING_KEY_IS(key)) {                                                                      \
        AscendC::emulation::DeclareKernel(type);                                                   \
    }
#define ASCEND_IS_AIC (AscendC::emulation::OnCube())
#define ASCEND_IS_AIV (!AscendC::emulation::OnCube())
