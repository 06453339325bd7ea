/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of phase-1 answers, one per thread, as CANN keeps it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The device's answer to a phase 1. */
struct plan {
    bool individual;    /* CANN's generated operators; the others are composite */
    bool apart;         /* no output may be an input, not even exactly */
    bool bases;         /* inputs may be described as the whole tensors that they are views of */
    uint64_t written;   /* the arguments that are written, a bit each */
    uint32_t launches;  /* 0: nothing to run, 1: a kernel, 2: phase 2 fails */
    uint64_t workspace_size;
    bool spares_workspace; /* the kernel neither reads nor writes it */
    bool any_scalars;   /* the plan is the same whatever the values of scalars */
    uint64_t session;   /* of the device that has answered, 0 for none: numbers are its own */
    uint64_t number;    /* of the checked call in the device process */
    uint64_t unwritten; /* of the arguments in `written`, those that silently stay as they are */
};

/* A hash of bytes. */
uint64_t mock_cache_hash(const uint8_t *key, size_t length);
/* A plan by the bytes of its call, addresses left out. */
bool mock_cache_find(const uint8_t *key, size_t length, struct plan *plan);
void mock_cache_store(const uint8_t *key, size_t length, const struct plan *plan);
