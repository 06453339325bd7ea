/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LocalTensor: a typed piece of on-chip memory. It can be read and written element by element; the
 * calls of the interface go through Operand, which checks what the hardware would not.
 */
#pragma once

#include "ascendc/core.h"
#include "ascendc/half.h"
#include "ascendc/language.h"

namespace AscendC {

template <typename T> class LocalTensor;
using TTagType = int32_t;

namespace emulation {
template <typename T> class Operand;
template <typename T> class Element;
struct Maker;
}  // namespace emulation

template <typename T> class LocalTensor {
 public:
    using PrimType = T;

    LocalTensor() = default;
    /* At an address of on-chip memory, without a TPipe. */
    LocalTensor(TPosition position, uint32_t address, uint32_t tileSize,
                emulation::Site site = emulation::Site::Here());

    /* The result of an operator between two tensors, over all elements of this one. */
    template <typename E, typename = decltype(E::compute)>
    LocalTensor &operator=(const E &pending);

    /* Number of elements. */
    uint32_t GetSize() const { return size_; }
    void SetSize(uint32_t size) { size_ = size; }
    /* In bytes. */
    int32_t GetLength() const { return static_cast<int32_t>(emulation::BytesOf<T>(size_)); }
    __ubuf__ T *GetPhyAddr() const
    {
        return buffer_ ? reinterpret_cast<T *>(&buffer_->arena->bytes[begin_]) : nullptr;
    }
    TPosition GetPosition() const { return buffer_ ? buffer_->position : TPosition::MAX; }

    /* The same bytes as elements of another type. */
    template <typename U> LocalTensor<U> ReinterpretCast() const
    {
        LocalTensor<U> other;
        other.buffer_ = buffer_;
        other.generation_ = generation_;
        other.begin_ = begin_;
        other.size_ = static_cast<uint32_t>(
            emulation::ElementsOf<U>(emulation::BytesOf<T>(size_)));
        return other;
    }

    /* The rest of the tensor from an element on. */
    LocalTensor operator[](emulation::Index offset) const
    {
        if (offset.value < 0 || offset.value > int64_t{size_}) {
            const emulation::Call call("LocalTensor::operator[]", offset.site);
            const std::string text =
                emulation::Text("offset %lld is outside of a tensor of %u elements",
                                static_cast<long long>(offset.value), size_);
            buffer_ ? call.Fail(emulation::rule::Bounds, "", *buffer_, text)
                    : call.Fail(emulation::rule::Bounds, text);
        }
        LocalTensor rest = *this;
        rest.begin_ += static_cast<uint32_t>(
            emulation::BytesOf<T>(static_cast<uint64_t>(offset.value)));
        rest.size_ -= static_cast<uint32_t>(offset.value);
        return rest;
    }

    T GetValue(uint32_t index, emulation::Site site = emulation::Site::Here()) const;
    void SetValue(uint32_t index, T value, emulation::Site site = emulation::Site::Here()) const;
    emulation::Element<T> operator()(uint32_t index,
                                     emulation::Site site = emulation::Site::Here()) const
    {
        return {*this, index, site};
    }

    /* Prints the first elements. */
    void Print(uint32_t count, emulation::Site site = emulation::Site::Here()) const
    {
        emulation::PrintElements(*this, count, site);
    }
    void Print() const { Print(size_); }

    /* A number of the kernel's own. */
    void SetUserTag(TTagType tag) { tag_ = tag; }
    TTagType GetUserTag() const { return tag_; }

 private:
    template <typename U> friend class LocalTensor;
    template <typename U> friend class emulation::Operand;
    friend struct emulation::Maker;

    emulation::Buffer *buffer_ = nullptr;
    uint32_t generation_ = 0;
    uint32_t begin_ = 0; /* byte in the arena */
    uint32_t size_ = 0;  /* elements */
    TTagType tag_ = 0;
};

namespace emulation {

/* The only place where tensors of a buffer are made and taken apart. */
struct Maker {
    template <typename T> static LocalTensor<T> Make(Buffer &buffer, uint32_t begin, uint32_t bytes)
    {
        LocalTensor<T> tensor;
        tensor.buffer_ = &buffer;
        tensor.generation_ = buffer.generation;
        tensor.begin_ = buffer.begin + begin;
        tensor.size_ = static_cast<uint32_t>(ElementsOf<T>(bytes));
        return tensor;
    }
    template <typename T> static Buffer *BufferOf(const LocalTensor<T> &tensor)
    {
        return tensor.buffer_;
    }
    template <typename T> static bool Stale(const LocalTensor<T> &tensor)
    {
        return tensor.generation_ != tensor.buffer_->generation;
    }
};

/* Where the memories of the matrix unit begin in their common arena. */
constexpr uint32_t BaseOf(TPosition position)
{
    switch (position) {
    case TPosition::A2: return 512U << 10;
    case TPosition::B2: return 576U << 10;
    case TPosition::CO1: return 640U << 10;
    case TPosition::C2: return 896U << 10;
    default: return 0;
    }
}

/* The buffer at an address; one of the same place and size is the same one. */
inline Buffer &PlacedBuffer(const Call &call, TPosition position, uint64_t address, uint64_t bytes)
{
    Core &core = Core::Current();
    Arena &arena = core.ArenaOf(position);
    const uint64_t begin = BaseOf(position) + address;
    if (address % 32 != 0) {
        call.Fail(rule::Alignment, Text("the address is %llu; it must be a multiple of 32",
                                        static_cast<unsigned long long>(address)));
    }
    if (begin + bytes > arena.bytes.size()) {
        call.Fail(rule::Capacity, Text("%llu bytes from address %llu on do not fit into %zu bytes",
                                       static_cast<unsigned long long>(bytes),
                                       static_cast<unsigned long long>(address),
                                       arena.bytes.size()));
    }
    if (arena.used != 0) {
        call.Fail(rule::Capacity, "a TPipe has handed out this memory: take a tensor from it, or "
                                  "place all of them by address");
    }
    for (Buffer &buffer : core.buffers) {
        if (buffer.arena == &arena && buffer.position == position && buffer.begin == begin &&
            buffer.size == bytes && buffer.state != BufferState::Retired) {
            return buffer;
        }
    }
    Buffer buffer{};
    buffer.arena = &arena;
    buffer.position = position;
    buffer.begin = static_cast<uint32_t>(begin);
    buffer.size = static_cast<uint32_t>(bytes);
    buffer.initialised = call.site;
    core.buffers.push_back(buffer);
    return core.buffers.back();
}

/* Result of tensor(index): reads as a value, writes as a variable, checked either way. */
template <typename T> class Element {
 public:
    Element(const LocalTensor<T> &tensor, uint32_t index, Site site)
        : tensor_(tensor), index_(index), site_(site)
    {
    }
    Element(const Element &) = default;
    operator T() const { return tensor_.GetValue(index_, site_); }
    const Element &operator=(T value) const
    {
        tensor_.SetValue(index_, value, site_);
        return *this;
    }
    const Element &operator=(const Element &other) const { return *this = T(other); }

 private:
    LocalTensor<T> tensor_;
    uint32_t index_;
    Site site_;
};

}  // namespace emulation

template <typename T>
LocalTensor<T>::LocalTensor(TPosition position, uint32_t address, uint32_t tileSize,
                            emulation::Site site)
{
    const auto bytes = static_cast<uint32_t>(emulation::BytesOf<T>(tileSize));
    emulation::Buffer &buffer = emulation::PlacedBuffer(emulation::Call("LocalTensor", site),
                                                        position, address, bytes);
    *this = emulation::Maker::Make<T>(buffer, 0, bytes);
}

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

/* Hands out one memory from its first address on, in steps of 32 bytes. */
template <Hardware hard = Hardware::UB> class LocalMemAllocator {
 public:
    uint32_t GetCurAddr() const { return next_; }

    template <TPosition position, typename T, uint32_t tileSize>
    LocalTensor<T> Alloc(emulation::Site site = emulation::Site::Here())
    {
        return Alloc<position, T>(tileSize, site);
    }
    template <TPosition position, typename T>
    LocalTensor<T> Alloc(uint32_t tileSize, emulation::Site site = emulation::Site::Here())
    {
        const LocalTensor<T> tensor(position, next_, tileSize, site);
        next_ += AlignUp(static_cast<uint32_t>(emulation::BytesOf<T>(tileSize)), 32U);
        return tensor;
    }

 private:
    uint32_t next_ = 0;
};

/* Brings the core into its first state, in which the emulation begins. */
inline void InitSocState() {}

}  // namespace AscendC
