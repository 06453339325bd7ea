/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a launch: which one this is, of which cores it is made, waits for the others, and what
 * it prints.
 */
#pragma once

#include <chrono>

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
    core.declared = true;
    if (type == KERNEL_TYPE_MIX_AIC_1_1 || type == KERNEL_TYPE_MIX_AIC_1_2) {
        core.Mix(type == KERNEL_TYPE_MIX_AIC_1_1 ? 1 : 2);
    } else if (!core.cube && (type == KERNEL_TYPE_AIC_ONLY || type == KERNEL_TYPE_MIX_AIC_1_0)) {
        core.cube = true; /* it was started as a vector core */
        core.launch.vectors--;
    }
}

/* A kernel that asks, and has not said of which cores its blocks are, runs on one of each. */
inline bool OnCube()
{
    Core &core = Core::Current();
    if (core.mixed == 0 && !core.cube && !core.declared) {
        core.Mix(1);
    }
    return core.cube;
}

/*
 * The cores of a kind. A block adds its own before it comes to any wait, so the number is final
 * when all of them have come.
 */
inline uint32_t CoresOf(const Launch &launch, bool cube)
{
    return cube ? launch.blocks : launch.vectors;
}

inline void SynchroniseAll(const Call &call, bool one_kind)
{
    Core &core = Core::Current();
    uint32_t &arrived = core.launch.arrived[one_kind ? core.cube : 2];
    const auto cores = [&core, one_kind] {
        const bool other = !one_kind && (core.cube || core.mixed != 0);
        return CoresOf(core.launch, core.cube) + (other ? CoresOf(core.launch, !core.cube) : 0);
    };
    const uint32_t round = arrived++ / cores();
    core.clocks.WaitForAll(); /* a barrier of all units comes first */
    if (!core.WaitUntil([&arrived, cores, round] { return arrived / cores() > round; })) {
        call.Fail(rule::Synchronisation,
                  Text("%u of %u cores wait here, and the others have ended; on the chip this "
                       "waits for ever",
                       arrived % cores(), cores()));
    }
}

/* A flag that cores of a kind set: of a block, or of all of them in mode 0. */
inline uint32_t &FlagOf(const Core &core, uint8_t mode, bool cube, uint16_t number)
{
    const uint64_t group = mode == 0 ? 0 : core.group;
    return core.launch.flags[group << 32 | uint64_t{mode} << 24 | uint64_t{cube} << 16 | number];
}

inline uint64_t BlockEvent(int32_t block, int32_t event)
{
    return uint64_t{1} << 63 | uint64_t{static_cast<uint32_t>(block)} << 16 |
           static_cast<uint16_t>(event);
}

}  // namespace emulation

inline int64_t GetBlockIdx() { return emulation::Core::Current().block; }
inline int64_t GetBlockNum() { return emulation::Core::Current().blocks; }
inline int64_t GetSubBlockIdx() { return emulation::Core::Current().part; }
inline int64_t GetSubBlockNum() { return std::max(1U, emulation::Core::Current().mixed); }
/* A clock of 50 MHz. */
inline int64_t GetSystemCycle()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() / 20;
}
inline int64_t GetTaskRation() { return GetSubBlockNum(); }
inline int64_t GetTaskRatio() { return GetSubBlockNum(); }
/* Tasks that overlap the next one on a chip; here each begins when the one before has ended. */
template <pipe_t pipe = PIPE_MTE3> void SetNextTaskStart() {}
inline void WaitPreTaskEnd() {}
/* Waits for other blocks through memory: block `blockIdx` has set its event eventID. */
template <bool isAIVOnly = true>
void IBSet(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, int32_t blockIdx,
           int32_t eventID)
{
    emulation::Core::Current().launch.flags[emulation::BlockEvent(blockIdx, eventID)]++;
}
template <bool isAIVOnly = true>
void IBWait(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, int32_t blockIdx,
            int32_t eventID, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("IBWait", site);
    emulation::Core &core = emulation::Core::Current();
    uint32_t &set = core.launch.flags[emulation::BlockEvent(blockIdx, eventID)];
    if (!core.WaitUntil([&set] { return set != 0; })) {
        call.Fail(emulation::rule::Synchronisation,
                  emulation::Text("block %d never sets its event %d: on the chip this waits for "
                                  "ever",
                                  blockIdx, eventID));
    }
    set--;
}
/* Instructions are there. */
inline void ICachePreLoad(int64_t) {}
/* Modes of the matrix unit that change its order and rounding, which are not emulated. */
inline void SetHF32Mode(bool) {}
inline void SetHF32TransMode(bool) {}
inline void SetMMLayoutTransform(bool) {}
inline uint32_t GetRuntimeUBSize() { return emulation::Core::Current().chip.unified_buffer; }
inline uint32_t GetUBSizeInBytes() { return GetRuntimeUBSize(); }

