/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices that other processes of this machine may map. */
#include "share.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error_message.h"
#include "poisoned_workspace.h"
#include "violation.h"

/* A number is the process, its descriptor of the file, the slot of the table, how often it was used. */
enum { FILE_BITS = 16, SLOT_BITS = 10, ROUND_BITS = 16, MAX_ALLOWED = 20 };
enum { SLOTS = 1 << SLOT_BITS };

struct slot {
    uint64_t number; /* 0: free */
    uint64_t offset, bytes;
    _Atomic uint32_t users; /* processes that have imported it */
    uint32_t rounds, all_processes, allowed;
    int32_t processes[MAX_ALLOWED];
    struct mock_signal signal; /* without bytes, this is what is shared */
};

_Static_assert(sizeof(struct slot) * SLOTS <= MOCK_SHARES_BYTES, "the table fits its place");

static struct slot *own[MOCK_MAX_DEVICES];
static uint64_t sources;

static struct slot *map_table(int file)
{
    struct stat status;
    if (fstat(file, &status) != 0 || status.st_size < MOCK_SHARES_BYTES) {
        return NULL;
    }
    void *table = mmap(NULL, MOCK_SHARES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                       status.st_size - MOCK_SHARES_BYTES);
    return table == MAP_FAILED ? NULL : table;
}

static struct slot *slot_in(struct slot *table, uint64_t number)
{
    struct slot *slot = &table[(number >> ROUND_BITS) % SLOTS];
    return number != 0 && slot->number == number ? slot : NULL;
}

uint64_t mock_share(const struct device *device, uint64_t offset, uint64_t bytes, bool all_processes)
{
    struct slot **table = &own[device->id];
    if (*table == NULL) {
        *table = map_table(device->heap.descriptor);
    }
    if (bytes > 0) {
        mock_workspaces_unknown();
        mock_heaps_written();
        mock_devices_reach();
    }
    for (uint64_t i = 0; *table != NULL && i < SLOTS; i++) {
        struct slot *slot = &(*table)[i];
        if (slot->number == 0 && slot->users == 0) {
            slot->rounds++;
            slot->offset = offset;
            slot->bytes = bytes;
            slot->all_processes = all_processes;
            slot->allowed = 0;
            slot->signal = (struct mock_signal){0};
            slot->number = (((uint64_t)getpid() << FILE_BITS | (uint64_t)device->heap.descriptor)
                                << SLOT_BITS |
                            i) << ROUND_BITS |
                           (slot->rounds & ((1u << ROUND_BITS) - 1));
            return slot->number;
        }
    }
    return 0;
}

static struct slot *own_slot(uint64_t number)
{
    struct slot *slot = NULL;
    for (int i = 0; i < MOCK_MAX_DEVICES && slot == NULL; i++) {
        slot = own[i] == NULL ? NULL : slot_in(own[i], number);
    }
    return slot;
}

bool mock_share_allow(uint64_t number, const int32_t *processes, size_t count)
{
    struct slot *slot = own_slot(number);
    if (slot == NULL || count > MAX_ALLOWED - slot->allowed) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        slot->processes[slot->allowed++] = processes[i];
    }
    return true;
}

static bool is_allowed(const struct slot *slot)
{
    bool allowed = slot->all_processes != 0;
    for (uint32_t i = 0; i < slot->allowed && i < MAX_ALLOWED; i++) {
        allowed = allowed || slot->processes[i] == getpid();
    }
    return allowed;
}

static int open_file(uint64_t number)
{
    char path[64];
    const uint64_t where = number >> (ROUND_BITS + SLOT_BITS);
    snprintf(path, sizeof path, "/proc/%llu/fd/%llu", (unsigned long long)(where >> FILE_BITS),
             (unsigned long long)(where & ((1u << FILE_BITS) - 1)));
    return open(path, O_RDWR | O_CLOEXEC);
}

