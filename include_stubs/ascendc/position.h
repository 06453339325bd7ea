/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a tensor lies, which unit of the core touches it, and which events order the units.
 */
#pragma once

#include <cstdint>

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL };

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

namespace AscendC {

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    TSCM,
    MAX
};

using QuePosition = TPosition;

enum class HardEvent : uint8_t {
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    MTE2_MTE3,
    MTE3_MTE2,
    V_V,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MAX
};

enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC };

namespace emulation {

inline const char *PositionName(TPosition position)
{
    static const char *const names[] = {"GM",  "A1",  "A2",    "B1",     "B2",      "C1",  "C2",
                                        "CO1", "CO2", "VECIN", "VECOUT", "VECCALC", "TSCM"};
    return position < TPosition::MAX ? names[static_cast<int>(position)] : "no position";
}

inline const char *PipeName(pipe_t pipe)
{
    static const char *const names[] = {"the scalar unit",
                                        "the vector unit",
                                        "the matrix unit",
                                        "the copy unit MTE1",
                                        "the copy from global memory",
                                        "the copy to global memory",
                                        "nobody"};
    return names[pipe];
}

/* Returns whether a position is part of the unified buffer, the memory of the vector unit. */
constexpr bool InUnifiedBuffer(TPosition position)
{
    return position == TPosition::VECIN || position == TPosition::VECOUT ||
           position == TPosition::VECCALC;
}

/* The unit whose writes a queue waits for, and the unit that it lets read. */
constexpr pipe_t ProducerOf(TPosition from)
{
    return from == TPosition::GM || from == TPosition::VECIN ? PIPE_MTE2 : PIPE_V;
}

constexpr pipe_t ConsumerOf(TPosition to)
{
    return to == TPosition::GM || to == TPosition::VECOUT ? PIPE_MTE3 : PIPE_V;
}

struct Order {
    pipe_t first, second;
};

constexpr Order OrderOf(HardEvent event)
{
    constexpr Order orders[] = {
        {PIPE_MTE2, PIPE_V},    {PIPE_V, PIPE_MTE2},    {PIPE_MTE3, PIPE_V},
        {PIPE_V, PIPE_MTE3},    {PIPE_MTE2, PIPE_MTE3}, {PIPE_MTE3, PIPE_MTE2},
        {PIPE_V, PIPE_V},       {PIPE_S, PIPE_V},       {PIPE_V, PIPE_S},
        {PIPE_S, PIPE_MTE2},    {PIPE_MTE2, PIPE_S},    {PIPE_S, PIPE_MTE3},
        {PIPE_MTE3, PIPE_S}};
    return orders[static_cast<int>(event)];
}

}  // namespace emulation
}  // namespace AscendC
