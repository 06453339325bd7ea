/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices, and signals, that other processes of this machine may map. The table of
 * shared memory lies behind the memory in its file, which importers open through the sharing
 * process. */
#pragma once

#include "physical_memory.h"

/* Bytes of the table behind the memory of a device. */
enum { MOCK_SHARES_BYTES = 152 << 10 };

/* State of a notify or an event that processes share. */
struct mock_signal {
    _Atomic uint32_t set; /* a notify */
    /* An event: the calls so far; the latest of them that was reached, and when. */
    _Atomic uint64_t records, recorded, nanoseconds;
};

/* Share memory of a device of this process, with every process if there is no validation;
 * returns its number, or 0: the table is full. */
uint64_t mock_share(const struct device *device, uint64_t offset, uint64_t bytes, bool all_processes);
/* Allow processes to import. false: this process shares nothing under the number, or there are
 * too many. */
bool mock_share_allow(uint64_t number, const int32_t *processes, size_t count);

/* Make physical memory for a device of what is shared under a number, by whatever process. */
aclError mock_import(uint64_t number, struct device *device, struct physical **physical);
/* The same for a signal; and its address, or NULL: this process shares none. */
uint64_t mock_share_signal(const struct device *device, bool all_processes);
struct mock_signal *mock_shared_signal(uint64_t number);
/* Find what another process shares so. NULL, and *status holds the code: there is none. */
struct mock_signal *mock_import_signal(uint64_t number, aclError *status);
void mock_import_signal_end(uint64_t number, struct mock_signal *signal);
/* It was imported, and is given back. */
void mock_import_end(const struct physical *physical);
/* Forbid further imports of a number. false: this process shares nothing under it. */
bool mock_share_withdraw(uint64_t number);
/* The same for all that begins in a part of a device's memory. true: a process has imported some
 * of it, and not closed it. */
bool mock_share_end(const struct device *device, uint64_t offset, uint64_t bytes);
/* A device closes, or belongs to the parent of a child. */
void mock_share_close(const struct device *device);
