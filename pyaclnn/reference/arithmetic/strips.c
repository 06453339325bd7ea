// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "narrow_floats.h"
#include "strips.h"

// The codes of steps. The three of each kind of arithmetic follow one another.
enum {
    LOAD,              // strip, operand
    STORE,             // operand, strip
    ADD,               // strip, strip, strip
    SUBTRACT,          //
    MULTIPLY,          //
    ADD_REGISTER,      // strip, strip, register
    SUBTRACT_REGISTER, //
    MULTIPLY_REGISTER, //
    SUM,               // register, strip: added to it
    DOT,               // register, strip, strip
    SUM_COLUMNS,       // sum, strip: added to it
    DOT_COLUMNS,       // sum, strip, strip
    FIRST_SCALAR,      // on registers alone, before the strips of a row
    PLUS = FIRST_SCALAR,
    MINUS,
    TIMES,
    DIVIDED,
    RECIPROCAL_ROOT,
};

#define STRIPS 6   // strips of a program
#define LENGTH 1024 // numbers of a strip
#define LANES 8
#define INLINE static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef double wide_lanes __attribute__((vector_size(LANES * sizeof(double))));

struct strips {
    const float *at[STRIPS]; // where the numbers are: an operand of float32 is not copied
    float room[STRIPS][LENGTH];
};

INLINE const float *fetch(const struct operand *operand, int64_t row, int64_t column, size_t count,
                          float *room)
{
    const int64_t place = (operand->period ? row % operand->period : row) * operand->stride;
    const uint16_t *const narrow = (const uint16_t *)(uintptr_t)operand->address + place;
    const float *const single = (const float *)(uintptr_t)operand->address + place;
    if (operand->kind) {
        widen(operand->kind == 2, narrow + column, 0, room, 1, count);
        return room;
    }
    if (operand->repeat == 1)
        return single + column;
    int64_t left = operand->repeat - column % operand->repeat;
    for (size_t i = 0, from = (size_t)(column / operand->repeat); i < count; from++) {
        const size_t end = count - i < (size_t)left ? count : i + (size_t)left;
        for (; i < end; i++)
            room[i] = single[from];
        left = operand->repeat;
    }
    return room;
}

INLINE void put(const struct operand *operand, int64_t row, int64_t column, size_t count,
                const float *strip)
{
    const int64_t place = row * operand->stride + column;
    if (operand->kind)
        narrow(operand->kind == 2, strip, (uint16_t *)(uintptr_t)operand->address + place, 0, 1,
               count);
    else
        memcpy((float *)(uintptr_t)operand->address + place, strip, count * sizeof *strip);
}

// Vectors first, then the numbers that are left; strips may be one and the same.
#define EACH(to, left, right, expression)                                                          \
    do {                                                                                           \
        size_t i = 0;                                                                              \
        for (; i + LANES <= count; i += LANES) {                                                   \
            const lanes x = *(const lanes *)((left) + i), y = right(lanes, i);                     \
            *(lanes *)((to) + i) = expression;                                                     \
        }                                                                                          \
        for (; i < count; i++) {                                                                   \
            const float x = (left)[i], y = right(float, i);                                        \
            (to)[i] = expression;                                                                  \
        }                                                                                          \
    } while (0)
#define OF_STRIP(type, i) (*(const type *)(right + (i)))
#define OF_REGISTER(type, i) (number - (type){0})

INLINE void combine(int32_t code, float *to, const float *left, const float *right, size_t count)
{
    if (code == ADD)
        EACH(to, left, OF_STRIP, x + y);
    else if (code == SUBTRACT)
        EACH(to, left, OF_STRIP, x - y);
    else
        EACH(to, left, OF_STRIP, x * y);
}

INLINE void combine_number(int32_t code, float *to, const float *left, float number, size_t count)
{
    if (code == ADD_REGISTER)
        EACH(to, left, OF_REGISTER, x + y);
    else if (code == SUBTRACT_REGISTER)
        EACH(to, left, OF_REGISTER, x - y);
    else
        EACH(to, left, OF_REGISTER, x * y);
}

// Each lane adds few numbers in float32; lanes are added in float64.
#define SUMS 4
#define ADD_UP(vector, number)                                                                     \
    do {                                                                                           \
        for (; i + SUMS * LANES <= count; i += SUMS * LANES)                                       \
            for (size_t k = 0; k < SUMS; k++) {                                                    \
                const size_t j = i + k * LANES;                                                    \
                sums[k] += vector;                                                                 \
            }                                                                                      \
        for (size_t j = i; j < count; j++)                                                         \
            total += (double)(number);                                                             \
    } while (0)

