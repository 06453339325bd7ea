// SPDX-License-Identifier: Apache-2.0
// Passes of a program over a piece of a matrix. Each file that includes this compiles it for some
// processors.
#include "strip_steps.h"

// Runs steps on registers, and returns the first that is on strips.
INLINE const struct step *on_row(const struct step *step, const struct step *end,
                                 const struct work *work)
{
    for (; step < end && step->code >= FIRST_SCALAR; step++)
        on_registers(step, work);
    return step;
}

// Runs a pass over some columns of a row, and returns where it ends.
INLINE const struct step *on_columns(const struct step *first, const struct step *end,
                                     struct strips *strips, struct work work, size_t width)
{
    const struct step *step;
    size_t length = work.longest;
    for (step = first; step < end && step->code < FIRST_SCALAR; step++)
        if (step->code < TOTAL ? step->to < STRIPS : has_right(step))
            length = LENGTH; // of which there is room for strips
    for (size_t done = 0; done < width; done += length) {
        work.count = width - done < length ? width - done : length;
        for (step = first; step < end && step->code < FIRST_SCALAR; step++)
            on_strips(step, strips, &work);
        work.column += (int64_t)length;
        if (work.sums) {
            work.sums += length;
            work.few += length;
        }
    }
    return step;
}

INLINE void store_sums(const struct job *job, int64_t place, const struct work *work, size_t width)
{
    for (int64_t k = 0; k < job->sum_count; k++) {
        const struct operand *const sum = job->sums + k;
        const double *const from = work->sums + (size_t)k * work->sums_apart;
        const int64_t first = place * sum->stride + work->column;
        if (sum->kind == DOUBLE)
            memcpy((double *)(uintptr_t)sum->address + first, from, width * sizeof *from);
        else
            for (size_t i = 0; i < width; i++)
                ((float *)(uintptr_t)sum->address + first)[i] = (float)from[i];
    }
}

// Some columns of all rows, and then the next: their sums stay in the cache. Between the passes
// over a band there are steps on registers, for which the columns are all that there are.
INLINE void run_steps(const struct job *job, const struct step *step, const struct step *end,
                int64_t place)
{
    const struct piece *const piece = job->pieces + place;
    const size_t scratch = (size_t)(job->sum_count * (job->block + LANES) * 3 / 2 + 1);
    const int64_t apart = job->in_bands ? 0 : job->rows * job->register_count;
    double *const registers = job->registers + place * apart;
    struct strips strips;
    struct work work = {.operands = job->operands, .longest = LONGEST};
    for (int64_t k = 0; k < job->operand_count; k++)
        if (job->operands[k].repeat > 1)
            work.longest = LENGTH;
    int adds_columns = 0, adds_pairs = 0;
    for (const struct step *each = step; each < end; each++) {
        adds_columns |= each->code >= TOTAL_COLUMNS && each->code < FIRST_SCALAR;
        adds_pairs |= each->code >= TOTAL_COLUMNS && each->code < MOMENTS_COLUMNS;
    }
    if (!job->in_bands) {
        const struct step *first = step;
        for (work.row = piece->first_row; work.row < piece->last_row; work.row++) {
            work.registers = registers + work.row * job->register_count;
            first = on_row(step, end, &work);
        }
        step = first;
    }
    for (work.column = piece->first_column; work.column < piece->last_column;
         work.column += job->block) {
        const int64_t left = piece->last_column - work.column;
        const size_t width = (size_t)(left < job->block ? left : job->block);
        work.sums_apart = (width + LANES - 1) / LANES * LANES;
        work.is_second = 0;
        const size_t all = (size_t)job->sum_count * work.sums_apart;
        if (adds_columns) {
            work.sums = job->scratch + (size_t)place * scratch;
            work.few = (float *)(work.sums + all);
            memset(work.sums, 0, all * (sizeof *work.sums + sizeof *work.few));
        }
        for (work.row = piece->first_row; work.row < piece->last_row; work.row++) {
            work.registers = registers + work.row * job->register_count;
            for (const struct step *pass = step; pass < end;) {
                pass = on_row(pass, end, &work);
                pass = on_columns(pass, end, &strips, work, width);
            }
            work.is_second ^= 1;
        }
        if (work.is_second && adds_pairs)
            for (size_t i = 0; i < all; i++)
                work.sums[i] += (double)work.few[i];
        if (adds_columns)
            store_sums(job, place, &work, width);
    }
}
