// SPDX-License-Identifier: Apache-2.0
// Work in pieces, which the threads of this process share.
#include <stdint.h>

// The pieces of a round are worked on in any order, those of the next when all of them are done.
struct shared {
    void (*work)(const void *context, int64_t round, int64_t piece);
    void (*finish)(const void *context, int64_t round); // after its last piece
    const void *context;
    int64_t rounds, pieces;
};

// Does all the work, on as many threads at most; the calling thread is one of them.
void run_shared(const struct shared *work, int threads);
