// SPDX-License-Identifier: Apache-2.0
// The codes of steps, and where steps find their numbers.
#include "lanes.h"
#include "strips.h"

// The codes of steps. Those of each kind of arithmetic follow one another.
enum {
    MOVE,              // strip or operand, strip or operand
    ADD,               // strip or operand, the same, the same
    SUBTRACT,          //
    MULTIPLY,          //
    ADD_REGISTER,      // strip or operand, the same, register
    SUBTRACT_REGISTER, //
    MULTIPLY_REGISTER, //
    STANDARDIZE,       // the same with one more: (left - register) * register
    SCALE,             // strip or operand, the same thrice: left * right + last
    TOTAL,             // register, strip or operand: added to it
    DOT,               // register, strip or operand, the same
    TOTAL_AND_DOT,     // two registers, the same
    MOMENTS,           // two registers, strip or operand, register
    TOTAL_COLUMNS,     // the same four, with sums
    DOT_COLUMNS,       //
    TOTAL_AND_DOT_COLUMNS,
    MOMENTS_COLUMNS, // with a strip or operand as well
    FIRST_SCALAR,      // on registers alone, before the strips of a row
    PLUS = FIRST_SCALAR,
    MINUS,
    TIMES,
    DIVIDED,
    RECIPROCAL_ROOT,
    PIVOT, // register, operand: the first number of the row
};

#define STRIPS 2   // strips of a program
#define SPARE 3    // strips for operands that are repeated: left, right and last
#define LENGTH 512 // numbers of a strip: those of a program and their sums fit the first cache
#define LONGEST (8 * LENGTH) // where operands alone are read and written
// Shared memory, as that of a simulated device, has small pages. Where one lies is looked up before
// it is used, so that this takes no time: so many bytes ahead.
#define PAGE 4096
#define AHEAD (2 * PAGE)

// Numbers of a type that is widened where it is used; none at NULL.
struct source {
    const unsigned char *at;
    int kind;
};

struct strips {
    const void *at[STRIPS]; // where the numbers are: an operand of float32 is not copied
    float room[STRIPS + SPARE][LENGTH];
};

// Where a step works.
struct work {
    const struct operand *operands;
    double *registers; // of the row
    double *sums;      // of the first column
    float *few;        // of the first of two rows
    int is_second;     // of these rows
    size_t sums_apart; // from the sums of one kind to the next
    int64_t row, column;
    size_t count;   // the numbers of the strip
    size_t longest; // the most that it may have
};

INLINE struct source operand_at(int32_t place, const struct work *work, float *room)
{
    const struct operand *const operand = work->operands + (place - STRIPS);
    const int kind = (int)operand->kind;
    const int64_t row = operand->period ? work->row % operand->period : work->row;
    const uintptr_t first =
        (uintptr_t)operand->address + (uintptr_t)(row * operand->stride) * size_of_kind(kind);
    const size_t column = (size_t)work->column, repeat = (size_t)operand->repeat;
    if (repeat == 1) {
        const unsigned char *const at =
            (const unsigned char *)(first + column * size_of_kind(kind));
        for (size_t page = 0; page < work->count * size_of_kind(kind); page += PAGE)
            __builtin_prefetch(at + AHEAD + page);
        return (struct source){at, kind};
    }
    const float *const single = (const float *)first;
    size_t left = repeat - column % repeat;
    for (size_t i = 0, from = column / repeat; i < work->count; from++) {
        const size_t end = work->count - i < left ? work->count : i + left;
        for (; i < end; i++)
            room[i] = single[from];
        left = repeat;
    }
    return (struct source){(const unsigned char *)room, SINGLE};
}

// The numbers of a place, for which an operand that is repeated has a spare strip.
INLINE struct source source_at(int32_t place, const struct work *work, struct strips *strips,
                               int spare)
{
    if (place < STRIPS)
        return (struct source){strips->at[place], SINGLE};
    return operand_at(place, work, strips->room[STRIPS + spare]);
}

INLINE const void *widened(struct source from, float *room, size_t count)
{
    widen(from.kind == BFLOAT, (const void *)from.at, 0, room, 1, count);
    return room;
}

// True if a step reads a right place that is not the left one.
INLINE int has_right(const struct step *step)
{
    return (step->code >= ADD && step->code <= MULTIPLY) || step->code == SCALE ||
           (step->code == DOT && step->right != step->left) || step->code == TOTAL_AND_DOT ||
           step->code > TOTAL_COLUMNS;
}

INLINE void load_from(lanes *to, struct source from, size_t place)
{
    load_lanes(to, from.kind, from.at + place * size_of_kind(from.kind));
}

INLINE void load_some_from(lanes *to, struct source from, size_t place, size_t count)
{
    load_some_lanes(to, from.kind, from.at + place * size_of_kind(from.kind), count);
}
