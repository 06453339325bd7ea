/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of the normalization interfaces: the checks of their operands, the temporary
 * memory they compute in, rows of float.
 */
#pragma once

#include <cmath>
#include <initializer_list>

#include "ascendc/elementwise.h"
#include "ascendc/reduction.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC::emulation {

inline void RequireChip(const Call &call)
{
    switch (Core::Current().chip.family) {
    case Family::A2:
    case Family::A3:
    case Family::Ascend950:
    case Family::Ascend310P: return;
    default: break;
    }
    call.Fail(rule::Chip, "this chip does not have the interface; Atlas A2 and A3, Ascend 950 and "
                          "310P have it");
}

template <typename T, bool isReuseSource> void RequireElements(const Call &call)
{
    RequireType<T, half, float>(call);
    if (isReuseSource && !std::is_same_v<T, float>) {
        call.Fail(rule::Dtype, "isReuseSource is set for half; it is for float only");
    }
}

/* The last axis: whole blocks of 32 bytes. */
template <typename T> void RequireLastAxis(const Call &call, const char *axis, uint32_t length)
{
    if (length == 0 || length * sizeof(T) % BlockBytes != 0) {
        call.Fail(rule::Alignment,
                  Text("the last axis %s has %u elements of %s, %zu bytes; it must have a multiple "
                       "of 32 bytes: pad it with zeros",
                       axis, length, TypeName<T>(), length * sizeof(T)));
    }
}

inline void RequireTiling(const Call &call, bool condition, const std::string &message)
{
    if (!condition) {
        call.Fail(rule::Tiling, "tiling", message);
    }
}

/* A field that is 0 although there is work: the host function failed silently. */
inline void RequireChunk(const Call &call, const char *field, uint32_t value, uint32_t row)
{
    RequireTiling(call, value != 0 && value % row == 0,
                  Text("%s is %u; it must be a multiple of the %u elements of a row. The host "
                       "function leaves it 0 where the temporary memory it was told of is too "
                       "small",
                       field, value, row));
}

/* Rounds and tail must be the whole problem; what they leave out is never computed. */
inline void RequireCovered(const Call &call, uint64_t covered, uint64_t elements)
{
    RequireTiling(call, covered == elements,
                  Text("its rounds and its tail are %llu elements; the tensors have %llu",
                       static_cast<unsigned long long>(covered),
                       static_cast<unsigned long long>(elements)));
}

/* Temporary memory that the caller passed. It is spoiled when the call returns. */
inline void UseTemporary(const Call &call, const LocalTensor<uint8_t> &shared, uint64_t bytes)
{
    Operand<uint8_t> operand(call, "sharedTmpBuffer", shared);
    operand.InVectorMemory().Aligned();
    if (operand.Size() < bytes) {
        operand.Fail(rule::Temporary,
                     Text("it has %u bytes; the tiling addresses %llu", operand.Size(),
                          static_cast<unsigned long long>(bytes)));
    }
    operand.Consume(operand.Size());
}

/* Temporary memory that the framework takes from what no buffer occupies. */
inline void UseTemporary(const Call &call, uint64_t bytes)
{
    const Arena &memory = Core::Current().unified;
    const uint64_t rest = memory.bytes.size() - memory.used;
    if (rest < bytes) {
        call.Fail(rule::Temporary,
                  Text("the tiling addresses %llu bytes of temporary memory; of the unified "
                       "buffer %llu bytes are left for the framework: reserve them, or pass "
                       "sharedTmpBuffer",
                       static_cast<unsigned long long>(bytes),
                       static_cast<unsigned long long>(rest)));
    }
}

template <typename T, typename U>
void RequireApart(const Operand<T> &one, const Operand<U> &other)
{
    if (one.Overlaps(other)) {
        one.Fail(rule::Overlap, Text("it shares memory with %s, which it must not", other.Name()));
    }
}

/* Source and destination may be the same tensor, and nothing in between. */
template <typename T, typename U>
void RequireSameOrApart(const Operand<T> &one, const Operand<U> &other)
{
    if (!one.Starts(other)) {
        RequireApart(one, other);
    }
}

template <typename T>
std::vector<float> Floats(const Operand<T> &source, uint64_t first, uint64_t count)
{
    std::vector<float> values(count);
    for (uint64_t i = 0; i < count; i++) {
        values[i] = static_cast<float>(source.Load(first + i));
    }
    return values;
}

template <typename T>
void Put(const Operand<T> &target, uint64_t first, const std::vector<float> &values)
{
    for (uint64_t i = 0; i < values.size(); i++) {
        target.Store(first + i, static_cast<T>(values[i]));
    }
}

inline uint64_t RoundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

/* Sum of f(0) … f(count - 1) in float, added in pairs as the vector unit does. */
template <typename F> float SumOf(uint32_t count, F f)
{
    std::vector<float> values(count);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = f(i);
    }
    return PairwiseSum(std::move(values));
}

}  // namespace AscendC::emulation
