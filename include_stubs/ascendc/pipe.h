/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPipe hands out the on-chip memory; events and barriers order the units of the core.
 */
#pragma once

#include "ascendc/queue.h"

namespace AscendC {

class TPipe {
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
            if (buffer.state == emulation::BufferState::Free || !buffer.queued) {
                buffer.state = emulation::BufferState::Retired;
            }
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

    template <TPosition from, TPosition to, int32_t depth, int32_t mask>
    bool InitBuffer(TQueBind<from, to, depth, mask> &queue, uint8_t count, uint32_t bytes,
                    emulation::Site site = emulation::Site::Here())
    {
        constexpr TPosition position = TQueBind<from, to, depth, mask>::position;
        const emulation::Call call("TPipe::InitBuffer", site);
        emulation::Core &core = emulation::Core::Current();
        if (queue.queue_ != nullptr &&
            queue.queue_->buffers.front()->state != emulation::BufferState::Retired) {
            call.Fail(emulation::rule::Queue, "queue", *queue.queue_->buffers.front(),
                      emulation::Text("the queue has its memory already, since line %d",
                                      queue.queue_->initialised.line));
        }
        if (count == 0) {
            call.Fail(emulation::rule::Queue, "queue", "a queue needs at least one buffer");
        }
        core.queues.push_back(
            {position, depth > 0 ? static_cast<uint32_t>(depth) : 1U, site, {}, {}});
        queue.queue_ = &core.queues.back();
        for (uint32_t number = 0; number < count; number++) {
            emulation::Buffer &buffer = Take(call, position, bytes);
            buffer.queued = true;
            buffer.number = number;
            queue.queue_->buffers.push_back(&buffer);
        }
        return true;
    }

    template <TPosition position>
    bool InitBuffer(TBuf<position> &buffer, uint32_t bytes,
                    emulation::Site site = emulation::Site::Here())
    {
        buffer.buffer_ = &Take(emulation::Call("TPipe::InitBuffer", site), position, bytes);
        return true;
    }

    template <HardEvent event> TEventID AllocEventID() { return NextEvent(); }
    template <HardEvent event> void ReleaseEventID(TEventID) {}
    TEventID FetchEventID(HardEvent) { return NextEvent(); }
    template <HardEvent event> TEventID FetchEventID() { return NextEvent(); }

 private:
    static emulation::Buffer &Take(const emulation::Call &call, TPosition position, uint32_t bytes)
    {
        emulation::Core &core = emulation::Core::Current();
        emulation::Arena &arena = core.ArenaOf(position);
        const uint64_t size = (uint64_t{bytes} + 31) / 32 * 32;
        if (bytes == 0) {
            call.Fail(emulation::rule::Capacity, "", "a buffer of 0 bytes was asked for");
        }
        if (arena.used + size > arena.bytes.size()) {
            call.Fail(emulation::rule::Capacity, "",
                      emulation::Text("%llu bytes do not fit: the %s of this chip has %zu bytes, "
                                      "of which %u are taken",
                                      static_cast<unsigned long long>(size),
                                      emulation::InUnifiedBuffer(position)
                                          ? "unified buffer"
                                          : "memory of the matrix unit",
                                      arena.bytes.size(), arena.used));
        }
        const uint32_t begin = arena.used;
        arena.used += static_cast<uint32_t>(size);
        arena.Forget(begin, static_cast<uint32_t>(size), emulation::Shadow::Unwritten);
        emulation::Buffer buffer{};
        buffer.arena = &arena;
        buffer.position = position;
        buffer.begin = begin;
        buffer.size = static_cast<uint32_t>(size);
        buffer.initialised = call.site;
        core.buffers.push_back(buffer);
        return core.buffers.back();
    }

    TEventID NextEvent() { return static_cast<TEventID>(next_event_++ % 8); }

    bool alive_ = false;
    int next_event_ = 0;
};

namespace emulation {

inline void SetEvent(Order order, int32_t id, Site site)
{
    const Call call("SetFlag", site);
    auto &flags = emulation::Core::Current().flags;
    for (const auto &flag : flags) {
        if (flag.order == order && flag.id == id) {
            call.Fail(rule::Synchronisation,
                      Text("event %d is set already, since line %d: WaitFlag it first",
                                      static_cast<int>(id), flag.site.line));
        }
    }
    flags.push_back({order, static_cast<int>(id), site});
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
    core.flags.erase(set);
    for (emulation::Buffer &buffer : core.buffers) {
        buffer.WaitedFor(order.first, order.second);
    }
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
    for (emulation::Buffer &buffer : emulation::Core::Current().buffers) {
        if (pipe == PIPE_ALL) {
            buffer.ordered = ~0U;
        }
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
