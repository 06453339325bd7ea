/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a tensor lies, which unit of the core touches it, and which events order the units.
 */
#pragma once

#include <cstdint>

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };

enum event_t {
    EVENT_ID0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7
};

using TEventID = int8_t;

/* Position, unit that fills it, unit that reads it. */
#define ASCENDC_POSITIONS(X)                                                                       \
    X(GM, MTE2, MTE3)                                                                              \
    X(A1, MTE2, MTE1)                                                                              \
    X(A2, MTE1, M)                                                                                 \
    X(B1, MTE2, MTE1)                                                                              \
    X(B2, MTE1, M)                                                                                 \
    X(C1, MTE2, MTE1)                                                                              \
    X(C2, MTE1, M)                                                                                 \
    X(CO1, M, FIX)                                                                                 \
    X(CO2, FIX, MTE3)                                                                              \
    X(VECIN, MTE2, V)                                                                              \
    X(VECOUT, V, MTE3)                                                                             \
    X(VECCALC, V, V)                                                                               \
    X(TSCM, MTE2, MTE1)

/* The unit that has done something, and the one that waits for it. */
#define ASCENDC_EVENTS(X)                                                                          \
    X(MTE2, V) X(V, MTE2) X(MTE3, V) X(V, MTE3) X(MTE2, MTE3) X(MTE3, MTE2) X(V, V) X(S, V)        \
    X(V, S) X(S, MTE2) X(MTE2, S) X(S, MTE3) X(MTE3, S) X(MTE2, MTE1) X(MTE1, MTE2) X(MTE1, M)     \
    X(M, MTE1) X(MTE1, V) X(V, MTE1) X(M, V) X(V, M) X(M, FIX) X(FIX, M) X(M, S) X(S, M)           \
    X(MTE3, MTE1) X(MTE1, MTE3) X(MTE1, FIX) X(FIX, MTE1) X(FIX, MTE2) X(MTE2, FIX) X(FIX, MTE3)   \
    X(FIX, S) X(S, FIX) X(FIX, V)

namespace AscendC {

/* Bytes of a block and of a repeat, rows of a fractal, strides without gaps. */
constexpr int32_t ONE_BLK_SIZE = 32, DEFAULT_C0_SIZE = 32, ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t BLOCK_CUBE = 16, DEFAULT_BLK_STRIDE = 1, DEFAULT_REPEAT_STRIDE = 8;
constexpr int32_t DEFAULT_BLK_NUM = 8, MAX_REPEAT_TIMES = 255, ONE_BYTE_BIT_SIZE = 8;

template <typename T, typename U> constexpr T AlignUp(T value, U step)
{
    return static_cast<T>((value + step - 1) / step * step);
}
template <typename T, typename U> constexpr T DivCeil(T value, U step)
{
    return static_cast<T>((value + step - 1) / step);
}

template <typename T, typename U> constexpr T CeilDivision(T value, U step)
{
    return step == 0 ? 0 : DivCeil(value, step);
}

#define ASCENDC_POSITION(name, producer, consumer) name,
enum class TPosition : uint8_t { ASCENDC_POSITIONS(ASCENDC_POSITION) MAX, LCM = VECCALC };
#undef ASCENDC_POSITION

using QuePosition = TPosition;

#define ASCENDC_EVENT(first, second) first##_##second,
enum class HardEvent : uint8_t { ASCENDC_EVENTS(ASCENDC_EVENT) MAX };
#undef ASCENDC_EVENT

enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC };

namespace emulation {

struct Place {
    const char *name;
    pipe_t producer, consumer;
};

#define ASCENDC_POSITION(name, producer, consumer) {#name, PIPE_##producer, PIPE_##consumer},
constexpr Place kPlaces[] = {ASCENDC_POSITIONS(ASCENDC_POSITION){"no position", PIPE_V, PIPE_V}};
#undef ASCENDC_POSITION

constexpr const Place &PlaceOf(TPosition position) { return kPlaces[static_cast<int>(position)]; }

inline const char *PositionName(TPosition position) { return PlaceOf(position).name; }

inline const char *PipeName(pipe_t pipe)
{
    static const char *const names[] = {"the scalar unit",
                                        "the vector unit",
                                        "the matrix unit",
                                        "the copy unit MTE1",
                                        "the copy from global memory",
                                        "the copy to global memory",
                                        "the copy of the matrix unit's results",
                                        "nobody"};
    return names[pipe];
}

/* The unit's name in events. */
inline const char *ShortName(pipe_t pipe)
{
    static const char *const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return names[pipe];
}

/* Returns whether a position is part of the unified buffer, the memory of the vector unit. */
constexpr bool InUnifiedBuffer(TPosition position)
{
    return position == TPosition::VECIN || position == TPosition::VECOUT ||
           position == TPosition::VECCALC;
}

struct Order {
    pipe_t first, second;

    bool operator==(const Order &other) const
    {
        return first == other.first && second == other.second;
    }
};

constexpr Order OrderOf(HardEvent event)
{
#define ASCENDC_EVENT(first, second) {PIPE_##first, PIPE_##second},
    constexpr Order orders[] = {ASCENDC_EVENTS(ASCENDC_EVENT)};
#undef ASCENDC_EVENT
    return orders[static_cast<int>(event)];
}

}  // namespace emulation
}  // namespace AscendC
