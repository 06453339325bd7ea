/* SPDX-License-Identifier: Apache-2.0 */
/* Compression and checksums of blocks. zlib is not linked, so that building needs none of it: blocks
 * are compressed where the process finds it. */
#include "compression.h"

#include <dlfcn.h>
#include <pthread.h>

enum { LEVEL = 1, DONE = 0 };

typedef int compressor(uint8_t *to, unsigned long *room, const uint8_t *from, unsigned long length,
                       int level);

static compressor *compress_by;

static void find(void)
{
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
        *(void **)&compress_by = dlsym(library, "compress2");
    }
}

bool capture_compress(uint8_t *to, size_t *room, const uint8_t *from, size_t length)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;
    unsigned long stored = *room;
    pthread_once(&found, find);
    if (compress_by == NULL || compress_by(to, &stored, from, length, LEVEL) != DONE) {
        return false;
    }
    *room = stored;
    return true;
}

/* The remainders of half a byte; the polynomial is that of CRC-32, bits reversed. */
uint32_t capture_checksum(const uint8_t *data, size_t length)
{
    static const uint32_t remainders[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t sum = 0xFFFFFFFF;
    for (size_t i = 0; i < length; i++) {
        sum = sum >> 4 ^ remainders[(sum ^ data[i]) & 15];
        sum = sum >> 4 ^ remainders[(sum ^ (uint32_t)data[i] >> 4) & 15];
    }
    return ~sum;
}
