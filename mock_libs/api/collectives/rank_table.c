/* SPDX-License-Identifier: Apache-2.0 */
/* Rank tables: files that list the devices of all ranks. Here they say how many ranks there are,
 * and ranks that read the same file meet; servers and addresses in it mean nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "communicator_join.h"
#include "context.h"
#include "device.h"
#include "hash.h"
#include "hccl_error.h"
#include "lock.h"
#include "remedy.h"

enum { LARGEST = 1 << 20, TRIES = 40 };

static const char RANK[] = "\"rank_id\"";

struct table {
    uint64_t identity; /* of the file and its contents: two programs with equal tables stay apart */
    uint32_t ranks;
};

static HcclResult refuse(const char *path, const char *reason)
{
    return MOCK_HCCL_FAIL(HCCL_E_PARA,
                          "EI0004: the rank table %s %s; it must be a JSON file with a rank_id for "
                          "each rank: see RANK_TABLE_FILE",
                          path, reason);
}

static HcclResult read_table(const char *path, struct table *table)
{
    struct stat status = {0};
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return refuse(path, mock_remedy("fopen", errno));
    }
    char *text = calloc(1, LARGEST + 1);
    const size_t bytes = text == NULL ? 0 : fread(text, 1, LARGEST, file);
    const char *reason = text == NULL                    ? "cannot be read for want of host memory"
                         : ferror(file)                  ? "cannot be read"
                         : fgetc(file) != EOF            ? "is longer than 1 MiB"
                         : fstat(fileno(file), &status) ? "cannot be read"
                                                         : NULL;
    fclose(file);
    const struct timespec *when = &status.st_mtim;
    const uint64_t which[] = {status.st_dev, status.st_ino, (uint64_t)when->tv_sec};
    *table = (struct table){mock_hash(MOCK_HASH_EMPTY, which, sizeof which), 0};
    if (reason == NULL) {
        table->identity = mock_hash(table->identity, text, bytes);
        for (const char *at = text; (at = strstr(at, RANK)) != NULL; at++) {
            table->ranks++;
        }
        reason = table->ranks == 0 ? "lists no rank" : NULL;
    }
    free(text);
    return reason == NULL ? HCCL_SUCCESS : refuse(path, reason);
}

/* The communicators that a rank has made of a table: all ranks make them in the same order. */
struct made {
    struct made *next;
    uint64_t identity;
    uint32_t rank;
    uint32_t count;
};

/* Those of a rank of this process, or NULL: no memory. */
static struct made *find_made(uint64_t identity, uint32_t rank)
{
    static struct made *first;
    struct made *made = first;
    while (made != NULL && (made->identity != identity || made->rank != rank)) {
        made = made->next;
    }
    if (made == NULL && (made = calloc(1, sizeof *made)) != NULL) {
        *made = (struct made){first, identity, rank, 0};
        first = made;
    }
    return made;
}

static HcclResult init_by_table(const char *path, uint32_t rank, const HcclCommConfig *config,
                                HcclComm *comm)
{
    struct mock_address address;
    struct table table = {0};
    HcclResult result = read_table(path, &table);
    const struct device *device = result == HCCL_SUCCESS ? mock_current_device() : NULL;
    if (device == NULL) {
        return result == HCCL_SUCCESS ? HCCL_E_RUNTIME : result;
    }
    struct made *made = find_made(table.identity, rank);
    if (made == NULL) {
        return MOCK_HCCL_FAIL(HCCL_E_MEMORY, "no host memory for a communicator");
    }
    char group[24];
    snprintf(group, sizeof group, "table %u", made->count);
    memset(&address, 0, sizeof address);
    snprintf(address.name, sizeof address.name, "pyaclnn-hccl-table-%u-%016llx", getuid(),
             (unsigned long long)table.identity);
    /* Ranks of an earlier run may be about to leave the place where these will meet. */
    for (int i = 0; i < TRIES; i++) {
        result = mock_rendezvous_share(&address);
        struct mock_rank_placement place = {&address, group, device->id, rank, table.ranks, NULL};
        result = result == HCCL_SUCCESS ? mock_communicator_create(&place, config, comm) : result;
        if (result != HCCL_E_TCP_CONNECT) {
            break;
        }
        mock_unlock();
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        mock_lock();
    }
    made->count += result == HCCL_SUCCESS;
    return result;
}

HcclResult HcclCommInitClusterInfo(const char *clusterInfo, uint32_t rank, HcclComm *comm)
{
    return init_by_table(clusterInfo, rank, NULL, comm);
}

HcclResult HcclCommInitClusterInfoConfig(const char *clusterInfo, uint32_t rank,
                                         HcclCommConfig *config, HcclComm *comm)
{
    return init_by_table(clusterInfo, rank, config, comm);
}
