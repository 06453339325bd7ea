/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPipe hands out the on-chip memory, and pools hand out a part of it again; events and barriers
 * order the units of the core.
 */
#pragma once

#include "ascendc/queue.h"

namespace AscendC {

template <TPosition position, uint32_t buffers> class TBufPool;

namespace emulation {

/* The rest of a piece of on-chip memory: `used` moves with each allocation. */
struct Area {
    Arena &arena;
    uint32_t &used;
    uint32_t end;
};

/* Gives memory to queues, buffers and pools. */
class Source {
 public:
    template <TPosition from, TPosition to, int32_t depth, int32_t mask>
    bool InitBuffer(TQueBind<from, to, depth, mask> &queue, uint8_t count, uint32_t bytes,
                    Site site = Site::Here())
    {
        constexpr TPosition position = TQueBind<from, to, depth, mask>::position;
        const Call call("InitBuffer", site);
        Core &core = Core::Current();
        if (queue.queue_ != nullptr &&
            queue.queue_->buffers.front()->state != BufferState::Retired) {
            call.Fail(rule::Queue, "queue", *queue.queue_->buffers.front(),
                      Text("the queue has its memory already, since line %d",
                                      queue.queue_->initialised.line));
        }
        if (count == 0) {
            call.Fail(rule::Queue, "queue", "a queue needs at least one buffer");
        }
        core.queues.push_back(
            {position, depth > 0 ? static_cast<uint32_t>(depth) : 1U, site, {}, {}});
        queue.queue_ = &core.queues.back();
        for (uint32_t number = 0; number < count; number++) {
            Buffer &buffer = Take(call, position, bytes);
            buffer.queued = true;
            buffer.number = number;
            queue.queue_->buffers.push_back(&buffer);
        }
        return true;
    }

    template <TPosition position>
    bool InitBuffer(TBuf<position> &buffer, uint32_t bytes,
                    Site site = Site::Here())
    {
        buffer.buffer_ = &Take(Call("InitBuffer", site), position, bytes);
        return true;
    }

    /* A pool of its own memory, or of that of another one, which then rests. */
    template <TPosition position, uint32_t buffers>
    bool InitBufPool(TBufPool<position, buffers> &pool, uint32_t bytes,
                     Site site = Site::Here())
    {
        const Buffer &buffer = Take(Call("InitBufPool", site), position, bytes);
        pool.Begin(buffer.begin, buffer.size);
        return true;
    }

    template <TPosition position, uint32_t buffers, TPosition other, uint32_t others>
    bool InitBufPool(TBufPool<position, buffers> &pool, uint32_t bytes,
                     TBufPool<other, others> &shared,
                     Site site = Site::Here())
    {
        const Call call("InitBufPool", site);
        if (bytes > shared.end_ - shared.begin_ ||
            InUnifiedBuffer(position) != InUnifiedBuffer(other)) {
            call.Fail(rule::Capacity, "bufPool",
                      Text("%u bytes do not fit into the pool that it shares, which has %u: share "
                           "a larger one, of the same memory",
                           bytes, shared.end_ - shared.begin_));
        }
        pool.Begin(shared.begin_, bytes);
        return true;
    }

 protected:
    ~Source() = default;
    virtual Area AreaOf(const Call &call, TPosition position) = 0;
    virtual void Taken(Buffer &) {}

 private:
    Buffer &Take(const Call &call, TPosition position, uint32_t bytes)
    {
        Core &core = Core::Current();
        const Area area = AreaOf(call, position);
        Arena &arena = area.arena;
        const uint64_t size = (uint64_t{bytes} + 31) / 32 * 32;
        if (bytes == 0) {
            call.Fail(rule::Capacity, "", "a buffer of 0 bytes was asked for");
        }
        if (area.used + size > area.end) {
            call.Fail(rule::Capacity, "",
                      Text("%llu bytes do not fit: the %s of this chip has %zu bytes, of which %u "
                           "are left here",
                           static_cast<unsigned long long>(size),
                           InUnifiedBuffer(position) ? "unified buffer"
                                                     : "memory of the matrix unit",
                           arena.bytes.size(), area.end - area.used));
        }
        const uint32_t begin = area.used;
        area.used += static_cast<uint32_t>(size);
        arena.Renew(begin, static_cast<uint32_t>(size));
        Buffer buffer{};
        buffer.arena = &arena;
        buffer.position = position;
        buffer.begin = begin;
        buffer.size = static_cast<uint32_t>(size);
        buffer.initialised = call.site;
        core.buffers.push_back(buffer);
        Taken(core.buffers.back());
        return core.buffers.back();
    }
};

inline void Retire(Buffer &buffer)
{
    if (buffer.state == BufferState::Free || !buffer.queued) {
        buffer.state = BufferState::Retired;
    }
}

}  // namespace emulation

class TPipe : public emulation::Source {
 public:
    explicit TPipe(emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("TPipe", site);
        emulation::Core &core = emulation::Core::Current();
        if (core.pipe != nullptr) {
            call.Fail(emulation::rule::Queue,
                      emulation::Text("a core has one TPipe at a time, and the one of line %d is "
                                      "still there: pass it on by pointer, or Destroy it first",
                                      core.pipe_site.line));
        }
        core.pipe = this;
        alive_ = true;
        core.pipe_site = site;
    }
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;
    ~TPipe() { Destroy(); }

    void Init() {}