static aclError check_import(uint64_t number, const struct slot *slot)
{
    if (slot == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "nothing is exported as 0x%llx: what was is gone, its process has "
                         "ended, or is another user's",
                         (unsigned long long)number);
    }
    if (!is_allowed(slot)) {
        mock_violate(MOCK_IMPORT_NOT_ALLOWED, slot->bytes > 0 ? "exported memory" : "exported notify",
                     NULL, NULL,
                     "process %d is not among those that were let in", (int)getpid());
        return mock_fail(ACL_ERROR_RT_NO_PERMISSION,
                         "the exporting process has not let process %d in: "
                         "aclrtMemSetPidToShareableHandle, for a key aclrtIpcMemSetImportPid, "
                         "for a notify aclrtNotifySetImportPid",
                         (int)getpid());
    }
    return ACL_SUCCESS;
}

aclError mock_import(uint64_t number, struct device *device, struct physical **physical)
{
    const int file = open_file(number);
    struct slot *table = file < 0 ? NULL : map_table(file);
    struct slot *slot = table == NULL ? NULL : slot_in(table, number);
    slot = slot == NULL || slot->bytes == 0 ? NULL : slot;
    aclError status = check_import(number, slot);
    if (status == ACL_SUCCESS) {
        *physical = mock_physical_foreign(device, ++sources, file, slot->offset, slot->bytes);
        status = *physical == NULL ? mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                               "no host memory for what is imported")
                                   : ACL_SUCCESS;
    }
    if (status == ACL_SUCCESS) {
        atomic_fetch_add(&slot->users, 1);
        (*physical)->number = number;
    } else if (file >= 0) {
        close(file);
    }
    if (table != NULL) {
        munmap(table, MOCK_SHARES_BYTES);
    }
    return status;
}

/* ---- signals ------------------------------------------------------------------------------- */

uint64_t mock_share_signal(const struct device *device, bool all_processes)
{
    return mock_share(device, 0, 0, all_processes);
}

struct mock_signal *mock_shared_signal(uint64_t number)
{
    struct slot *slot = own_slot(number);
    return slot == NULL ? NULL : &slot->signal;
}

/* The table stays mapped as long as the signal is used. */
struct mock_signal *mock_import_signal(uint64_t number, aclError *status)
{
    const int file = open_file(number);
    struct slot *table = file < 0 ? NULL : map_table(file);
    struct slot *slot = table == NULL ? NULL : slot_in(table, number);
    slot = slot == NULL || slot->bytes > 0 ? NULL : slot;
    *status = check_import(number, slot);
    if (file >= 0) {
        close(file);
    }
    if (*status != ACL_SUCCESS) {
        if (table != NULL) {
            munmap(table, MOCK_SHARES_BYTES);
        }
        return NULL;
    }
    atomic_fetch_add(&slot->users, 1);
    return &slot->signal;
}

void mock_import_signal_end(uint64_t number, struct mock_signal *signal)
{
    struct slot *slot = (struct slot *)((char *)signal - offsetof(struct slot, signal));
    atomic_fetch_sub(&slot->users, 1);
    munmap(slot - (number >> ROUND_BITS) % SLOTS, MOCK_SHARES_BYTES);
}

/* ---- the end of it --------------------------------------------------------------------------- */

bool mock_share_withdraw(uint64_t number)
{
    struct slot *slot = own_slot(number);
    if (slot != NULL) {
        slot->number = 0;
    }
    return slot != NULL;
}

bool mock_share_end(const struct device *device, uint64_t offset, uint64_t bytes)
{
    bool used = false;
    struct slot *table = own[device->id];
    for (size_t i = 0; table != NULL && i < SLOTS; i++) {
        struct slot *slot = &table[i];
        if (slot->rounds > 0 && slot->bytes > 0 && slot->offset - offset < bytes) {
            slot->number = 0;
            used = used || atomic_load(&slot->users) > 0;
        }
    }
    return used;
}

void mock_import_end(const struct physical *physical)
{
    struct slot *table = map_table(physical->descriptor);
    if (table != NULL) {
        atomic_fetch_sub(&table[(physical->number >> ROUND_BITS) % SLOTS].users, 1);
        munmap(table, MOCK_SHARES_BYTES);
    }
    close(physical->descriptor);
}

void mock_share_close(const struct device *device)
{
    if (own[device->id] != NULL) {
        munmap(own[device->id], MOCK_SHARES_BYTES);
        own[device->id] = NULL;
    }
}
