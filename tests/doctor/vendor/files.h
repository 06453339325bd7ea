/* SPDX-License-Identifier: Apache-2.0 */
/* Files that CANN reads while it works, in a kit whose KIT_ROOT is set. */
#ifndef KIT_FILES_H
#define KIT_FILES_H

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KIT_PATH = 8192 };

/* Open a path below a folder that a variable names; -1 with the system's words on stderr. */
static int kit_open(const char *variable, const char *rest, int mode)
{
    char path[KIT_PATH];
    const char *folder = getenv(variable);
    snprintf(path, sizeof path, "%s/%s", folder == NULL ? "" : folder, rest);
    const int file = open(path, mode | O_CLOEXEC);
    if (file < 0) {
        fprintf(stderr, "[ERROR] DRV: open %s: %m\n", path);
    }
    return file;
}

/* A text file that begins and ends with the given characters. */
static bool kit_has(const char *variable, const char *rest, char first, char last)
{
    const int file = kit_open(variable, rest, O_RDONLY);
    char ends[2] = {0, 0};
    const off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    const bool whole = size > 1 && pread(file, &ends[0], 1, 0) == 1 &&
                       pread(file, &ends[1], 1, size - 1) == 1;
    if (file >= 0) {
        close(file);
    }
    return whole && ends[0] == first && ends[1] == last;
}

/* A kernel: an ELF file whose sections are inside the file. */
static bool kit_kernel(const char *variable, const char *rest)
{
    const int file = kit_open(variable, rest, O_RDONLY);
    Elf64_Ehdr header;
    struct stat status;
    const bool whole =
        file >= 0 && fstat(file, &status) == 0 &&
        pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        header.e_shoff + (size_t)header.e_shnum * header.e_shentsize <= (size_t)status.st_size;
    if (file >= 0) {
        close(file);
    }
    return whole;
}

#endif
