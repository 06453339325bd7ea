// SPDX-License-Identifier: Apache-2.0
// The steps of a program on a strip of a row, and on the registers of a row.
#include "strip_sums.h"

// Vectors first, and then one that has fewer numbers; with so many numbers on the right.
#define EACH_LANE(rights, expression)                                                              \
    do {                                                                                           \
        for (; i + LANES <= count; i += LANES) {                                                   \
            load_lanes(&x, from, left + i * size_of_kind(from));                                   \
            if (rights > 0)                                                                        \
                load_from(&y, right, i);                                                           \
            if (rights > 1)                                                                        \
                load_from(&z, last, i);                                                            \
            x = expression;                                                                        \
            store_lanes(to + i * size_of_kind(kind), kind, &x);                                    \
        }                                                                                          \
        if (i < count) {                                                                           \
            load_some_lanes(&x, from, left + i * size_of_kind(from), count - i);                   \
            if (rights > 0)                                                                        \
                load_some_from(&y, right, i, count - i);                                           \
            if (rights > 1)                                                                        \
                load_some_from(&z, last, i, count - i);                                            \
            x = expression;                                                                        \
            store_some_lanes(to + i * size_of_kind(kind), kind, &x, count - i);                    \
        }                                                                                          \
        return;                                                                                    \
    } while (0)

// The strips may be one and the same.
INLINE void combine(int32_t code, int kind, unsigned char *to, int from, const unsigned char *left,
                    struct source right, struct source last, size_t count)
{
    size_t i = 0;
    lanes x, y = {0}, z = {0};
    if (code == SCALE)
        EACH_LANE(2, x * y + z);
    if (code == ADD)
        EACH_LANE(1, x + y);
    if (code == SUBTRACT)
        EACH_LANE(1, x - y);
    EACH_LANE(1, x * y);
}

INLINE void combine_number(int32_t code, int kind, unsigned char *to, int from,
                           const unsigned char *left, float number, float factor, size_t count)
{
    const struct source right = {0}, last = {0};
    size_t i = 0;
    lanes x, y = number - (lanes){0}, z;
    switch (code) {
    case ADD_REGISTER:
        EACH_LANE(0, x + y);
    case SUBTRACT_REGISTER:
        EACH_LANE(0, x - y);
    case MULTIPLY_REGISTER:
        EACH_LANE(0, x * y);
    case STANDARDIZE:
        EACH_LANE(0, (x - y) * factor);
    default:
        EACH_LANE(0, x);
    }
}

// Adds up a strip of a type that the compiler knows.
INLINE void add_up(const struct step *step, int from, const void *left, struct source right,
                   const struct work *work)
{
    double *const register_of = work->registers + step->to;
    const int64_t to = step->to;
    const size_t place = (size_t)to * work->sums_apart;
    const size_t count = work->count;
    switch (step->code) {
    case TOTAL:
        *register_of += add_numbers(from, left, count);
        break;
    case DOT:
        if (right.at)
            *register_of += add_products(from, left, right, count);
        else
            *register_of += add_products(from, left, (struct source){0}, count);
        break;
    case TOTAL_AND_DOT:
        add_both(register_of, from, left, right, count);
        break;
    case MOMENTS:
        add_moments(register_of, from, left, work->registers[step->right], count);
        break;
    case TOTAL_COLUMNS:
        if (work->is_second)
            add_columns(work, to, -1, 1, from, left, (struct source){0});
        else
            add_columns(work, to, -1, 0, from, left, (struct source){0});
        break;
    case DOT_COLUMNS:
        if (work->is_second)
            add_columns(work, -1, to, 1, from, left, right);
        else
            add_columns(work, -1, to, 0, from, left, right);
        break;
    case TOTAL_AND_DOT_COLUMNS:
        if (work->is_second)
            add_columns(work, to, to + 1, 1, from, left, right);
        else
            add_columns(work, to, to + 1, 0, from, left, right);
        break;
    default:
        add_moments_of_columns(work->sums + place, work->sums + place + work->sums_apart, from,
                               left, right, count);
    }
}

