/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of HCCL on two devices, as its samples make the communicators: all at once or by
 * root info or a rank table, with a thread for each rank; by a table, with a process for each. */
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int status = static_cast<int>(call);                                                 \
        if (status != 0) {                                                                         \
            std::printf("%s: %d\n", #call, status);                                                \
            return status;                                                                         \
        }                                                                                          \
    } while (0)

constexpr uint64_t COUNT = 8, RANKS = 2, ALL = COUNT * RANKS;
constexpr HcclDataType FLOAT = HCCL_DATA_TYPE_FP32;
constexpr const char *NAMES[] = {"AllReduce", "Broadcast", "AllGather",  "ReduceScatter",
                                 "Reduce",    "Scatter",   "AlltoAll",   "AlltoAllV",
                                 "AlltoAllVC", "SendRecv", "BatchSendRecv", "GroupSendRecv",
                                 "BatchToAll"};

static float Given(uint64_t rank, uint64_t i) { return 100.0F * rank + i; }
static float Summed(uint64_t i) { return Given(0, i) + Given(1, i); }

static int Queue(const std::string &name, void *from, void *to, uint32_t rank, HcclComm comm,
                 aclrtStream stream)
{
    const uint64_t counts[] = {COUNT, COUNT, COUNT, COUNT}, starts[] = {0, COUNT};
    const uint32_t other = 1 - rank;
    if (name == "AllReduce") {
        CHECK(HcclAllReduce(from, to, COUNT, FLOAT, HCCL_REDUCE_SUM, comm, stream));
    } else if (name == "Broadcast") {
        CHECK(aclrtMemcpyAsync(to, COUNT * 4, from, COUNT * 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        CHECK(HcclBroadcast(to, COUNT, FLOAT, 1, comm, stream));
    } else if (name == "AllGather") {
        CHECK(HcclAllGather(from, to, COUNT, FLOAT, comm, stream));
    } else if (name == "ReduceScatter") {
        CHECK(HcclReduceScatter(from, to, COUNT, FLOAT, HCCL_REDUCE_SUM, comm, stream));
    } else if (name == "Reduce") {
        CHECK(HcclReduce(from, to, COUNT, FLOAT, HCCL_REDUCE_MAX, 0, comm, stream));
    } else if (name == "Scatter") {
        CHECK(HcclScatter(from, to, COUNT, FLOAT, 0, comm, stream));
    } else if (name == "AlltoAll") {
        CHECK(HcclAlltoAll(from, COUNT, FLOAT, to, COUNT, FLOAT, comm, stream));
    } else if (name == "AlltoAllV") {
        CHECK(HcclAlltoAllV(from, counts, starts, FLOAT, to, counts, starts, FLOAT, comm, stream));
    } else if (name == "AlltoAllVC") {
        CHECK(HcclAlltoAllVC(from, counts, FLOAT, to, FLOAT, comm, stream));
    } else if (name == "SendRecv" && rank == 0) {
        CHECK(HcclSend(from, COUNT, FLOAT, 1, comm, stream));
    } else if (name == "SendRecv") {
        CHECK(HcclRecv(to, COUNT, FLOAT, 0, comm, stream));
    } else if (name == "GroupSendRecv") { /* both ranks send first: alone, neither would go on */
        bool open = false;
        CHECK(HcclGroupStart());
        CHECK(HcclGroupStart());
        CHECK(HcclSend(from, COUNT, FLOAT, other, comm, stream));
        CHECK(HcclGroupEnd());
        CHECK(HcclRecv(to, COUNT, FLOAT, other, comm, stream));
        CHECK(HcclGroupStatusGet(&open));
        CHECK(open ? 0 : 1);
        CHECK(HcclGroupEnd());
        CHECK(HcclGroupStatusGet(&open));
        CHECK(open ? 1 : HcclGroupEnd() == HCCL_E_PARA ? 0 : 2);
    } else if (name == "BatchToAll") { /* a message to and from each rank, its own among them */
        const uint64_t mine = rank * COUNT, others = other * COUNT;
        float *const sent = static_cast<float *>(from), *const received = static_cast<float *>(to);
        HcclSendRecvItem items[] = {{HCCL_SEND, sent + mine, COUNT, FLOAT, rank},
                                    {HCCL_SEND, sent + others, COUNT, FLOAT, other},
                                    {HCCL_RECV, received + others, COUNT, FLOAT, other},
                                    {HCCL_RECV, received + mine, COUNT, FLOAT, rank}};
        CHECK(HcclBatchSendRecv(items, 4, comm, stream));
    } else {
        HcclSendRecvItem items[] = {{HCCL_SEND, from, COUNT, FLOAT, other},
                                    {HCCL_RECV, to, COUNT, FLOAT, other}};
        CHECK(HcclBatchSendRecv(items, 2, comm, stream));
    }
    return 0;
}

static std::vector<float> Expected(const std::string &name, uint64_t rank)
{
    const uint64_t other = 1 - rank, mine = rank * COUNT;
    std::vector<float> values(ALL);
    const bool all = name == "BatchToAll" || name.rfind("AlltoAll", 0) == 0;
    const bool second = name == "AllGather" || all;
    for (uint64_t i = 0; i < (second ? ALL : COUNT); i++) {
        const uint64_t from = i / COUNT, at = i % COUNT;
        values[i] = name == "AllReduce"       ? Summed(i)
                    : name == "Broadcast"     ? Given(1, i)
                    : name == "AllGather"     ? Given(from, at)
                    : name == "ReduceScatter" ? Summed(mine + i)
                    : name == "Reduce"        ? (rank == 0 ? Given(1, i) : 0)
                    : name == "Scatter"       ? Given(0, mine + i)
                    : second                  ? Given(from, mine + at)
                    : name == "SendRecv"      ? (rank == 1 ? Given(0, i) : 0)
                                              : Given(other, i);
    }
    return values;
}

static int Rank(uint32_t rank, std::function<HcclResult(HcclComm *)> join)
{
    HcclComm comm = nullptr;
    aclrtStream stream;
    void *from, *to;
    std::vector<float> values(ALL);
    CHECK(aclrtSetDevice(rank));
    CHECK(join(&comm));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&from, ALL * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&to, ALL * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    for (uint64_t i = 0; i < ALL; i++) {
        values[i] = Given(rank, i);
    }
    CHECK(aclrtMemcpy(from, ALL * 4, values.data(), ALL * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    for (const char *name : NAMES) {
        CHECK(aclrtMemset(to, ALL * 4, 0, ALL * 4));
        CHECK(Queue(name, from, to, rank, comm, stream));
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtMemcpy(values.data(), ALL * 4, to, ALL * 4, ACL_MEMCPY_DEVICE_TO_HOST));
        std::printf("%u %s %s\n", rank, name, values == Expected(name, rank) ? "right" : "wrong");
    }
    CHECK(aclrtFree(from));
    CHECK(aclrtFree(to));
    CHECK(HcclCommDestroy(comm));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(rank));
    return 0;
}

static int Process(uint32_t rank, const char *table)
{
    CHECK(aclInit(nullptr));
    CHECK(Rank(rank, [&](HcclComm *comm) { return HcclCommInitClusterInfo(table, rank, comm); }));
    CHECK(aclFinalize());
    return 0;
}

int main(int, char **words)
{
    const std::string way = words[1];
    int failed = 0;
    if (way == "table") {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            if (fork() == 0) {
                failed = Process(rank, words[2]);
                std::fflush(stdout);
                _exit(failed != 0);
            }
        }
        for (int status; wait(&status) > 0;) {
            failed |= status;
        }
        return failed != 0;
    }
    HcclRootInfo root;
    HcclComm comms[RANKS] = {};
    int32_t devices[] = {0, 1};
    CHECK(aclInit(nullptr));
    if (way == "all") {
        CHECK(HcclCommInitAll(RANKS, devices, comms));
    } else if (way == "root") {
        CHECK(HcclGetRootInfo(&root));
    }
    std::vector<std::thread> threads;
    int results[RANKS];
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        threads.emplace_back([&, rank] {
            results[rank] = Rank(rank, [&](HcclComm *comm) {
                *comm = comms[rank];
                if (way == "threads") {
                    return HcclCommInitClusterInfo(words[2], rank, comm);
                }
                return way == "all" ? HCCL_SUCCESS : HcclCommInitRootInfo(RANKS, &root, rank, comm);
            });
        });
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        threads[rank].join();
        failed |= results[rank];
    }
    CHECK(aclFinalize());
    return failed != 0;
}
