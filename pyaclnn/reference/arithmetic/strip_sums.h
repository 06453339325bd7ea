// SPDX-License-Identifier: Apache-2.0
// Steps that add up a strip.
#include "strip_work.h"

#define UNROLLED 4
#define EACH_SUM _Pragma("GCC unroll 4") for (size_t k = 0; k < UNROLLED; k++)
#define UNTIL(end, step) for (; i + (step) <= (end); i += (step))

INLINE double sum_of_lanes(const wide_lanes sums[UNROLLED])
{
    const wide_lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return (all[0] + all[1]) + (all[2] + all[3]);
}

// Adds lanes in float64, and empties them.
INLINE void flush_sums(wide_lanes to[UNROLLED], lanes sums[UNROLLED])
{
    wide_lanes half[2];
    EACH_SUM {
        split(half, sums + k);
        to[k] += half[0] + half[1];
        sums[k] = (lanes){0};
    }
}

// Vectors of so many numbers that each lane adds few in float32; lanes are added in float64.
#define IN_BLOCKS for (; i + UNROLLED * LANES <= count;)
#define BLOCK_END (count - i < LENGTH ? count : i + LENGTH)

INLINE double add_products(int from, const unsigned char *left, struct source right, size_t count)
{
    wide_lanes all[UNROLLED] = {{0}};
    lanes sums[UNROLLED] = {{0}}, x, y;
    double total = 0;
    size_t i = 0;
    IN_BLOCKS
    {
        const size_t end = BLOCK_END;
        UNTIL(end, UNROLLED * LANES)
            EACH_SUM {
                load_lanes(&x, from, left + (i + k * LANES) * size_of_kind(from));
                y = x;
                if (right.at)
                    load_from(&y, right, i + k * LANES);
                sums[k] += x * y;
            }
        flush_sums(all, sums);
    }
    for (; i < count; i += LANES) {
        const size_t some = count - i < LANES ? count - i : LANES;
        load_some_lanes(&x, from, left + i * size_of_kind(from), some);
        y = x;
        if (right.at)
            load_some_from(&y, right, i, some);
        for (size_t k = 0; k < some; k++)
            total += (double)(x[k] * y[k]);
    }
    return total + sum_of_lanes(all);
}

// In float64: no rounding can be seen beside numbers far from zero and near to one another.
INLINE double add_numbers(int from, const unsigned char *left, size_t count)
{
    wide_lanes sums[UNROLLED] = {{0}}, wide[2];
    lanes x;
    double total = 0;
    size_t i = 0;
    UNTIL(count, UNROLLED * WIDE)
        _Pragma("GCC unroll 2") for (size_t k = 0; k < UNROLLED; k += 2) {
            load_lanes(&x, from, left + (i + k * WIDE) * size_of_kind(from));
            split(wide, &x);
            sums[k] += wide[0];
            sums[k + 1] += wide[1];
        }
    for (; i < count; i += LANES) {
        const size_t some = count - i < LANES ? count - i : LANES;
        load_some_lanes(&x, from, left + i * size_of_kind(from), some);
        for (size_t k = 0; k < some; k++)
            total += (double)x[k];
    }
    return total + sum_of_lanes(sums);
}

// Both of these at once.
INLINE void add_both(double *to, int from, const unsigned char *left, struct source right,
                     size_t count)
{
    wide_lanes sums[UNROLLED] = {{0}}, all[UNROLLED] = {{0}}, wide[2];
    lanes products[UNROLLED] = {{0}}, x, y;
    double total = 0, dot = 0;
    size_t i = 0;
    IN_BLOCKS
    {
        const size_t end = BLOCK_END;
        UNTIL(end, UNROLLED * LANES)
            EACH_SUM {
                load_lanes(&x, from, left + (i + k * LANES) * size_of_kind(from));
                load_from(&y, right, i + k * LANES);
                split(wide, &x);
                sums[k] += wide[0] + wide[1];
                products[k] += x * y;
            }
        flush_sums(all, products);
    }
    for (; i < count; i += LANES) {
        const size_t some = count - i < LANES ? count - i : LANES;
        load_some_lanes(&x, from, left + i * size_of_kind(from), some);
        load_some_from(&y, right, i, some);
        for (size_t k = 0; k < some; k++) {
            total += (double)x[k];
            dot += (double)(x[k] * y[k]);
        }
    }
    to[0] += total + sum_of_lanes(sums);
    to[1] += dot + sum_of_lanes(all);
}