INLINE void compute(const struct step *step, int kind, void *to, int from, const void *left,
                    struct source right, struct source last, const struct work *work)
{
    const double *const registers = work->registers;
    if (last.at)
        combine(SCALE, kind, to, from, left, right, last, work->count);
    else if (right.at)
        combine(step->code, kind, to, from, left, right, (struct source){0}, work->count);
    else
        combine_number(step->code, kind, to, from, left, (float)registers[step->right],
                       (float)registers[step->last], work->count);
}

// The same with a type that the compiler knows where the right ones are of float32.
INLINE void compute_any(const struct step *step, int kind, void *to, int from, const void *left,
                        struct source right, struct source last, const struct work *work)
{
    if (right.kind == SINGLE && last.kind == SINGLE) {
        right.kind = last.kind = SINGLE;
        compute(step, kind, to, from, left, right, last, work);
    } else {
        compute(step, kind, to, from, left, right, last, work);
    }
}

INLINE void compute_to(const struct step *step, int kind, void *to, struct source left,
                       struct source right, struct source last, const struct work *work)
{
    if (left.kind == SINGLE)
        compute_any(step, kind, to, SINGLE, left.at, right, last, work);
    else if (left.kind == BFLOAT)
        compute_any(step, kind, to, BFLOAT, left.at, right, last, work);
    else
        compute_any(step, kind, to, HALF_FLOAT, left.at, right, last, work);
}

static void on_strips(const struct step *step, struct strips *strips, const struct work *work)
{
    if (step->code == MOVE && step->to < STRIPS) {
        float *const room = strips->room[step->to];
        const struct source from = source_at(step->left, work, strips, 0);
        strips->at[step->to] = from.kind == SINGLE ? from.at : widened(from, room, work->count);
        return;
    }
    struct source right = {0}, last = {0};
    const struct source left = source_at(step->left, work, strips, 0);
    if (has_right(step))
        right = source_at(step->right, work, strips, 1);
    if (step->code == SCALE)
        last = source_at(step->last, work, strips, 2);
    if (step->code >= TOTAL) {
        if (right.kind != SINGLE)
            right.at = widened(right, strips->room[STRIPS + 1], work->count);
        right.kind = SINGLE;
        if (left.kind == SINGLE)
            add_up(step, SINGLE, left.at, right, work);
        else if (left.kind == BFLOAT)
            add_up(step, BFLOAT, left.at, right, work);
        else
            add_up(step, HALF_FLOAT, left.at, right, work);
    } else if (step->to < STRIPS) {
        float *const to = strips->room[step->to];
        compute_to(step, SINGLE, to, left, right, last, work);
        strips->at[step->to] = to;
    } else {
        const struct source to = operand_at(step->to, work, NULL);
        if (to.kind == SINGLE)
            compute_to(step, SINGLE, (void *)(uintptr_t)to.at, left, right, last, work);
        else if (to.kind == BFLOAT)
            compute_to(step, BFLOAT, (void *)(uintptr_t)to.at, left, right, last, work);
        else
            compute_to(step, HALF_FLOAT, (void *)(uintptr_t)to.at, left, right, last, work);
    }
}

INLINE void on_registers(const struct step *step, const struct work *work)
{
    double *const to = work->registers + step->to;
    if (step->code == PIVOT) {
        lanes first;
        struct work start = *work;
        start.column = 0;
        const struct source from = operand_at(step->left, &start, NULL);
        load_some_lanes(&first, from.kind, from.at, 1);
        *to = __builtin_isfinite(first[0]) ? (double)first[0] : 0;
        return;
    }
    const double x = work->registers[step->left], y = work->registers[step->right];
    switch (step->code) {
    case PLUS:
        *to = x + y;
        break;
    case MINUS:
        *to = x - y;
        break;
    case TIMES:
        *to = x * y;
        break;
    case DIVIDED:
        *to = x / y;
        break;
    default:
        *to = 1 / __builtin_sqrt(x);
    }
}
