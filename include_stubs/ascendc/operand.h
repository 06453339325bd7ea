/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operand: a LocalTensor in its role in one call. Every byte that the interface reads or writes
 * passes here, and so does every check of on-chip memory.
 */
#pragma once

#include <cstring>

#include "ascendc/local_tensor.h"

namespace AscendC::emulation {

constexpr uint32_t BlockBytes = 32;  /* what the vector unit loads at once, and its alignment */
constexpr uint32_t RepeatBytes = 256; /* what it computes at once */

template <typename T> class Operand {
 public:
    /* A tensor that unit `pipe` reads or writes; it must be alive and not wait in a queue. */
    Operand(const Call &call, const char *name, const LocalTensor<T> &tensor, pipe_t pipe = PIPE_V)
        : call_(call), name_(name), tensor_(tensor), buffer_(tensor.buffer_), pipe_(pipe),
          reader_(pipe)
    {
        if (buffer_ == nullptr) {
            call.Fail(rule::Queue, name,
                      Text("%s is a tensor that no queue and no buffer gave out: take it from "
                           "AllocTensor, DeQue or TBuf::Get",
                           name));
        }
        if (buffer_->state == BufferState::Retired) {
            Fail(rule::Queue, "its TPipe is gone and with it its memory");
        }
        if (buffer_->queued) {
            if (tensor.generation_ != buffer_->generation || buffer_->state == BufferState::Free) {
                Fail(rule::Queue, Text("it was given back with FreeTensor in line %d",
                                       buffer_->touched.line));
            }
            if (buffer_->state == BufferState::Waiting) {
                Fail(rule::Queue, Text("it waits in its queue since EnQue in line %d: take it out "
                                       "with DeQue first",
                                       buffer_->touched.line));
            }
        }
    }

    /* The scalar unit uses it: it is ordered by what that unit or the vector unit waited for. */
    Operand &ByScalar()
    {
        reader_ = PIPE_S;
        return *this;
    }

    /* The vector unit works in the unified buffer only, from 32-byte boundaries on. */
    Operand &InVectorMemory()
    {
        if (!InUnifiedBuffer(buffer_->position)) {
            Fail(rule::Position, Text("it lies in %s; it must lie in VECIN, VECCALC or VECOUT",
                                      PositionName(buffer_->position)));
        }
        return *this;
    }

    Operand &Aligned()
    {
        const uint32_t off = tensor_.begin_ % BlockBytes;
        if (off != 0) {
            Fail(rule::Alignment, Text("it begins %u bytes behind a 32-byte boundary; it must "
                                       "begin on one",
                                       off));
        }
        return *this;
    }

    /* So many elements from the first on must be there. */
    Operand &Holds(uint64_t elements)
    {
        if (elements > tensor_.size_) {
            Fail(rule::Bounds, Text("element %llu is needed; it has %u elements of %s",
                                    static_cast<unsigned long long>(elements - 1), tensor_.size_,
                                    TypeName<T>()));
        }
        Extent(0, elements * sizeof(T));
        return *this;
    }

    T Load(uint64_t index) const
    {
        if constexpr (kPacked<T>) {
            return T(*Read(index / 2, 1) >> (index % 2 * 4));
        }
        T value;
        std::memcpy(&value, Read(index * sizeof(T), sizeof(T)), sizeof(T));
        return value;
    }

    /* Returns whether an element has contents. */
    bool Written(uint64_t index) const
    {
        return buffer_->arena->shadow[Extent(index * sizeof(T), sizeof(T))] == Shadow::Written;
    }

    void Store(uint64_t index, T value) const
    {
        if constexpr (kPacked<T>) {
            uint8_t *byte = Write(index / 2, 1);
            *byte = static_cast<uint8_t>(index % 2 == 0 ? (*byte & 0xF0) | value.bits
                                                        : (*byte & 0x0F) | value.bits << 4);
            return;
        }
        std::memcpy(Write(index * sizeof(T), sizeof(T)), &value, sizeof(T));
    }

    /* Bytes to be read, counted from the tensor's first one. */
    const uint8_t *Read(uint64_t first, uint64_t count) const
    {
        const uint64_t begin = Extent(first, count);
        for (uint64_t i = begin; i < begin + count; i++) {
            if (buffer_->arena->shadow[i] != Shadow::Written) {
                Unreadable(buffer_->arena->shadow[i], (first + i - begin) / sizeof(T));
            }
        }
        const Clocks &clocks = Core::Current().clocks;
        buffer_->arena->EachAccess(begin, count, [&](Accesses &accesses) {
            if (!FollowsWrite(accesses)) {
                Unordered(accesses.Writer(), "wrote", accesses.LineOfWrite(), "reads");
            }
            if (reader_ != PIPE_S) { /* that unit has what it reads before it goes on */
                accesses.Read(pipe_, clocks.Now(), call_.site.line);
            }
        });
        return &buffer_->arena->bytes[begin];
    }

    uint8_t *Write(uint64_t first, uint64_t count) const
    {
        const uint64_t begin = Extent(first, count);
        std::fill_n(buffer_->arena->shadow.begin() + static_cast<ptrdiff_t>(begin), count,
                    Shadow::Written);
        WrittenNow(begin, count);
        return &buffer_->arena->bytes[begin];
    }

    /* The call used the contents up (isReuseSource), or left something of its own (temporaries). */
    void Consume(uint64_t elements) const
    {
        const uint64_t begin = Extent(0, elements * sizeof(T));
        buffer_->arena->Forget(static_cast<uint32_t>(begin),
                               static_cast<uint32_t>(elements * sizeof(T)), Shadow::Consumed);
        buffer_->consumer = call_.api;
        buffer_->consumed = call_.site;
        WrittenNow(begin, elements * sizeof(T));
    }

    template <typename U> bool Overlaps(const Operand<U> &other) const
    {
        return buffer_->arena == other.buffer_->arena &&
               tensor_.begin_ < other.tensor_.begin_ + uint64_t{other.tensor_.size_} * sizeof(U) &&
               other.tensor_.begin_ < tensor_.begin_ + uint64_t{tensor_.size_} * sizeof(T);
    }

    template <typename U> bool Starts(const Operand<U> &other) const
    {
        return buffer_->arena == other.buffer_->arena && tensor_.begin_ == other.tensor_.begin_;
    }

    /* Bytes that this tensor begins behind another one in the same memory; else negative. */
    template <typename U> int64_t Behind(const Operand<U> &other) const
    {
        const bool same = buffer_->arena == other.buffer_->arena;
        return same ? int64_t{tensor_.begin_} - int64_t{other.tensor_.begin_} : -1;
    }

    uint32_t Size() const { return tensor_.size_; }
    const char *Name() const { return name_; }

    [[noreturn]] void Fail(const char *rule, const std::string &message) const
    {
        call_.Fail(rule, name_, *buffer_, std::string(name_) + ": " + message);
    }

 private:
    template <typename U> friend class Operand;

    /* Checks a range of bytes and gives its place in the arena. */
    uint64_t Extent(uint64_t first, uint64_t count) const
    {
        const uint64_t begin = tensor_.begin_ + first;
        const uint64_t own = BytesOf<T>(tensor_.size_);
        if (first + count > own || begin < buffer_->begin ||
            begin + count > uint64_t{buffer_->begin} + buffer_->size) {
            Fail(rule::Bounds,
                 Text("bytes %llu to %llu are needed; it has %llu (%u elements of %s)",
                      static_cast<unsigned long long>(first),
                      static_cast<unsigned long long>(first + count),
                      static_cast<unsigned long long>(own), tensor_.size_, TypeName<T>()));
        }
        return begin;
    }

    bool FollowsWrite(const Accesses &accesses) const
    {
        const Clocks &clocks = Core::Current().clocks;
        return accesses.FollowsWrite(clocks, pipe_) || accesses.FollowsWrite(clocks, reader_);
    }

    /* Checks that no other unit still uses the bytes, and marks them as this one's. */
    void WrittenNow(uint64_t begin, uint64_t count) const
    {
        const Clocks &clocks = Core::Current().clocks;
        buffer_->arena->EachAccess(begin, count, [&](Accesses &accesses) {
            if (!FollowsWrite(accesses)) {
                Unordered(accesses.Writer(), "wrote", accesses.LineOfWrite(), "writes");
            }
            const pipe_t reader = accesses.StillReads(clocks, pipe_);
            if (reader != PIPE_ALL && accesses.StillReads(clocks, reader_) != PIPE_ALL) {
                Unordered(reader, "reads", accesses.LineOfRead(reader), "writes");
            }
            accesses.Write(pipe_, clocks.Now(), call_.site.line);
            if (reader_ == PIPE_S) {
                accesses.SetByScalar();
            }
        });
    }

    [[noreturn]] void Unordered(pipe_t other, const char *did, int line, const char *does) const
    {
        Fail(rule::Synchronisation,
             Text("%s %s it in line %d and %s %s it with nothing to order the two: EnQue and DeQue "
                  "through a queue of that direction, or SetFlag and WaitFlag of %s_%s",
                  PipeName(other), did, line, PipeName(reader_), does, ShortName(other),
                  ShortName(reader_)));
    }

    [[noreturn]] void Unreadable(Shadow state, uint64_t element) const
    {
        const auto index = static_cast<unsigned long long>(element);
        if (state == Shadow::Consumed) {
            Fail(rule::Reuse, Text("element %llu is read after %s in line %d used it up", index,
                                   buffer_->consumer, buffer_->consumed.line));
        }
        Fail(rule::Uninitialised, Text("element %llu is read before anything wrote it", index));
    }

    const Call &call_;
    const char *name_;
    LocalTensor<T> tensor_;
    Buffer *buffer_;
    pipe_t pipe_;
    pipe_t reader_; /* the unit that reports name: pipe_, or that of single elements */
};

}  // namespace AscendC::emulation

namespace AscendC {

template <typename T> T LocalTensor<T>::GetValue(uint32_t index, emulation::Site site) const
{
    const emulation::Call call("LocalTensor::GetValue", site);
    return emulation::Operand<T>(call, "tensor", *this).ByScalar().Load(index);
}

template <typename T>
void LocalTensor<T>::SetValue(uint32_t index, T value, emulation::Site site) const
{
    const emulation::Call call("LocalTensor::SetValue", site);
    emulation::Operand<T>(call, "tensor", *this).ByScalar().Store(index, value);
}

}  // namespace AscendC
