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
// As many numbers of float32 as a vector has of float64: conversion of more goes number by number.
#define HALF (LANES / 2)
typedef float half_lanes __attribute__((vector_size(HALF * sizeof(float)), aligned(4), may_alias));
typedef double wide_lanes __attribute__((vector_size(HALF * sizeof(double))));

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
#define OF_NOTHING(type, i) ((type){0})

// An inlined copy of unknown length would be one slow instruction.
INLINE void put(const struct operand *operand, int64_t row, int64_t column, size_t count,
                const float *strip)
{
    const int64_t place = row * operand->stride + column;
    float *const single = (float *)(uintptr_t)operand->address + place;
    if (operand->kind)
        narrow(operand->kind == 2, strip, (uint16_t *)(uintptr_t)operand->address + place, 0, 1,
               count);
    else
        EACH(single, strip, OF_NOTHING, ((void)y, x));
}

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
#define ADD_UP(size, vector, number)                                                              \
    do {                                                                                           \
        for (; i + SUMS * (size) <= count; i += SUMS * (size))                                   \
            for (size_t k = 0; k < SUMS; k++) {                                                    \
                const size_t j = i + k * (size);                                                  \
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
    ADD_UP(LANES, *(const lanes *)(left + j) * *(const lanes *)(right + j), left[j] * right[j]);
    for (size_t lane = 0; lane < LANES; lane++)
        total += ((double)sums[0][lane] + (double)sums[1][lane]) +
                 ((double)sums[2][lane] + (double)sums[3][lane]);
    return total;
}

// In float64: the mean of numbers that are far from zero and near to one another is exact.
INLINE double add_numbers(const float *left, size_t count)
{
    wide_lanes sums[SUMS] = {{0}};
    double total = 0;
    size_t i = 0;
    ADD_UP(HALF, __builtin_convertvector(*(const half_lanes *)(left + j), wide_lanes), left[j]);
    for (size_t lane = 0; lane < HALF; lane++)
        total += (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
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
    double *sums;      // of the first column
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

// Runs steps on registers, and returns the first that is on strips.
INLINE const struct step *on_row(const struct step *step, const struct step *end, double *registers)
{
    for (; step < end && step->code >= FIRST_SCALAR; step++)
        on_registers(step, registers);
    return step;
}

// Runs the steps before the next on registers on one strip, and returns where they end.
INLINE const struct step *on_columns(const struct step *step, const struct step *end, size_t done,
                                     struct strips *strips, const struct work *row)
{
    struct work work = *row;
    work.sums += done;
    work.column += (int64_t)done;
    work.count = work.width - done < LENGTH ? work.width - done : LENGTH;
    for (; step < end && step->code < FIRST_SCALAR; step++)
        on_strips(step, strips, &work);
    return step;
}

// All passes over a row, and then the next row.
INLINE void run_across(const struct program *program, const struct piece *piece, struct work work)
{
    struct strips strips;
    const struct step *const end = program->steps + program->count;
    for (work.row = piece->first_row; work.row < piece->last_row; work.row++) {
        work.registers = piece->registers + (size_t)work.row * program->registers;
        for (const struct step *step = program->steps; step < end;) {
            const struct step *const first = on_row(step, end, work.registers);
            step = first;
            for (size_t done = 0; done < work.width; done += LENGTH)
                step = on_columns(first, end, done, &strips, &work);
        }
    }
}

// A strip of all rows, and then the next strip: the sums of its columns stay in the cache. Steps on
// registers, which come before or after all strips of a row, have no place in it.
INLINE void run_down(const struct program *program, const struct piece *piece, struct work work)
{
    struct strips strips;
    const struct step *const end = program->steps + program->count;
    for (size_t done = 0; done < work.width; done += LENGTH)
        for (work.row = piece->first_row; work.row < piece->last_row; work.row++) {
            work.registers = piece->registers + (size_t)work.row * program->registers;
            on_columns(program->steps, end, done, &strips, &work);
        }
}

INLINE void run(const struct program *program, const struct piece *piece)
{
    const struct work work = {.operands = program->operands,
                              .sums = piece->sums,
                              .width = (size_t)(piece->last_column - piece->first_column),
                              .column = piece->first_column};
    int adds_columns = 0, has_numbers = 0;
    for (size_t i = 0; i < program->count; i++) {
        const int32_t code = program->steps[i].code;
        adds_columns |= code == SUM_COLUMNS || code == DOT_COLUMNS;
        has_numbers |= code >= FIRST_SCALAR;
    }
    if (!work.width)
        return;
    if (adds_columns && !has_numbers)
        run_down(program, piece, work);
    else
        run_across(program, piece, work);
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
