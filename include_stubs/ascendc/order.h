/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order of a core's units. They run at the same time; an event orders what one unit has done before
 * it, and what that unit had waited for, before what another one does after it.
 */
#pragma once

#include <algorithm>
#include <array>

#include "ascendc/position.h"

namespace AscendC::emulation {

/* The time until which the work of each unit is done. */
using Done = std::array<uint32_t, PIPE_ALL>;

/* Work that each unit has waited for. The time advances with each event. */
class Clocks {
 public:
    uint32_t Now() const { return now_; }

    /* The work that is done when a unit comes to this point. */
    Done Reached(pipe_t unit) const
    {
        Done done = known_[unit];
        done[unit] = now_;
        return done;
    }

    /* The point that all units have come to in the kernel's text; what follows is later. */
    Clocks Mark()
    {
        const Clocks here = *this;
        now_++;
        return here;
    }

    /* The scalar unit starts the work of the others, so what it waits for comes before theirs. */
    void Wait(pipe_t unit, const Done &done)
    {
        for (int other = 0; other < PIPE_ALL; other++) {
            if (other == unit || unit == PIPE_S) {
                std::transform(done.begin(), done.end(), known_[other].begin(),
                               known_[other].begin(),
                               [](uint32_t a, uint32_t b) { return std::max(a, b); });
            }
        }
    }

    void WaitForAll()
    {
        Done done;
        done.fill(now_++);
        known_.fill(done);
    }

    bool Follows(pipe_t unit, pipe_t other, uint32_t time) const
    {
        return unit == other || known_[unit][other] >= time;
    }

 private:
    uint32_t now_ = 1;
    std::array<Done, PIPE_ALL> known_{};
};

/* Last accesses to 32 bytes of on-chip memory. */
class Accesses {
 public:
    struct Access {
        uint32_t time = 0;
        int line = 0;
    };

    void Write(pipe_t unit, uint32_t time, int line)
    {
        written_ = {time, line};
        writer_ = unit;
        by_scalar_ = false;
        readers_ = 0;
    }

    /* The last write was the scalar unit's, which counts as one of the vector unit. */
    void SetByScalar() { by_scalar_ = true; }

    void Read(pipe_t unit, uint32_t time, int line)
    {
        readers_ |= 1U << unit;
        read_[unit] = {time, line};
    }

    bool FollowsWrite(const Clocks &clocks, pipe_t unit) const
    {
        return writer_ == PIPE_ALL || clocks.Follows(unit, writer_, written_.time) ||
               (by_scalar_ && clocks.Follows(unit, PIPE_S, written_.time));
    }

    /* A unit that may still read when `unit` writes; PIPE_ALL: none. */
    pipe_t StillReads(const Clocks &clocks, pipe_t unit) const
    {
        for (uint32_t reader = 0; readers_ >> reader != 0; reader++) {
            if ((readers_ >> reader & 1U) != 0 &&
                !clocks.Follows(unit, static_cast<pipe_t>(reader), read_[reader].time)) {
                return static_cast<pipe_t>(reader);
            }
        }
        return PIPE_ALL;
    }

    pipe_t Writer() const { return writer_; }
    int LineOfWrite() const { return written_.line; }
    int LineOfRead(pipe_t unit) const { return read_[unit].line; }

 private:
    Access written_, read_[PIPE_ALL];
    pipe_t writer_ = PIPE_ALL;
    bool by_scalar_ = false;
    uint32_t readers_ = 0; /* bit p: unit p has read since the last write */
};

}  // namespace AscendC::emulation
