/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks at the end of a file, each whole or not there. zlib is not linked, so that building needs none
 * of it: blocks are compressed where the process finds it. */
#include "blocks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEVEL = 1, DONE = 0 };

typedef int compressor(uint8_t *to, unsigned long *room, const uint8_t *from, unsigned long length,
                       int level);

typedef unsigned long summer(unsigned long sum, const uint8_t *data, unsigned length);

static compressor *compress_by;
static summer *sum_by;

static void find(void)
{
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
        *(void **)&compress_by = dlsym(library, "compress2");
        *(void **)&sum_by = dlsym(library, "crc32");
    }
}

static bool compress(uint8_t *to, size_t *room, const uint8_t *from, size_t length)
{
    unsigned long stored = *room;
    if (compress_by == NULL || compress_by(to, &stored, from, length, LEVEL) != DONE) {
        return false;
    }
    *room = stored;
    return true;
}

/* CRC-32, by zlib or by the remainders of half a byte; the polynomial has its bits reversed. */
static uint32_t checksum(const uint8_t *data, size_t length)
{
    static const uint32_t remainders[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    if (sum_by != NULL && length <= UINT32_MAX) {
        return (uint32_t)sum_by(0, data, (unsigned)length);
    }
    uint32_t sum = 0xFFFFFFFF;
    for (size_t i = 0; i < length; i++) {
        sum = sum >> 4 ^ remainders[(sum ^ data[i]) & 15];
        sum = sum >> 4 ^ remainders[(sum ^ (uint32_t)data[i] >> 4) & 15];
    }
    return ~sum;
}

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

void capture_prepare_packing(struct capture_bytes *room, uint64_t whole)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;
    pthread_once(&found, find);
    uint8_t *data = room->capacity < whole ? realloc(room->data, whole) : NULL;
    if (data != NULL) {
        room->data = data;
        room->capacity = whole;
    }
}

struct capture_packed capture_pack(const uint8_t *data, uint64_t whole, const struct capture_bytes *room)
{
    struct capture_packed packed = {.head = "BLK-", .data = data, .stored = whole};
    size_t stored = whole; /* a block that does not become shorter is not compressed */
    if (room != NULL && room->capacity >= whole && compress(room->data, &stored, data, stored)) {
        packed.head[3] = 'z';
        packed.data = room->data;
        packed.stored = stored;
    }
    const uint32_t words[] = {(uint32_t)packed.stored, checksum(packed.data, packed.stored)};
    memcpy(packed.head + 4, &whole, sizeof whole);
    memcpy(packed.head + 12, words, sizeof words);
    return packed;
}

int capture_append_packed(int file, uint64_t *end, const struct capture_packed *packed)
{
    const uint64_t before = *end;
    int error = capture_append(file, end, packed->head, sizeof packed->head);
    error = error == 0 ? capture_append(file, end, packed->data, packed->stored) : error;
    if (error != 0) {
        *end = before;
        error = ftruncate(file, (off_t)before) == 0 ? error : errno;
    }
    return error;
}

int capture_append_block(int file, uint64_t *end, const uint8_t *data, uint64_t whole,
                         struct capture_bytes *room)
{
    if (room != NULL) {
        capture_prepare_packing(room, whole);
    }
    const struct capture_packed packed = capture_pack(data, whole, room);
    return capture_append_packed(file, end, &packed);
}

int capture_append_end(int file, uint64_t *end, int signal, int error)
{
    const uint8_t record[] = {0xDD, 0, 0, 0, 1, 0x93, 6, (uint8_t)signal, (uint8_t)error};
    return capture_append_block(file, end, record, sizeof record, NULL);
}
