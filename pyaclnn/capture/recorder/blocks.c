/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks at the end of a file, each whole or not there. */
#include "blocks.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compression.h"

enum { HEAD = 20 };

int capture_append(int file, uint64_t *end, const uint8_t *data, size_t length)
{
    sigset_t beyond, before;
    int error = 0;
    sigemptyset(&beyond);
    sigaddset(&beyond, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &beyond, &before);
    while (length > 0 && error == 0) {
        const ssize_t done = pwrite(file, data, length, (off_t)*end);
        if (done > 0) {
            data += done;
            length -= (size_t)done;
            *end += (uint64_t)done;
        } else if (done == 0 || errno != EINTR) {
            error = done == 0 ? ENOSPC : errno;
        }
    }
    if (error == EFBIG) {
        sigtimedwait(&beyond, NULL, &(struct timespec){0});
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int capture_append_block(int file, uint64_t *end, char kind, uint64_t whole, const uint8_t *data,
                         size_t stored)
{
    uint8_t head[HEAD] = {'B', 'L', 'K', (uint8_t)kind};
    const uint32_t words[] = {(uint32_t)stored, capture_checksum(data, stored)};
    const uint64_t before = *end;
    memcpy(head + 4, &whole, sizeof whole);
    memcpy(head + 12, words, sizeof words);
    int error = capture_append(file, end, head, HEAD);
    error = error == 0 ? capture_append(file, end, data, stored) : error;
    if (error != 0) {
        *end = before;
        error = ftruncate(file, (off_t)before) == 0 ? error : errno;
    }
    return error;
}
