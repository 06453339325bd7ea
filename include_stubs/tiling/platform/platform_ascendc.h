/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chip, as host code of kernels asks for it: cores and memories of the build's chip.
 */
#pragma once

#include <cstdint>

#ifndef PYACLNN_UNIFIED_BUFFER
#error "include it in a program that `pyaclnn ascendc compile` builds"
#endif

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, RESERVED };

class PlatformAscendC {
 public:
    uint32_t GetCoreNum() const { return GetCoreNumAiv(); }
    uint32_t GetCoreNumAic() const { return PYACLNN_CUBE_CORES; }
    uint32_t GetCoreNumAiv() const { return PYACLNN_VECTOR_CORES; }
    uint32_t GetLibApiWorkSpaceSize() const { return 16U << 20; }

    void GetCoreMemSize(const CoreMemType &memory, uint64_t &size) const
    {
        switch (memory) {
        case CoreMemType::L0_A:
        case CoreMemType::L0_B: size = 64U << 10; break;
        case CoreMemType::L0_C: size = (PYACLNN_FAMILY == 2 ? 256U : 128U) << 10; break;
        case CoreMemType::L1: size = 512U << 10; break;
        case CoreMemType::UB: size = PYACLNN_UNIFIED_BUFFER; break;
        default: size = 0; break;
        }
    }

    /* Two vector cores work beside a cube core. */
    uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const
    {
        if (aicCoreNum == 0 || aivCoreNum == 0) {
            return sliceNum;
        }
        const uint32_t ratio = aivCoreNum / aicCoreNum;
        return ratio == 0 ? sliceNum : (sliceNum + ratio - 1) / ratio;
    }
};

class PlatformAscendCManager {
 public:
    /* The name of a chip is that of the build. */
    static PlatformAscendC *GetInstance(const char * = nullptr)
    {
        static PlatformAscendC platform;
        return &platform;
    }
};

}  // namespace platform_ascendc