    /* Takes all memory back; queues and buffers must be set up again. */
    void Reset()
    {
        emulation::Core &core = emulation::Core::Current();
        for (emulation::Buffer &buffer : core.buffers) {
            emulation::Retire(buffer);
        }
        core.unified.used = core.matrix.used = 0;
    }

    void Destroy()
    {
        if (alive_) {
            Reset();
            emulation::Core::Current().pipe = nullptr;
            alive_ = false;
        }
    }

    template <HardEvent event> TEventID AllocEventID() { return NextEvent(); }
    template <HardEvent event> void ReleaseEventID(TEventID) {}
    TEventID FetchEventID(HardEvent) { return NextEvent(); }
    template <HardEvent event> TEventID FetchEventID() { return NextEvent(); }

 private:
    emulation::Area AreaOf(const emulation::Call &, TPosition position) override
    {
        emulation::Arena &arena = emulation::Core::Current().ArenaOf(position);
        return {arena, arena.used, static_cast<uint32_t>(arena.bytes.size())};
    }

    TEventID NextEvent() { return static_cast<TEventID>(next_event_++ % 8); }

    bool alive_ = false;
    int next_event_ = 0;
};

/* A part of the memory, of whose buffers Reset takes all back. */
template <TPosition position, uint32_t buffers = 4> class TBufPool : public emulation::Source {
 public:
    void Reset()
    {
        for (emulation::Buffer *buffer : own_) {
            emulation::Retire(*buffer);
        }
        own_.clear();
        used_ = begin_;
    }

 private:
    friend class emulation::Source;

    void Begin(uint32_t begin, uint32_t size)
    {
        begin_ = used_ = begin;
        end_ = begin + size;
    }

    emulation::Area AreaOf(const emulation::Call &call, TPosition of) override
    {
        if (end_ == 0 || emulation::InUnifiedBuffer(of) != emulation::InUnifiedBuffer(position)) {
            call.Fail(emulation::rule::Queue,
                      emulation::Text("the %s pool has no such memory: InitBufPool was never "
                                      "called on it, or a buffer of %s lies in another memory",
                                      emulation::PositionName(position),
                                      emulation::PositionName(of)));
        }
        return {emulation::Core::Current().ArenaOf(position), used_, end_};
    }

    void Taken(emulation::Buffer &buffer) override { own_.push_back(&buffer); }

    uint32_t begin_ = 0, used_ = 0, end_ = 0;
    std::vector<emulation::Buffer *> own_;
};

namespace emulation {

inline void SetEvent(Order order, int32_t id, Site site)
{
    const Call call("SetFlag", site);
    if (id < 0 || id > 7) {
        call.Fail(rule::Synchronisation,
                  Text("event %d does not exist: two units have the events 0 to 7", id));
    }
    Core &core = Core::Current();
    for (const auto &flag : core.flags) {
        if (flag.order == order && flag.id == id) {
            call.Fail(rule::Synchronisation,
                      Text("event %d is set already, since line %d: WaitFlag it first",
                                      static_cast<int>(id), flag.site.line));
        }
    }
    core.flags.push_back(
        {order, static_cast<int>(id), site, core.clocks.Mark().Reached(order.first)});
}

inline void WaitEvent(Order order, int32_t id, Site site)
{
    const emulation::Call call("WaitFlag", site);
    emulation::Core &core = emulation::Core::Current();
    const auto set = std::find_if(core.flags.begin(), core.flags.end(), [&](const auto &flag) {
        return flag.order == order && flag.id == id;
    });
    if (set == core.flags.end()) {
        call.Fail(emulation::rule::Synchronisation,
                  emulation::Text("event %d is not set; on the chip this waits for ever: SetFlag "
                                  "the same event and number first",
                                  static_cast<int>(id)));
    }
    core.clocks.Wait(order.second, set->done);
    core.flags.erase(set);
}

}  // namespace emulation

template <HardEvent event>
void SetFlag(int32_t id, emulation::Site site = emulation::Site::Here())
{
    emulation::SetEvent(emulation::OrderOf(event), id, site);
}

template <HardEvent event>
void WaitFlag(int32_t id, emulation::Site site = emulation::Site::Here())
{
    emulation::WaitEvent(emulation::OrderOf(event), id, site);
}

/* PIPE_ALL orders everything; the barrier of one unit only orders what is in order here anyhow. */
template <pipe_t pipe> void PipeBarrier()
{
    if (pipe == PIPE_ALL) {
        emulation::Core::Current().clocks.WaitForAll();
    }
}

/* An event of two units without a queue. */
template <pipe_t first, pipe_t second> struct TQueSync {
    void SetFlag(TEventID id, emulation::Site site = emulation::Site::Here())
    {
        emulation::SetEvent({first, second}, id, site);
    }
    void WaitFlag(TEventID id, emulation::Site site = emulation::Site::Here())
    {
        emulation::WaitEvent({first, second}, id, site);
    }
};

inline TPipe *GetTPipePtr() { return emulation::Core::Current().pipe; }

}  // namespace AscendC

inline void pipe_barrier(pipe_t pipe)
{
    if (pipe == PIPE_ALL) {
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}

/* The events by the names of their units, as older kernels order them. */
inline void set_flag(pipe_t first, pipe_t second, int32_t id,
                     AscendC::emulation::Site site = AscendC::emulation::Site::Here())
{
    AscendC::emulation::SetEvent({first, second}, id, site);
}

inline void wait_flag(pipe_t first, pipe_t second, int32_t id,
                      AscendC::emulation::Site site = AscendC::emulation::Site::Here())
{
    AscendC::emulation::WaitEvent({first, second}, id, site);
}
