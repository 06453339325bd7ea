/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's functions that a mask steers: rows of values, and rows of what decides about each.
 */
#pragma once

#include "ascendc/arithmetic.h"

namespace AscendC {

struct DropOutShapeInfo {
    uint32_t firstAxis = 1, srcLastAxis = 0, maskLastAxis = 0;
};

/* A row of the mask may be longer than one of the values; what is behind these is not looked at. */
struct SelectWithBytesMaskShapeInfo {
    uint32_t firstAxis = 0, srcLastAxis = 0, maskLastAxis = 0;
};

/* src / keepProb where the mask is set: bytes for modes 1 and 2, bits for 3 and 4; 0 elsewhere. */
namespace emulation {

template <typename T, uint32_t dropOutMode>
void DropOutRows(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                 const LocalTensor<uint8_t> &mask, float keepProb, const DropOutShapeInfo &info)
{
    RequireType<T, half, float>(call);
    const Walker<T> to(call, "dst", dst), from(call, "src", src);
    const Walker<uint8_t> chosen(call, "mask", mask);
    const bool bits =
        dropOutMode >= 3 || (dropOutMode == 0 && info.maskLastAxis < info.srcLastAxis);
    for (uint64_t i = 0; i < uint64_t{info.firstAxis} * info.srcLastAxis; i++) {
        const uint64_t row = i / info.srcLastAxis * info.maskLastAxis, at = i % info.srcLastAxis;
        const uint8_t byte = chosen.operand.Load(row + (bits ? at / 8 : at));
        const bool kept = bits ? (byte >> (at % 8) & 1U) != 0 : byte != 0;
        to.operand.Store(
            i, T(kept ? static_cast<float>(from.operand.Load(i)) / keepProb : 0.0F));
    }
}

}  // namespace emulation

template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &mask,
             float keepProb, const DropOutShapeInfo &info,
             emulation::Site site = emulation::Site::Here())
{
    emulation::DropOutRows<T, dropOutMode>({"DropOut", site}, dst, src, mask, keepProb, info);
}

template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &mask,
             const LocalTensor<uint8_t> &sharedTmpBuffer, float keepProb,
             const DropOutShapeInfo &info, emulation::Site site = emulation::Site::Here())
{
    emulation::Within({"DropOut", site}, sharedTmpBuffer, 0);
    DropOut<T, isInitBitMode, dropOutMode>(dst, src, mask, keepProb, info, site);
}

namespace emulation {

/* Where the mask is 0, an element of the first operand, elsewhere one of the second. */
template <typename T, typename U, typename First, typename Second>
void SelectByBytes(Site site, const LocalTensor<T> &dst, const LocalTensor<U> &mask,
                   const LocalTensor<uint8_t> &shared, const SelectWithBytesMaskShapeInfo &info,
                   First first, Second second)
{
    const Call call("SelectWithBytesMask", site);
    RequireType<T, half, float>(call);
    RequireType<U, bool, uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t>(call);
    Within(call, shared, 0);
    if (info.srcLastAxis * sizeof(T) % BlockBytes != 0 ||
        info.maskLastAxis * sizeof(U) % BlockBytes != 0 || info.maskLastAxis < info.srcLastAxis) {
        call.Fail(rule::Alignment, Text("srcLastAxis is %u and maskLastAxis %u; both must be "
                                        "multiples of 32 bytes, and the second no less",
                                        info.srcLastAxis, info.maskLastAxis));
    }
    const Walker<T> to(call, "dst", dst);
    const Walker<U> chosen(call, "mask", mask);
    for (uint64_t i = 0; i < uint64_t{info.firstAxis} * info.srcLastAxis; i++) {
        const uint64_t row = i / info.srcLastAxis, at = i % info.srcLastAxis;
        const bool other = chosen.operand.Load(row * info.maskLastAxis + at) != U(0);
        to.operand.Store(i, other ? second(call, i) : first(call, i));
    }
}

template <typename T> auto ElementsOf(const LocalTensor<T> &tensor, const char *name)
{
    return [&tensor, name](const Call &call, uint64_t i) {
        return Walker<T>(call, name, tensor).operand.Load(i);
    };
}
template <typename T> auto Always(T value)
{
    return [value](const Call &, uint64_t) { return value; };
}

}  // namespace emulation

template <typename T, typename U, bool isReuseMask = true>
void SelectWithBytesMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                         emulation::Scalar<T> src1, const LocalTensor<U> &mask,
                         const LocalTensor<uint8_t> &sharedTmpBuffer,
                         const SelectWithBytesMaskShapeInfo &info,
                         emulation::Site site = emulation::Site::Here())
{
    emulation::SelectByBytes(site, dst, mask, sharedTmpBuffer, info,
                             emulation::ElementsOf(src0, "src0"), emulation::Always<T>(src1));
}

template <typename T, typename U, bool isReuseMask = true>
void SelectWithBytesMask(const LocalTensor<T> &dst, emulation::Scalar<T> src0,
                         const LocalTensor<T> &src1, const LocalTensor<U> &mask,
                         const LocalTensor<uint8_t> &sharedTmpBuffer,
                         const SelectWithBytesMaskShapeInfo &info,
                         emulation::Site site = emulation::Site::Here())
{
    emulation::SelectByBytes(site, dst, mask, sharedTmpBuffer, info, emulation::Always<T>(src0),
                             emulation::ElementsOf(src1, "src1"));
}

}  // namespace AscendC
