/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the core that runs a block: its on-chip memory with a shadow of every byte, the
 * buffers and queues that lie in it, the arguments in global memory, the outstanding events.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ascendc/fault.h"
#include "ascendc/order.h"
#include "ascendc/params.h"
#include "ascendc/position.h"
#include "ascendc/turns.h"

/* The block that the thread runs, and their number. */
inline thread_local int64_t block_idx = 0, block_num = 0;

namespace AscendC {
class TPipe;
}

namespace AscendC::emulation {

enum class Family : uint32_t { A2 = 0, A3, Ascend950, Ascend310P, Ascend910, Ascend310B };

struct Chip {
    Family family;
    uint32_t unified_buffer; /* bytes */

    bool RegBase() const { return family == Family::Ascend950; }
};

/* State of a byte of on-chip memory. */
enum class Shadow : uint8_t { Unwritten, Written, Consumed };

/* On-chip memory: the unified buffer, or the substitute for the memory of the matrix unit. */
struct Arena {
    std::vector<uint8_t> bytes;
    std::vector<Shadow> shadow;
    std::vector<Accesses> accesses; /* of each 32 bytes */
    uint32_t used = 0;

    void Resize(uint32_t size)
    {
        bytes.assign(size, 0x7F); /* a NaN in every float type */
        shadow.assign(size, Shadow::Unwritten);
        accesses.assign((size + 31) / 32, {});
    }

    void Forget(uint32_t begin, uint32_t size, Shadow state)
    {
        std::fill_n(bytes.begin() + begin, size, uint8_t{0x7F});
        std::fill_n(shadow.begin() + begin, size, state);
    }

    /* Calls f with the accesses of each 32 bytes of a range. */
    template <typename F> void EachAccess(uint64_t begin, uint64_t size, F f)
    {
        for (uint64_t at = begin / 32; at * 32 < begin + size; at++) {
            f(accesses[at]);
        }
    }

    /* A new owner: what was done there before is ordered by how it got the memory. */
    void Renew(uint32_t begin, uint32_t size)
    {
        Forget(begin, size, Shadow::Unwritten);
        EachAccess(begin, size, [](Accesses &accesses) { accesses = {}; });
    }
};

enum class BufferState : uint8_t { Free, Allocated, Waiting, Taken, Retired };

/* A piece of on-chip memory that InitBuffer handed out. */
struct Buffer {
    Arena *arena;
    TPosition position;
    uint32_t begin, size;
    Site initialised;
    bool queued;              /* false: it belongs to a TBuf and is always there */
    uint32_t number = 0;      /* which one of its queue */
    BufferState state = BufferState::Free;
    uint32_t generation = 0;  /* counts AllocTensor: handles of an earlier one are stale */
    Site touched{};           /* where it last changed its state */
    Clocks enqueued{};        /* when it entered its queue */
    const char *consumer = ""; /* the call that used it up, and where */
    Site consumed{};
};

inline std::string Describe(const Buffer &buffer)
{
    const char *position = PositionName(buffer.position);
    return buffer.queued ? Text("buffer %u of a %s queue", buffer.number, position)
                         : Text("a %s buffer", position);
}

struct Queue {
    TPosition position;
    uint32_t depth;
    Site initialised;
    std::vector<Buffer *> buffers;
    std::deque<Buffer *> waiting;
};

/* An argument in global memory. */
struct Region {
    const char *name;
    uint8_t *data;
    size_t size;
    const char *dtype;            /* a TypeName, or "" if the host did not set it */
    std::vector<uint32_t> writer; /* per byte: the block that wrote it + 1; empty: none did */
    std::vector<uint32_t> reader; /* the same of reads, or SeveralReaders */
};

constexpr uint32_t AtomicWriter = 0xFFFFFFFFU, SeveralReaders = 0xFFFFFFFFU;

/* Effect of copies to global memory on the values there. */
enum class Atomic : uint8_t { None, Add, Max, Min };

/* State that the cores of a launch share. */
struct Launch {
    const Chip chip;
    std::deque<Region> &regions;
    const uint32_t blocks;
    std::function<void(uint32_t group, uint32_t part, bool cube)> start;
    uint32_t vectors;    /* vector cores */
    uint32_t arrived[3]; /* cores that came to SyncAll: vector cores, cube cores, of both kinds */
    std::map<uint64_t, uint32_t> flags; /* how often each was set */
    Turns turns;
    bool asks_key = false, has_key = false, wrote = false; /* branches by tiling key; results */
};

/* A core. A block is one vector core, or a cube core with one or two vector cores. */
class Core {
 public:
    Core(Launch &launch, uint32_t group, uint32_t part, bool cube)
        : launch(launch), group(group), part(part), cube(cube), block(group),
          blocks(launch.blocks), chip(launch.chip), regions(launch.regions)
    {
        unified.Resize(chip.unified_buffer);
        CurrentSlot() = this;
        block_idx = block;
        block_num = blocks;
    }
    Core(const Core &) = delete;
    Core &operator=(const Core &) = delete;
    ~Core() { CurrentSlot() = nullptr; }

    static Core &Current() { return *CurrentSlot(); }

    static Core *&CurrentSlot()
    {
        static thread_local Core *current = nullptr;
        return current;
    }

    Arena &ArenaOf(TPosition position)
    {
        if (InUnifiedBuffer(position)) {
            return unified;
        }
        if (matrix.bytes.empty()) {
            matrix.Resize(1U << 20);
        }
        return matrix;
    }

    /* After the kernel: what it forgot to give back or to wait for. */
    void Finish() const
    {
        for (const Queue &queue : queues) {
            for (const Buffer *buffer : queue.buffers) {
                FinishBuffer(*buffer);
            }
        }
        for (const Flag &flag : flags) {
            throw Fault{rule::Synchronisation, "SetFlag", "", "", {}, flag.site,
                        Text("the event %d is set here and nothing waits for it: every SetFlag "
                             "needs its WaitFlag",
                             flag.id)};
        }
    }

