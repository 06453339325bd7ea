/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues and buffers. A tensor of a queue goes round: AllocTensor, EnQue, DeQue, FreeTensor; the
 * way through the queue is also what orders the unit that fills it and the unit that reads it.
 */
#pragma once

#include <algorithm>

#include "ascendc/operand.h"

namespace AscendC {

namespace emulation {
class Source;
}

template <TPosition from, TPosition to, int32_t depth, int32_t mask = 0> class TQueBind {
 public:
    template <typename T>
    LocalTensor<T> AllocTensor(emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("AllocTensor", site);
        for (emulation::Buffer *buffer : Queue(call).buffers) {
            if (buffer->state == emulation::BufferState::Free) {
                Enter(*buffer, emulation::BufferState::Allocated, site);
                buffer->generation++;
                buffer->arena->Renew(buffer->begin, buffer->size);
                return emulation::Maker::Make<T>(*buffer, 0, buffer->size);
            }
        }
        const emulation::Buffer &oldest = *queue_->buffers.front();
        call.Fail(emulation::rule::Queue, "", oldest,
                  emulation::Text("all %zu buffers of the queue are in use, the first since line "
                                  "%d; on the chip this waits for ever: FreeTensor one, or "
                                  "InitBuffer with more",
                                  queue_->buffers.size(), oldest.touched.line));
    }

    template <typename T>
    bool EnQue(const LocalTensor<T> &tensor, emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("EnQue", site);
        emulation::Buffer &buffer = Own(call, tensor);
        if (buffer.state == emulation::BufferState::Waiting) {
            call.Fail(emulation::rule::Queue, "tensor", buffer,
                      emulation::Text("it is in the queue already, since line %d",
                                      buffer.touched.line));
        }
        if (queue_->waiting.size() >= queue_->depth) {
            call.Fail(emulation::rule::Queue, "tensor", buffer,
                      emulation::Text("the queue has depth %u and %zu tensors in it: DeQue one "
                                      "first, or declare it deeper",
                                      queue_->depth, queue_->waiting.size()));
        }
        Enter(buffer, emulation::BufferState::Waiting, site);
        buffer.enqueued = emulation::Core::Current().clocks.Mark();
        queue_->waiting.push_back(&buffer);
        return true;
    }

    /* One of the two ways that a tensor goes through a queue of two positions. */
    template <TPosition source, TPosition target, typename T>
    bool EnQue(const LocalTensor<T> &tensor, emulation::Site site = emulation::Site::Here())
    {
        return EnQue(tensor, site);
    }

    template <typename T> LocalTensor<T> DeQue(emulation::Site site = emulation::Site::Here())
    {
        return DeQue<from, to, T>(site);
    }

    template <typename T>
    void DeQue(LocalTensor<T> &tensor, emulation::Site site = emulation::Site::Here())
    {
        tensor = DeQue<T>(site);
    }

    template <typename T>
    void AllocTensor(LocalTensor<T> &tensor, emulation::Site site = emulation::Site::Here())
    {
        tensor = AllocTensor<T>(site);
    }

    template <TPosition source, TPosition target, typename T>
    LocalTensor<T> DeQue(emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("DeQue", site);
        if (Queue(call).waiting.empty()) {
            call.Fail(emulation::rule::Queue, "", *queue_->buffers.front(),
                      "the queue is empty; on the chip this gives garbage: EnQue a tensor first");
        }
        emulation::Buffer &buffer = *queue_->waiting.front();
        queue_->waiting.pop_front();
        Enter(buffer, emulation::BufferState::Taken, site);
        emulation::Core::Current().clocks.Wait(
            emulation::PlaceOf(target).consumer,
            buffer.enqueued.Reached(emulation::PlaceOf(source).producer));
        return emulation::Maker::Make<T>(buffer, 0, buffer.size);
    }

    template <typename T>
    void FreeTensor(const LocalTensor<T> &tensor, emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("FreeTensor", site);
        emulation::Buffer &buffer = Own(call, tensor);
        if (buffer.state == emulation::BufferState::Waiting) {
            call.Fail(emulation::rule::Queue, "tensor", buffer,
                      emulation::Text("it waits in the queue since EnQue in line %d: DeQue it "
                                      "before it is given back",
                                      buffer.touched.line));
        }
        Enter(buffer, emulation::BufferState::Free, site);
    }

    bool HasTensorInQue() const { return queue_ != nullptr && !queue_->waiting.empty(); }
    int32_t GetTensorCountInQue() const
    {
        return queue_ == nullptr ? 0 : static_cast<int32_t>(queue_->waiting.size());
    }
    bool VacantInQue() const
    {
        return queue_ != nullptr && queue_->waiting.size() < queue_->depth;
    }

 private:
    friend class emulation::Source;

    static constexpr TPosition position = from == TPosition::GM ? to : from;

    static void Enter(emulation::Buffer &buffer, emulation::BufferState state, emulation::Site site)
    {
        buffer.state = state;
        buffer.touched = site;
    }

    emulation::Queue &Queue(const emulation::Call &call) const
    {
        if (queue_ == nullptr ||
            queue_->buffers.front()->state == emulation::BufferState::Retired) {
            call.Fail(emulation::rule::Queue,
                      emulation::Text("the %s queue has no memory: TPipe::InitBuffer was never "
                                      "called on it, or its TPipe is gone",
                                      emulation::PositionName(position)));
        }
        return *queue_;
    }

    /* The buffer of a tensor, which must be one of this queue's and in use. */
    template <typename T>
    emulation::Buffer &Own(const emulation::Call &call, const LocalTensor<T> &tensor) const
    {
        const auto &own = Queue(call).buffers;
        emulation::Buffer *buffer = emulation::Maker::BufferOf(tensor);
        if (buffer == nullptr) {
            call.Fail(emulation::rule::Queue, "tensor",
                      "it is a tensor that no queue and no buffer gave out");
        }
        if (std::find(own.begin(), own.end(), buffer) == own.end()) {
            call.Fail(emulation::rule::Queue, "tensor", *buffer,
                      emulation::Text("it belongs to another queue or buffer than this %s queue",
                                      emulation::PositionName(position)));
        }
        if (buffer->state == emulation::BufferState::Free || emulation::Maker::Stale(tensor)) {
            call.Fail(emulation::rule::Queue, "tensor", *buffer,
                      emulation::Text("it was given back with FreeTensor in line %d already",
                                      buffer->touched.line));
        }
        return *buffer;
    }

    emulation::Queue *queue_ = nullptr;
};

template <TPosition position, int32_t depth = 1, int32_t mask = 0>
class TQue : public TQueBind<position, position, depth, mask> {
};

/* Memory without a queue: its tensors are always there and keep their contents. */
template <TPosition position = TPosition::VECCALC> class TBuf {
 public:
    template <typename T> LocalTensor<T> Get(emulation::Site site = emulation::Site::Here())
    {
        emulation::Buffer &buffer = Memory(emulation::Call("TBuf::Get", site));
        return emulation::Maker::Make<T>(buffer, 0, buffer.size);
    }

    template <typename T>
    LocalTensor<T> Get(uint32_t elements, emulation::Site site = emulation::Site::Here())
    {
        return GetWithOffset<T>(elements, 0, site);
    }

    template <typename T>
    LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t first_byte,
                                 emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("TBuf::Get", site);
        emulation::Buffer &buffer = Memory(call);
        if (first_byte + uint64_t{elements} * sizeof(T) > buffer.size) {
            call.Fail(emulation::rule::Bounds, "", buffer,
                      emulation::Text("%u elements of %s from byte %u on do not fit into %u bytes",
                                      elements, emulation::TypeName<T>(), first_byte, buffer.size));
        }
        return emulation::Maker::Make<T>(buffer, first_byte,
                                         elements * static_cast<uint32_t>(sizeof(T)));
    }

 private:
    friend class emulation::Source;

    emulation::Buffer &Memory(const emulation::Call &call) const
    {
        if (buffer_ == nullptr || buffer_->state == emulation::BufferState::Retired) {
            call.Fail(emulation::rule::Queue,
                      emulation::Text("the %s buffer has no memory: TPipe::InitBuffer was never "
                                      "called on it, or its TPipe is gone",
                                      emulation::PositionName(position)));
        }
        return *buffer_;
    }

    emulation::Buffer *buffer_ = nullptr;
};

}  // namespace AscendC
