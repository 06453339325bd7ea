/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of addresses: memory of a device, pinned memory, other host memory, none. */
#pragma once

#include "handles.h"

enum mock_address_class {
    MOCK_IN_BLOCK,
    MOCK_IN_PADDING, /* beyond what the program asked for, within what it was given */
    MOCK_OUT_OF_BLOCK,
    MOCK_ON_OTHER_DEVICE,
    MOCK_NOT_LIVE
};

/* Classify `bytes` bytes, from `distance` bytes behind an address on, by the live block of a
 * device that holds the address; *history is that of the block, also of one freed lately. */
enum mock_address_class mock_address_classify(int device, const void *address, int64_t distance,
                                  uint64_t bytes, struct mock_history *history);

/* Return whether a pointer to host memory is a device address, which breaks a rule and must not
 * be followed. Takes the lock itself, and only where the address looks like it. */
bool mock_is_device_address(const char *what, const void *address);

/* The alias through which the runtime reaches `bytes` bytes of an open device, allocated or not; a
 * host address as it is. */
void *mock_alias(const void *address, uint64_t bytes);
/* The alias of `bytes` bytes at an address: the alias of device memory inside one live
 * allocation, or a host address as it is. NULL: outside every live allocation. */
void *mock_live_alias(const void *address, uint64_t bytes);
/* Return whether a whole range is readable, or writable. */
bool mock_is_live(const void *address, uint64_t bytes, bool writing);
/* Copy from memory of the host or of a device, or to it, whatever its alignment. False: the range
 * is not all live. */
bool mock_read_memory(const void *address, void *to, uint64_t bytes);
bool mock_write_memory(void *address, const void *from, uint64_t bytes);
/* Report a range of device memory that is about to be written and ends in a block's padding. */
void mock_report_padding(const char *what, const void *address, uint64_t bytes);
/* Report the error of memory that is not all live. */
void mock_report_invalid_memory(const char *what, const void *address, uint64_t bytes);
/* Return whether a range is live memory of a device; if not, report a violation. */
bool mock_is_on_device(const char *what, const void *address, uint64_t bytes);
/* Return whether it is pageable host memory, of which no copy is asynchronous. */
bool mock_is_pageable(const void *address, uint64_t bytes);
