/* SPDX-License-Identifier: Apache-2.0 */
/* Rank tables: files that list the devices of all ranks. Here they say how many ranks there are,
 * and ranks that read the same table meet; servers and addresses in it mean nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "communicator_join.h"
#include "context.h"
#include "device.h"
#include "hccl_error.h"
#include "remedy.h"

enum { LARGEST = 1 << 20, TRIES = 40 };

static const char RANK[] = "\"rank_id\"";

struct table {
    uint64_t content; /* a number that stands for it */
    uint32_t ranks;
};

static HcclResult read_table(const char *path, struct table *table)
{
    FILE *file = fopen(path, "re");
    char *text = file == NULL ? NULL : calloc(1, LARGEST + 1);
    const size_t bytes = text == NULL ? 0 : fread(text, 1, LARGEST, file);
    const int failed = errno;
    if (file != NULL) {
        fclose(file);
    }
    *table = (struct table){0xCBF29CE484222325ULL, 0};
    for (size_t i = 0; i < bytes; i++) {
        table->content = (table->content ^ (uint8_t)text[i]) * 0x100000001B3ULL;
    }
    for (const char *at = text; at != NULL && (at = strstr(at, RANK)) != NULL; at++) {
        table->ranks++;
    }
    free(text);
    if (table->ranks == 0) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA,
                              "EI0004: the rank table %s %s; it must be a JSON file with a rank_id "
                              "for each rank: see RANK_TABLE_FILE",
                              path, file == NULL ? mock_remedy("fopen", failed) : "lists no rank");
    }
    return HCCL_SUCCESS;
}

/* Every process counts the communicators of a table alike: all of its ranks make them in order. */
static uint32_t number_of(uint64_t content)
{
    static struct made {
        uint64_t content;
        uint32_t count;
        struct made *next;
    } *first;
    struct made *made = first;
    while (made != NULL && made->content != content) {
        made = made->next;
    }
    if (made == NULL) {
        made = calloc(1, sizeof *made);
        if (made == NULL) {
            return 0;
        }
        made->content = content;
        made->next = first;
        first = made;
    }
    return made->count++;
}

static HcclResult init_by_table(const char *path, uint32_t rank, const HcclCommConfig *config,
                                HcclComm *comm)
{
    struct mock_address address;
    struct table table;
    HcclResult result = read_table(path, &table);
    const struct device *device = result == HCCL_SUCCESS ? mock_current_device() : NULL;
    if (device == NULL) {
        return result == HCCL_SUCCESS ? HCCL_E_RUNTIME : result;
    }
    char group[16];
    snprintf(group, sizeof group, "table %u", number_of(table.content));
    memset(&address, 0, sizeof address);
    snprintf(address.name, sizeof address.name, "pyaclnn-hccl-table-%u-%016llx", getuid(),
             (unsigned long long)table.content);
    /* Ranks of an earlier run may be about to leave the place where these will meet. */
    for (int i = 0; i < TRIES; i++) {
        result = mock_rendezvous_share(&address);
        struct mock_rank_placement place = {&address, group, device->id, rank, table.ranks, NULL};
        result = result == HCCL_SUCCESS ? mock_communicator_create(&place, config, comm) : result;
        if (result != HCCL_E_TCP_CONNECT) {
            break;
        }
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
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