    struct Flag {
        Order order;
        int id;
        Site site;
        Done done;
    };

    /* Makes the block one of a cube core and of so many vector cores. */
    void Mix(uint32_t vectors)
    {
        if (mixed == 0 && !cube && part == 0) {
            for (uint32_t other = 1; other < vectors; other++) {
                launch.start(group, other, false);
            }
            launch.start(group, 0, true);
        }
        mixed = vectors;
        block_idx = block = cube ? group : group * vectors + part;
    }

    /* Lets other cores run; what they did meanwhile is ordered before what follows. */
    bool WaitUntil(std::function<bool()> ready)
    {
        const bool held = launch.turns.WaitUntil(std::move(ready));
        *running = group;
        for (Region &region : regions) {
            region.writer.clear();
            region.reader.clear();
        }
        return held;
    }

    /* Its number in marks of what it wrote; 0 marks nobody. */
    uint32_t Writer() const { return group * 3 + (cube ? 2 : part) + 1; }

    Launch &launch;
    const uint32_t group, part; /* of the block, and of its vector cores */
    bool cube;
    uint32_t block; /* what GetBlockIdx gives */
    const uint32_t blocks;
    uint32_t mixed = 0; /* vector cores of the block; 0: nothing said so */
    bool declared = false; /* the kernel said of which cores its blocks are */
    std::map<uint16_t, uint32_t> waited; /* how often, by flag between cores */
    uint32_t *running = nullptr;
    const Chip chip;
    std::deque<Region> &regions;
    Arena unified, matrix;
    std::deque<Buffer> buffers; /* a deque: tensors point to them */
    std::deque<Queue> queues;
    std::vector<Flag> flags;
    Clocks clocks;
    TPipe *pipe = nullptr;
    struct {
        bool counts = false; /* elements of all repeats, not bits of one */
        uint64_t words[2] = {~uint64_t{0}, ~uint64_t{0}};
    } mask;
    std::optional<std::vector<uint8_t>> compared; /* the bits of the compare mask */
    Atomic atomic = Atomic::None;
    std::optional<float> deq_scale; /* of SetDeqScale */
    Site pipe_site{};

 private:
    static void FinishBuffer(const Buffer &buffer)
    {
        if (buffer.state == BufferState::Waiting) {
            throw Fault{rule::Queue, "EnQue", "", Describe(buffer), buffer.initialised,
                        buffer.touched,
                        "the tensor put into its queue here was never taken out: DeQue is "
                        "missing"};
        }
        if (buffer.state == BufferState::Allocated || buffer.state == BufferState::Taken) {
            throw Fault{rule::Queue,
                        buffer.state == BufferState::Taken ? "DeQue" : "AllocTensor", "",
                        Describe(buffer), buffer.initialised, buffer.touched,
                        "the tensor taken here was never given back: FreeTensor is missing"};
        }
    }
};

/* A call of the interface, as reports name it. */
struct Call {
    const char *api;
    Site site;

    Call(const char *api, Site site) : api(api), site(site) { Last() = {api, site}; }

    /* The last call that began, for the report of a crash. */
    struct Trace {
        const char *api;
        Site site;
    };
    static Trace &Last()
    {
        static thread_local Trace last{"", {}};
        return last;
    }

    [[noreturn]] void Fail(const char *rule, const std::string &message) const
    {
        throw Fault{rule, api, "", "", {}, site, message};
    }

    [[noreturn]] void Fail(const char *rule, const char *tensor, const Buffer &buffer,
                           const std::string &message) const
    {
        throw Fault{rule, api, tensor, Describe(buffer), buffer.initialised, site, message};
    }

    [[noreturn]] void Fail(const char *rule, const char *tensor, const std::string &message) const
    {
        throw Fault{rule, api, tensor, "", {}, site, message};
    }
};

/* Run a kernel for each block; `block` is the one that runs. */
template <typename Kernel>
void RunBlocks(uint32_t &block, uint32_t blocks, const Chip &chip, std::deque<Region> &regions,
               Kernel kernel)
{
    Launch launch{chip, regions, blocks, {}, 0, {}, {}, {}, false, false, false};
    launch.start = [&](uint32_t group, uint32_t part, bool cube) {
        launch.vectors += cube ? 0 : 1;
        launch.turns.Add([&, group, part, cube] {
            Core core(launch, group, part, cube);
            core.running = &block;
            block = group;
            kernel();
            core.Finish();
        });
    };
    for (uint32_t group = 0; group < blocks; group++) {
        launch.start(group, 0, false);
    }
    launch.turns.Run();
    if (launch.asks_key && !launch.has_key && !launch.wrote) {
        throw Fault{rule::Tiling, "TILING_KEY_IS", "", "", {}, {},
                    "the kernel has no branch for its tiling key, and wrote nothing: define "
                    "TILING_KEY_VAR as one of its keys, or as 0 if that is right"};
    }
}

template <typename Tensor> void PrintElements(const Tensor &tensor, uint32_t count, Site site)
{
    for (uint32_t i = 0; i < count; i++) {
        std::printf(i == 0 ? "[%g" : ", %g", static_cast<double>(tensor.GetValue(i, site)));
    }
    std::printf("]\n");
}

/* A kernel's branch: its key is known when it is compiled. A key that was chosen needs none. */
inline bool TilingKeyIs(bool chosen, uint64_t own, uint64_t key)
{
    Launch &launch = Core::Current().launch;
    launch.asks_key = true;
    launch.has_key = launch.has_key || chosen || own == key;
    return own == key;
}

}  // namespace AscendC::emulation
