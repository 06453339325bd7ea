/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices, and signals, that other processes of this machine may map. What is shared stands in
 * a table behind the memory in its file, which whoever imports opens by way of the process that shares. */
#ifndef MOCK_SHARE_H
#define MOCK_SHARE_H

#include "physical_memory.h"

/* What the table takes behind the memory of a device. */
enum { MOCK_SHARES_BYTES = 152 << 10 };

/* What processes tell each other without memory of a device. */
struct mock_signal {
    _Atomic uint32_t set; /* a notify */
    /* An event: the calls so far; the latest of them that was reached, and when. */
    _Atomic uint64_t records, recorded, nanoseconds;
};

/* Shares memory of a device of this process, with every process if there is no validation, and says
 * by which number; 0: the table is full. */
uint64_t mock_share(const struct device *device, uint64_t offset, uint64_t bytes, bool all_processes);
/* Lets processes in. false: this process shares nothing under the number, or there are too many. */
bool mock_share_allow(uint64_t number, const int32_t *processes, size_t count);

/* Makes physical memory for a device of what is shared under a number, by whatever process. */
aclError mock_import(uint64_t number, struct device *device, struct physical **physical);
/* The same of a signal; and where it stands, NULL: this process shares none. */
uint64_t mock_share_signal(const struct device *device, bool all_processes);
struct mock_signal *mock_shared_signal(uint64_t number);
/* Finds what another process shares so. NULL, and *status holds the code: there is none. */
struct mock_signal *mock_import_signal(uint64_t number, aclError *status);
void mock_import_signal_end(uint64_t number, struct mock_signal *signal);
/* It was imported, and is given back. */
void mock_import_end(const struct physical *physical);
/* Nobody may import any more what stands under a number. false: this process shares nothing so. */
bool mock_share_withdraw(uint64_t number);
/* The same of whatever begins in a part of a device's memory. true: somebody has imported such, and
 * not given it back. */
bool mock_share_end(const struct device *device, uint64_t offset, uint64_t bytes);
/* A device closes, or belongs to the parent of a child. */
void mock_share_close(const struct device *device);

#endif
