/* SPDX-License-Identifier: Apache-2.0 */
/* A sum over ranks: "ranks all N", N devices of this process, a thread each; "ranks RANK N FILE", one
 * of N processes, of which rank 0 leaves the root info in a file. C that is C++ as well. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

enum { COUNT = 1000, ROUNDS = 5, MOST_RANKS = 8 };

static uint32_t ranks;
static HcclComm comms[MOST_RANKS];

static void must(int status)
{
    if (status != 0) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "%d: %s\n", status, text == NULL ? "" : text);
        exit(3);
    }
}

/* Every round the sum of what the last one has given: rank r begins with r + 1. */
static void *take_part(void *which)
{
    const uint32_t rank = *(const uint32_t *)which;
    const size_t bytes = COUNT * sizeof(float);
    float values[COUNT], expected = 0;
    void *here, *there;
    aclrtStream stream;
    must(aclrtSetDevice((int32_t)rank));
    must(aclrtCreateStream(&stream));
    must(aclrtMalloc(&here, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    must(aclrtMalloc(&there, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)(rank + 1);
    }
    must(aclrtMemcpy(here, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    for (int round = 0; round < ROUNDS; round++) {
        must(HcclAllReduce(here, there, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank],
                           stream));
        must(aclrtMemcpyAsync(here, bytes, there, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        expected = round == 0 ? (float)(ranks * (ranks + 1) / 2) : expected * (float)ranks;
    }
    must(HcclBarrier(comms[rank], stream));
    must(aclrtSynchronizeStream(stream));
    must(aclrtMemcpy(values, bytes, there, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < COUNT; i++) {
        if (values[i] != expected) {
            fprintf(stderr, "rank %u: %g, not %g\n", rank, (double)values[i], (double)expected);
            exit(4);
        }
    }
    must(aclrtFree(here));
    must(aclrtFree(there));
    must(aclrtDestroyStream(stream));
    must(HcclCommDestroy(comms[rank]));
    must(aclrtResetDevice((int32_t)rank));
    return NULL;
}

static void all_here(void)
{
    int32_t devices[MOST_RANKS];
    uint32_t numbers[MOST_RANKS];
    pthread_t threads[MOST_RANKS];
    for (uint32_t i = 0; i < ranks; i++) {
        devices[i] = (int32_t)i;
        numbers[i] = i;
    }
    must(HcclCommInitAll(ranks, devices, comms));
    for (uint32_t i = 0; i < ranks; i++) {
        must(pthread_create(&threads[i], NULL, take_part, &numbers[i]));
    }
    for (uint32_t i = 0; i < ranks; i++) {
        must(pthread_join(threads[i], NULL));
    }
}

static void leave_root_info(const HcclRootInfo *info, const char *path)
{
    char part[4096];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "wb");
    if (file == NULL || fwrite(info, sizeof *info, 1, file) != 1 || fclose(file) != 0 ||
        rename(part, path) != 0) {
        must(5);
    }
}

static void find_root_info(HcclRootInfo *info, const char *path)
{
    FILE *file = NULL;
    while ((file = fopen(path, "rb")) == NULL) {
        usleep(10000);
    }
    if (fread(info, sizeof *info, 1, file) != 1) {
        must(6);
    }
    fclose(file);
}

static void one_of_several(uint32_t rank, const char *path)
{
    HcclRootInfo info;
    must(aclrtSetDevice((int32_t)rank));
    if (rank == 0) {
        must(HcclGetRootInfo(&info));
        leave_root_info(&info, path);
    } else {
        find_root_info(&info, path);
    }
    must(HcclCommInitRootInfo(ranks, &info, rank, &comms[rank]));
    take_part(&rank);
    must(aclrtResetDevice((int32_t)rank));
}

int main(int count, char **words)
{
    if (count < 3) {
        return 2;
    }
    ranks = (uint32_t)atoi(words[2]);
    must(aclInit(NULL));
    if (strcmp(words[1], "all") == 0) {
        all_here();
    } else {
        one_of_several((uint32_t)atoi(words[1]), words[3]);
    }
    must(aclFinalize());
    return 0;
}
