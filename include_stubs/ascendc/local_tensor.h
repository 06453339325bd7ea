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

namespace emulation {
template <typename T> class Operand;
template <typename T> class Element;
struct Maker;
}  // namespace emulation

template <typename T> class LocalTensor {
 public:
    using PrimType = T;

    LocalTensor() = default;

    /* The result of an operator between two tensors, over all elements of this one. */
    template <typename E, typename = decltype(E::compute)>
    LocalTensor &operator=(const E &pending);

    /* Number of elements. */
    uint32_t GetSize() const { return size_; }
    void SetSize(uint32_t size) { size_ = size; }
    int32_t GetLength() const { return static_cast<int32_t>(size_ * sizeof(T)); } /* bytes */
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
        other.size_ = static_cast<uint32_t>(uint64_t{size_} * sizeof(T) / sizeof(U));
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
        rest.begin_ += static_cast<uint32_t>(offset.value) * static_cast<uint32_t>(sizeof(T));
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

 private:
    template <typename U> friend class LocalTensor;
    template <typename U> friend class emulation::Operand;
    friend struct emulation::Maker;

    emulation::Buffer *buffer_ = nullptr;
    uint32_t generation_ = 0;
    uint32_t begin_ = 0; /* byte in the arena */
    uint32_t size_ = 0;  /* elements */
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
        tensor.size_ = bytes / static_cast<uint32_t>(sizeof(T));
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
}  // namespace AscendC