// Adds up distances from a pivot, and their squares. In a block they are distances from a number of
// it, which is not far from most others: few of these in float32 lose nothing that can be seen.
INLINE void add_moments(double *to, int from, const unsigned char *left, double pivot, size_t count)
{
    wide_lanes totals[UNROLLED] = {{0}}, all[UNROLLED] = {{0}};
    lanes sums[UNROLLED] = {{0}}, squares[UNROLLED] = {{0}}, x;
    double total = 0, square = 0;
    size_t i = 0;
    IN_BLOCKS
    {
        wide_lanes some[UNROLLED] = {{0}};
        const size_t first = i, end = BLOCK_END;
        load_some_lanes(&x, from, left + i * size_of_kind(from), 1);
        const float near = __builtin_isfinite(x[0]) ? x[0] : 0;
        UNTIL(end, UNROLLED * LANES)
            EACH_SUM {
                load_lanes(&x, from, left + (i + k * LANES) * size_of_kind(from));
                x -= near;
                sums[k] += x;
                squares[k] += x * x;
            }
        const double between = (double)near - pivot, length = (double)(i - first);
        flush_sums(some, sums);
        flush_sums(all, squares);
        EACH_SUM {
            totals[k] += some[k];
            all[k] += 2 * between * some[k];
        }
        total += length * between;
        square += length * between * between;
    }
    for (; i < count; i += LANES) {
        const size_t some = count - i < LANES ? count - i : LANES;
        load_some_lanes(&x, from, left + i * size_of_kind(from), some);
        for (size_t k = 0; k < some; k++) {
            const double distance = (double)x[k] - pivot;
            total += distance;
            square += distance * distance;
        }
    }
    to[0] += total + sum_of_lanes(totals);
    to[1] += square + sum_of_lanes(all);
}

// Sums over rows: numbers of two rows are added in float32, which is exact if they are equal, and
// their sums in float64.
INLINE void add_to_columns(double *sums, float *first, int is_second, const lanes *number)
{
    wide_lanes wide[2];
    lanes both = *number;
    if (!is_second) {
        *(lanes *)first = both;
        return;
    }
    both += *(const lanes *)first;
    split(wide, &both);
    ((wide_lanes *)sums)[0] += wide[0];
    ((wide_lanes *)sums)[1] += wide[1];
}

// Adds up numbers, their products, or both.
INLINE void add_both_to_columns(const struct work *work, int64_t sum, int64_t product, size_t i,
                                int is_second, const lanes *x, const lanes *y)
{
    const size_t to = (size_t)sum * work->sums_apart + i;
    const size_t next = (size_t)product * work->sums_apart + i;
    if (sum >= 0)
        add_to_columns(work->sums + to, work->few + to, is_second, x);
    if (product >= 0) {
        const lanes both = *x * *y;
        add_to_columns(work->sums + next, work->few + next, is_second, &both);
    }
}

// The same of a strip. The sums of a strip have room for whole vectors.
INLINE void add_columns(const struct work *work, int64_t sum, int64_t product, int is_second,
                        int from, const unsigned char *left, struct source right)
{
    const size_t count = work->count;
    lanes x, y = {0};
    size_t i = 0;
    UNTIL(count, LANES)
    {
        load_lanes(&x, from, left + i * size_of_kind(from));
        if (product >= 0)
            load_from(&y, right, i);
        add_both_to_columns(work, sum, product, i, is_second, &x, &y);
    }
    if (i == count)
        return;
    load_some_lanes(&x, from, left + i * size_of_kind(from), count - i);
    if (product >= 0)
        load_some_from(&y, right, i, count - i);
    add_both_to_columns(work, sum, product, i, is_second, &x, &y);
}

// In float64, as the moments of a row are in the end.
INLINE void add_moments_of_columns(double *sums, double *squares, int from,
                                   const unsigned char *left, struct source pivots, size_t count)
{
    lanes x, y;
    wide_lanes wide[2], pivot[2];
    size_t i = 0;
    UNTIL(count, LANES)
    {
        load_lanes(&x, from, left + i * size_of_kind(from));
        load_from(&y, pivots, i);
        split(wide, &x);
        split(pivot, &y);
        for (size_t half = 0; half < 2; half++) {
            const wide_lanes distance = wide[half] - pivot[half];
            *(wide_lanes *)(sums + i + half * WIDE) += distance;
            *(wide_lanes *)(squares + i + half * WIDE) += distance * distance;
        }
    }
    if (i == count)
        return;
    load_some_lanes(&x, from, left + i * size_of_kind(from), count - i);
    load_some_from(&y, pivots, i, count - i);
    for (size_t k = 0; i < count; i++, k++) {
        const double distance = (double)x[k] - (double)y[k];
        sums[i] += distance;
        squares[i] += distance * distance;
    }
}
