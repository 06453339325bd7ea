// SPDX-License-Identifier: Apache-2.0
#include "shared_job.h"
#include "strip_passes.h"
#include "strips_avx2.h"

// The first step of the next pass.
static const struct step *next_pass(const struct job *job, const struct step *step)
{
    const struct step *const end = job->steps + job->step_count;
    while (step < end && step->code >= FIRST_SCALAR)
        step++;
    while (step < end && step->code < FIRST_SCALAR)
        step++;
    return step;
}

static const struct step *pass_of(const struct job *job, int64_t pass)
{
    const struct step *step = job->steps;
    for (; pass; pass--)
        step = next_pass(job, step);
    return step;
}

static void run_piece(const void *work, int64_t pass, int64_t place)
{
    const struct job *const job = work;
    const struct step *const first = pass_of(job, pass), *const last = job->steps + job->step_count;
    const struct step *const end = job->in_bands ? last : next_pass(job, first);
    if (!portable && HAS_AVX2)
        run_with_avx2(job, first, end, place);
    else
        run_steps(job, first, end, place);
}

// Adds up what panels have added to registers, for all of them.
static void merge_panels(const void *work, int64_t pass)
{
    const struct job *const job = work;
    const struct step *const first = pass_of(job, pass), *const end = next_pass(job, first);
    const size_t apart = (size_t)(job->rows * job->register_count);
    uint64_t merged = 0;
    if (job->in_bands)
        return;
    for (const struct step *step = first; step < end; step++) {
        if (step->code < TOTAL || step->code > MOMENTS)
            continue;
        for (int32_t to = step->to; to <= step->to + (step->code >= TOTAL_AND_DOT); to++) {
            if (merged >> to & 1)
                continue;
            merged |= (uint64_t)1 << to;
            for (int64_t row = 0; row < job->rows; row++) {
                double *const registers = job->registers + row * job->register_count + to;
                double total = 0;
                for (int64_t place = 0; place < job->piece_count; place++)
                    total += registers[(size_t)place * apart];
                for (int64_t place = 0; place < job->piece_count; place++)
                    registers[(size_t)place * apart] = total;
            }
        }
    }
}

void run_strips(const struct job *job, int threads)
{
    int64_t passes = 1;
    if (!job->in_bands)
        for (const struct step *step = next_pass(job, job->steps);
             step < job->steps + job->step_count; step = next_pass(job, step))
            passes++;
    run_shared(&(struct shared){run_piece, merge_panels, job, passes, job->piece_count}, threads);
}
