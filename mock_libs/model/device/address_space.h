/* SPDX-License-Identifier: Apache-2.0 */
/* Reserved address ranges, and the physical memory mapped to them. */
#pragma once

#include "device.h"
#include "physical_memory.h"

struct reservation {
    struct device *device; /* whose memory was mapped last, or NULL */
    uint8_t *base;  /* the addresses handed out: without access, like those of the heap */
    uint8_t *alias; /* where the runtime itself reaches what is mapped */
    uint64_t bytes;
    uint64_t number; /* of what was imported to it by a key; 0: the program has reserved it */
    struct blocks mappings; /* by their distance from the base */
    struct mock_history history;
    bool reported; /* as still alive, so that it is reported once */
    struct reservation *next;
};

/* Set where a program has set the access; by default only the mapping device has it. */
enum { MOCK_ACCESS_SET = 0x80 };

struct mapping {
    struct block block; /* first: the set of mappings is one of blocks */
    struct physical *physical;
    uint64_t from; /* where in the physical memory it begins */
    uint64_t noted; /* in which list it was put last */
    uint8_t access[MOCK_MAX_DEVICES]; /* what each device may do, with the bit MOCK_ACCESS_SET */
};

/* New addresses, or NULL with the reason in errno; a hint may be NULL. */
struct reservation *mock_space_reserve(uint64_t bytes, uint64_t alignment, void *hint);
/* Give them back; nothing is mapped to them any more. */
void mock_space_release(struct reservation *space);
/* The reservation that holds an address, or NULL. */
struct reservation *mock_space_of(const void *address);
/* The first of all; `next` leads to the others. */
struct reservation *mock_spaces(void);

/* Map a part of physical memory where nothing is mapped yet; 0, or errno. */
int mock_space_map(struct reservation *space, uint64_t offset, struct physical *physical,
                   uint64_t from, uint64_t bytes);
void mock_space_unmap(struct reservation *space, struct mapping *mapping);
/* The mapping that holds a byte of the reservation / a mapping that meets a range of it, or NULL. */
struct mapping *mock_space_mapping_at(const struct reservation *space, uint64_t offset);
struct mapping *mock_space_overlapping(const struct reservation *space, uint64_t offset,
                                   uint64_t bytes);

/* Map memory that was imported under a number, which ends with it, and return its start;
 * NULL with the reason in errno: nothing was mapped. */
void *mock_space_import(struct physical *physical);
/* Where that is, or NULL / the end of it. */
struct reservation *mock_space_imported(uint64_t number);
void mock_space_import_end(struct reservation *space);

/* The device that an address leads to, or NULL: it is an address of the host, or nothing is mapped. */
struct device *mock_device_of(const void *address);
/* The live memory that holds an address: a block of the heap, or all that is mapped around it
 * without a gap. Its offset counts from the heap's base in either case. */
bool mock_memory_find(const struct device *device, const void *address, struct block *found);
/* Return whether the runtime can reach a range; what was freed in the heap it can. */
bool mock_is_mapped(const void *address, uint64_t bytes);

/* Unmap and frees all physical memory of a device, which closes. */
void mock_space_close(struct device *device);
/* A child does not share what its parent has mapped. */
void mock_space_forked(const struct device *device);