/* Of the bits of a value: how many are of a kind, leading zeros, the first one (-1: none). */
template <int countValue> int64_t ScalarGetCountOfValue(uint64_t value)
{
    static_assert(countValue == 0 || countValue == 1, "bits are 0 or 1");
    const int64_t ones = __builtin_popcountll(value);
    return countValue == 1 ? ones : 64 - ones;
}
inline int64_t ScalarCountLeadingZero(uint64_t value)
{
    return value == 0 ? 64 : __builtin_clzll(value);
}
template <int countValue> int64_t ScalarGetSFFValue(uint64_t value)
{
    static_assert(countValue == 0 || countValue == 1, "bits are 0 or 1");
    const uint64_t bits = countValue == 1 ? value : ~value;
    return bits == 0 ? -1 : __builtin_ctzll(bits);
}


/* Waits for the cores of its kind of all blocks, or for all cores. */
template <bool isAIVOnly = true> void SyncAll(emulation::Site site = emulation::Site::Here())
{
    emulation::SynchroniseAll(emulation::Call("SyncAll", site), isAIVOnly);
}

/* The same through memory, which hardware without the event needs. */
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, int32_t = 0,
             emulation::Site site = emulation::Site::Here())
{
    SyncAll<isAIVOnly>(site);
}

/*
 * A flag is set for a core when all have set it: mode 0: the cores of its kind, of all blocks;
 * mode 1: the vector cores of its block; mode 2: the cores of the other kind of its block.
 */
template <uint8_t mode, pipe_t pipe> void CrossCoreSetFlag(uint16_t flagId)
{
    static_assert(mode <= 2, "the mode is 0, 1 or 2");
    const emulation::Core &core = emulation::Core::Current();
    emulation::FlagOf(core, mode, core.cube, flagId)++;
}

template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
void CrossCoreWaitFlag(uint16_t flagId, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("CrossCoreWaitFlag", site);
    emulation::Core &core = emulation::Core::Current();
    uint32_t &seen = core.waited[flagId];
    const auto ready = [&core, &seen, flagId] {
        const uint32_t vectors = std::max(1U, core.mixed);
        const auto set = [&core, flagId](uint8_t in_mode, bool cube, uint32_t cores) {
            return emulation::FlagOf(core, in_mode, cube, flagId) / cores;
        };
        return set(0, core.cube, emulation::CoresOf(core.launch, core.cube)) +
                   set(1, core.cube, core.cube ? 1 : vectors) +
                   set(2, !core.cube, core.cube ? vectors : 1) > seen;
    };
    if (!core.WaitUntil(ready)) {
        call.Fail(emulation::rule::Synchronisation,
                  emulation::Text("flag %d is never set by the other cores of the block, nor in "
                                  "mode 0 or 1 by all cores of this kind",
                                  flagId));
    }
    seen++;
}

/* No part of a workspace is the system's. */
inline __gm__ uint8_t *GetSysWorkSpacePtr() { return nullptr; }
inline __gm__ uint8_t *GetUserWorkspace(GM_ADDR workspace) { return workspace; }
inline void SetSysWorkspace(GM_ADDR) {}

/* Lengths of the axes of a dump, and of a tensor. */
struct ShapeInfo {
    ShapeInfo() = default;
    ShapeInfo(uint8_t dims, const uint32_t *lengths, DataFormat format = DataFormat::ND)
        : shapeDim(dims), dataFormat(format)
    {
        std::copy_n(lengths, std::min<size_t>(dims, 8), shape);
    }

    uint8_t shapeDim = 0;
    uint32_t shape[8] = {};
    DataFormat dataFormat = DataFormat::ND;
};

/* Prints the first elements of a tensor. */
template <template <typename> typename Tensor, typename T>
void DumpTensor(const Tensor<T> &tensor, uint32_t desc, uint32_t dumpSize,
                const ShapeInfo & = {}, emulation::Site site = emulation::Site::Here())
{
    std::printf("DumpTensor: desc=%u, data_type=%s, block=%lld\n", desc, emulation::TypeName<T>(),
                static_cast<long long>(GetBlockIdx()));
    tensor.Print(dumpSize, site);
}

/* The same from an element on. */
template <template <typename> typename Tensor, typename T>
void DumpAccChkPoint(const Tensor<T> &tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize,
                     emulation::Site site = emulation::Site::Here())
{
    DumpTensor(tensor[countOff], index, dumpSize, {}, site);
}

}  // namespace AscendC

#define KERNEL_TASK_TYPE_DEFAULT(type) AscendC::emulation::DeclareKernel(type)
#define KERNEL_TASK_TYPE(key, type)                                                                \
    if (TILING_KEY_VAR == (key)) {                                                                 \
        AscendC::emulation::DeclareKernel(type);                                                   \
    }
#define ASCEND_IS_AIC (AscendC::emulation::OnCube())
#define ASCEND_IS_AIV (!AscendC::emulation::OnCube())
