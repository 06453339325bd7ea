/* SPDX-License-Identifier: Apache-2.0 */
/* Creation of communicators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator_join.h"
#include "context.h"
#include "device.h"
#include "hccl_error.h"

HcclResult HcclGetRootInfo(HcclRootInfo *info)
{
    struct mock_address address;
    const HcclResult result = mock_rendezvous_open(&address);
    if (result == HCCL_SUCCESS) {
        mock_address_write(&address, info);
    }
    return result;
}

static HcclResult init_by_root_info(uint32_t ranks, const HcclRootInfo *info, uint32_t rank,
                                    const HcclCommConfig *config, HcclComm *comm)
{
    struct mock_address address;
    if (!mock_address_read(info, &address)) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA,
                           "EI0003: rootInfo is not what HcclGetRootInfo of a simulated NPU has "
                           "made");
    }
    const struct device *device = mock_current_device();
    if (device == NULL) {
        return HCCL_E_RUNTIME;
    }
    struct mock_rank_placement place = {&address, "", device->id, rank, ranks, NULL};
    return mock_communicator_create(&place, config, comm);
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                HcclComm *comm)
{
    return init_by_root_info(nRanks, rootInfo, rank, NULL, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                      const HcclCommConfig *config, HcclComm *comm)
{
    return init_by_root_info(nRanks, rootInfo, rank, config, comm);
}

/* ---- several devices of one process --------------------------------------------------------- */

static HcclResult check_devices(uint32_t count, const int32_t *devices)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (devices[i] == devices[j]) {
                return MOCK_HCCL_FAIL(HCCL_E_PARA, "EI0003: device %d is named twice", devices[i]);
            }
        }
        if (!mock_device_exists(devices[i])) {
            return HCCL_E_PARA;
        }
    }
    return HCCL_SUCCESS;
}

static HcclResult join_all(uint32_t count, const int32_t *devices, struct communicator **joined)
{
    struct mock_address address;
    HcclResult result = mock_rendezvous_open(&address);
    uint32_t done = 0;
    while (result == HCCL_SUCCESS && done < count) {
        const struct mock_rank_placement place = {&address, "", devices[done], done, count, NULL};
        result = mock_communicator_join(&place, &joined[done]);
        done += result == HCCL_SUCCESS ? 1 : 0;
    }
    while (result != HCCL_SUCCESS && done > 0) {
        mock_communicator_delete(joined[--done]);
    }
    return result == HCCL_SUCCESS ? mock_communicators_await(joined, count) : result;
}

HcclResult HcclCommInitAll(uint32_t count, int32_t *devices, HcclComm *comms)
{
    if (count == 0) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA, "EI0003: ndev is 0");
    }
    HcclResult result = check_devices(count, devices);
    struct communicator **joined =
        result == HCCL_SUCCESS ? calloc(count, sizeof(struct communicator *)) : NULL;
    if (joined == NULL) {
        return result == HCCL_SUCCESS ? HCCL_E_MEMORY : result;
    }
    result = join_all(count, devices, joined);
    for (uint32_t i = 0; result == HCCL_SUCCESS && i < count; i++) {
        comms[i] = joined[i]->handle;
    }
    free(joined);
    return result;
}

/* ---- some ranks of a group ------------------------------------------------------------------ */

/* All of its ranks must name it alike: by its number, and by the ranks it has. */
static char *name_of_group(uint64_t number, uint32_t count, const uint32_t *ranks)
{
    const size_t room = 32 + 11 * (size_t)count;
    char *name = malloc(room);
    size_t length = name == NULL ? 0 : (size_t)snprintf(name, room, "%llu:",
                                                        (unsigned long long)number);
    for (uint32_t i = 0; name != NULL && i < count; i++) {
        length += (size_t)snprintf(name + length, room - length, " %u", ranks[i]);
    }
    return name;
}

HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t count, uint32_t *ranks, uint64_t number,
                                   uint32_t rank, HcclCommConfig *config, HcclComm *made)
{
    const struct communicator *whole = mock_communicator_find(*comm);
    if (whole == NULL) {
        return HCCL_E_PTR;
    }
    if (ranks == NULL) { /* not among them */
        *made = NULL;
        return HCCL_SUCCESS;
    }
    if (rank >= count || ranks[rank] != whole->rank) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA,
                           "EI0003: subCommRankId is %u; it must be the place of rank %u in "
                           "rankIds, which has %u",
                           rank, whole->rank, count);
    }
    char *group = name_of_group(number, count, ranks);
    if (group == NULL) {
        return HCCL_E_MEMORY;
    }
    const struct mock_address address = whole->address;
    struct mock_rank_placement place = {&address, group, whole->device, rank, count, NULL};
    const HcclResult result = mock_communicator_create(&place, config, made);
    free(group);
    return result;
}