INLINE double add_products(const float *left, const float *right, size_t count)
{
    lanes sums[SUMS] = {{0}};
    double total = 0;
    size_t i = 0;
    ADD_UP(*(const lanes *)(left + j) * *(const lanes *)(right + j), left[j] * right[j]);
    for (size_t lane = 0; lane < LANES; lane++)
        total += ((double)sums[0][lane] + (double)sums[1][lane]) +
                 ((double)sums[2][lane] + (double)sums[3][lane]);
    return total;
}

// In float64: the mean of numbers that are far from zero and near to one another is exact.
INLINE double add_numbers(const float *left, size_t count)
{
    wide_lanes sums[2] = {{0}};
    double total = 0;
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES)
        for (size_t k = 0; k < 2; k++)
            sums[k] += __builtin_convertvector(*(const lanes *)(left + i + k * LANES), wide_lanes);
    for (; i < count; i++)
        total += (double)left[i];
    for (size_t lane = 0; lane < LANES; lane++)
        total += sums[0][lane] + sums[1][lane];
    return total;
}

INLINE void add_columns(double *sums, const float *left, const float *right, size_t count)
{
    if (right)
        for (size_t i = 0; i < count; i++)
            sums[i] += (double)(left[i] * right[i]);
    else
        for (size_t i = 0; i < count; i++)
            sums[i] += (double)left[i];
}

INLINE void on_registers(const struct step *step, double *registers)
{
    const double x = registers[step->left], y = registers[step->right];
    double *const to = registers + step->to;
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

// Where a step works.
struct work {
    const struct operand *operands;
    double *registers; // of the row
    double *sums;      // of the first column of the strip
    size_t width;      // from the sums of one kind to the next
    int64_t row, column;
    size_t count; // the numbers of the strip
};

INLINE void on_strips(const struct step *step, struct strips *strips, const struct work *work)
{
    const size_t count = work->count;
    const struct operand *const operands = work->operands;
    if (step->code == LOAD) {
        strips->at[step->to] =
            fetch(operands + step->left, work->row, work->column, count, strips->room[step->to]);
        return;
    }
    const float *const left = strips->at[step->left];
    double *const sums = work->sums + (size_t)step->to * work->width;
    switch (step->code) {
    case STORE:
        put(operands + step->to, work->row, work->column, count, left);
        return;
    case SUM:
        work->registers[step->to] += add_numbers(left, count);
        return;
    case DOT:
        work->registers[step->to] += add_products(left, strips->at[step->right], count);
        return;
    case SUM_COLUMNS:
        add_columns(sums, left, NULL, count);
        return;
    case DOT_COLUMNS:
        add_columns(sums, left, strips->at[step->right], count);
        return;
    default:
        break;
    }
    float *const to = strips->room[step->to];
    if (step->code < ADD_REGISTER)
        combine(step->code, to, left, strips->at[step->right], count);
    else
        combine_number(step->code, to, left, (float)work->registers[step->right], count);
    strips->at[step->to] = to;
}

INLINE void run(const struct program *program, const struct piece *piece)
{
    struct strips strips;
    const size_t width = (size_t)(piece->last_column - piece->first_column);
    const struct step *const end = program->steps + program->count;
    for (int64_t row = piece->first_row; row < piece->last_row; row++) {
        struct work work = {.operands = program->operands, .width = width, .row = row};
        work.registers = piece->registers + (size_t)row * program->registers;
        for (const struct step *step = program->steps; step < end && width;) {
            for (; step < end && step->code >= FIRST_SCALAR; step++)
                on_registers(step, work.registers);
            const struct step *const first = step;
            for (size_t done = 0; done < width; done += work.count) {
                work.sums = piece->sums + done;
                work.column = piece->first_column + (int64_t)done;
                work.count = width - done < LENGTH ? width - done : LENGTH;
                for (step = first; step < end && step->code < FIRST_SCALAR; step++)
                    on_strips(step, &strips, &work);
            }
        }
    }
}

#if defined(__x86_64__)
#define HAS_NATIVE __builtin_cpu_supports("avx2")

__attribute__((target("avx2"))) static void run_natively(const struct program *program,
                                                         const struct piece *piece)
{
    run(program, piece);
}
#else
#define HAS_NATIVE 0
#define run_natively run
#endif

void run_strips(const struct program *program, const struct piece *piece)
{
    if (!portable && HAS_NATIVE)
        run_natively(program, piece);
    else
        run(program, piece);
}
