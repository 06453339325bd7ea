/* SPDX-License-Identifier: Apache-2.0 */
/* Time since some moment, in nanoseconds. */
#pragma once

#include <stdint.h>
#include <time.h>

/* By the clock CLOCK_MONOTONIC, or CLOCK_MONOTONIC_COARSE, which costs less. */
static inline uint64_t capture_now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

/* In so many milliseconds. */
static inline uint64_t capture_time_in(uint64_t milliseconds)
{
    return capture_now(CLOCK_MONOTONIC_COARSE) + milliseconds * 1000000U;
}
