/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GlobalTensor: a typed piece of global memory, which must lie inside of one argument.
 */
#pragma once

#include <cstring>

#include "ascendc/core.h"
#include "ascendc/half.h"
#include "ascendc/language.h"

namespace AscendC {

/* Hints and orders for caches, which the emulation does not have. */
enum class CacheMode : uint8_t {
    CACHE_MODE_DISABLE = 0,
    CACHE_MODE_NORMAL,
    CACHE_MODE_LAST,
    CACHE_MODE_PERSISTENT
};
enum class CacheLine : uint8_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint8_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

template <typename T> class GlobalTensor {
 public:
    using PrimType = T;

    void SetGlobalBuffer(__gm__ T *address, uint64_t size,
                         emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("GlobalTensor::SetGlobalBuffer", site);
        Open(call, address);
        const uint64_t there = emulation::ElementsOf<T>(region_->size - begin_);
        if (size > there) {
            Fail(call, emulation::rule::Bounds, "address",
                 emulation::Text("%llu elements of %s are named; the argument has %llu there",
                                 static_cast<unsigned long long>(size), emulation::TypeName<T>(),
                                 static_cast<unsigned long long>(there)));
        }
        size_ = size;
    }

    void SetGlobalBuffer(__gm__ T *address, emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("GlobalTensor::SetGlobalBuffer", site);
        Open(call, address);
        size_ = emulation::ElementsOf<T>(region_->size - begin_);
    }

    uint64_t GetSize() const { return size_; }
    __gm__ T *GetPhyAddr(uint64_t offset = 0) const
    {
        return region_ ? reinterpret_cast<T *>(region_->data + begin_) + offset : nullptr;
    }
    void SetL2CacheHint(CacheMode) {}

    GlobalTensor operator[](emulation::Index offset) const
    {
        const emulation::Call call("GlobalTensor::operator[]", offset.site);
        if (offset.value < 0 || static_cast<uint64_t>(offset.value) > size_) {
            Fail(call, emulation::rule::Bounds, "tensor",
                 emulation::Text("offset %lld is outside of %llu elements",
                                 static_cast<long long>(offset.value),
                                 static_cast<unsigned long long>(size_)));
        }
        GlobalTensor rest = *this;
        rest.begin_ += emulation::BytesOf<T>(static_cast<uint64_t>(offset.value));
        rest.size_ -= static_cast<uint64_t>(offset.value);
        return rest;
    }

    T GetValue(uint64_t index, emulation::Site site = emulation::Site::Here()) const
    {
        static_assert(!emulation::kPacked<T>, "GetValue is not for int4b_t");
        const emulation::Call call("GlobalTensor::GetValue", site);
        T value;
        std::memcpy(&value, Read(call, "tensor", index * sizeof(T), sizeof(T)), sizeof(T));
        return value;
    }

    void SetValue(uint64_t index, T value, emulation::Site site = emulation::Site::Here()) const
    {
        static_assert(!emulation::kPacked<T>, "SetValue is not for int4b_t");
        const emulation::Call call("GlobalTensor::SetValue", site);
        std::memcpy(Write(call, "tensor", index * sizeof(T), sizeof(T), false), &value, sizeof(T));
    }

    /* Prints the first elements. */
    void Print(uint32_t count, emulation::Site site = emulation::Site::Here()) const
    {
        emulation::PrintElements(*this, count, site);
    }

    /* Bytes to be read or written, counted from the tensor's first one. */
    const uint8_t *Read(const emulation::Call &call, const char *name, uint64_t first,
                        uint64_t count) const
    {
        const uint64_t begin = Extent(call, name, first, count);
        const auto &core = emulation::Core::Current();
        for (uint64_t i = begin; i < begin + count && !region_->writer.empty(); i++) {
            const uint32_t writer = region_->writer[i];
            if (writer != 0 && writer != core.Writer()) {
                Fail(call, emulation::rule::Race, name,
                     emulation::Text("block %u reads byte %llu, which %s wrote: blocks run at the "
                                     "same time and in no order",
                                     core.group, static_cast<unsigned long long>(i),
                                     Writer(writer).c_str()));
            }
        }
        MarkRead(begin, count);
        return region_->data + begin;
    }

    uint8_t *Write(const emulation::Call &call, const char *name, uint64_t first, uint64_t count,
                   bool atomic) const
    {
        const uint64_t begin = Extent(call, name, first, count);
        auto &core = emulation::Core::Current();
        core.launch.wrote = true;
        const uint32_t mark = atomic ? emulation::AtomicWriter : core.Writer();
        if ((core.blocks > 1 || core.mixed != 0) && region_->writer.empty()) {
            region_->writer.resize(region_->size);
        }
        for (uint64_t i = begin; i < begin + count && !region_->writer.empty(); i++) {
            const uint32_t writer = region_->writer[i];
            if (writer != 0 && writer != mark) {
                Fail(call, emulation::rule::Race, name,
                     emulation::Text("block %u writes byte %llu, which %s wrote as well: the "
                                     "blocks overlap",
                                     core.group, static_cast<unsigned long long>(i),
                                     Writer(writer).c_str()));
            }
            region_->writer[i] = mark;
        }
        for (uint64_t i = begin; i < begin + count && !region_->reader.empty(); i++) {
            const uint32_t reader = region_->reader[i];
            if (reader != 0 && reader != core.Writer()) {
                Fail(call, emulation::rule::Race, name,
                     emulation::Text("block %u writes byte %llu, which %s read: blocks run at the "
                                     "same time and in no order",
                                     core.group, static_cast<unsigned long long>(i),
                                     reader == emulation::SeveralReaders
                                         ? "several blocks"
                                         : Writer(reader).c_str()));
            }
        }
        return region_->data + begin;
    }

    [[noreturn]] void Fail(const emulation::Call &call, const char *rule, const char *name,
                           const std::string &message) const
    {
        throw emulation::Fault{rule, call.api, name,
                               region_ ? std::string("the argument ") + region_->name : "",
                               {}, call.site, std::string(name) + ": " + message};
    }

 private:
    void Open(const emulation::Call &call, __gm__ T *address)
    {
        const auto *byte = reinterpret_cast<const uint8_t *>(address);
        region_ = nullptr;
        for (emulation::Region &region : emulation::Core::Current().regions) {
            if (byte >= region.data && byte <= region.data + region.size) {
                region_ = &region;
                break;
            }
        }
        if (region_ == nullptr) {
            Fail(call, emulation::rule::Bounds, "address",
                 "it points to none of the kernel's arguments in global memory");
        }
        begin_ = static_cast<uint64_t>(byte - region_->data);
        const char *held = region_->dtype;
        const bool floats = *held == 'f' || *held == 'h' || *held == 'd';
        constexpr bool read_as_float = !std::is_integral_v<T>;
        if (floats && read_as_float && std::strcmp(held, emulation::TypeName<T>()) != 0) {
            Fail(call, emulation::rule::Dtype, "address",
                 emulation::Text("the argument holds %s; the kernel opens it as %s", held,
                                 emulation::TypeName<T>()));
        }
    }

    /* Checks a range of bytes and gives its place in the argument. */
    uint64_t Extent(const emulation::Call &call, const char *name, uint64_t first,
                    uint64_t count) const
    {
        if (region_ == nullptr) {
            Fail(call, emulation::rule::Bounds, name, "SetGlobalBuffer was never called on it");
        }
        if (first + count > emulation::BytesOf<T>(size_)) {
            Fail(call, emulation::rule::Bounds, name,
                 emulation::Text("bytes %llu to %llu are needed; there are %llu",
                                 static_cast<unsigned long long>(first),
                                 static_cast<unsigned long long>(first + count),
                                 static_cast<unsigned long long>(emulation::BytesOf<T>(size_))));
        }
        return begin_ + first;
    }

    void MarkRead(uint64_t begin, uint64_t count) const
    {
        const auto &core = emulation::Core::Current();
        if (core.blocks <= 1 && core.mixed == 0) {
            return;
        }
        if (region_->reader.empty()) {
            region_->reader.resize(region_->size);
        }
        for (uint64_t i = begin; i < begin + count; i++) {
            uint32_t &reader = region_->reader[i];
            reader = reader == 0 || reader == core.Writer() ? core.Writer()
                                                            : emulation::SeveralReaders;
        }
    }

    static std::string Writer(uint32_t writer)
    {
        return writer == emulation::AtomicWriter ? std::string("an atomic addition")
                                                 : emulation::Text("block %u", (writer - 1) / 3);
    }

    emulation::Region *region_ = nullptr;
    uint64_t begin_ = 0; /* byte in the argument */
    uint64_t size_ = 0;  /* elements */
};

/* A tensor of a list: its number, its address, and its lengths in memory that the kernel gives. */
template <typename T> class TensorDesc {
 public:
    void SetShapeAddr(uint64_t *shape) { shape_ = shape; }
    uint64_t GetDim() const { return dim_; }
    uint64_t GetIndex() const { return index_; }
    uint64_t GetShape(uint32_t axis) const { return shape_[axis]; }
    T *GetDataPtr() const { return data_; }
    GlobalTensor<T> GetDataObj() const
    {
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(data_);
        return tensor;
    }

 private:
    friend class ListTensorDesc;

    uint64_t *shape_ = nullptr, dim_ = 0, index_ = 0;
    T *data_ = nullptr;
};

/*
 * A list of tensors: the bytes from its beginning to the addresses; of each tensor the number of
 * axes, its own number (32 bits each) and the lengths of the axes; the addresses.
 */
class ListTensorDesc {
 public:
    ListTensorDesc() = default;
    explicit ListTensorDesc(__gm__ void *data, uint32_t = ~0U, uint32_t = ~0U) { Init(data); }

    void Init(__gm__ void *data, uint32_t = ~0U, uint32_t = ~0U)
    {
        list_.SetGlobalBuffer(static_cast<uint64_t *>(data));
    }

    template <typename T>
    __gm__ T *GetDataPtr(uint32_t index, emulation::Site site = emulation::Site::Here()) const
    {
        return reinterpret_cast<T *>(list_.GetValue(First(site) + index, site));
    }

    uint32_t GetSize(emulation::Site site = emulation::Site::Here()) const
    {
        uint32_t size = 0;
        for (uint64_t at = 1; at < First(site); at = Next(at, site)) {
            size++;
        }
        return size;
    }

    template <typename T>
    void GetDesc(TensorDesc<T> &desc, uint32_t index,
                 emulation::Site site = emulation::Site::Here()) const
    {
        const emulation::Call call("ListTensorDesc::GetDesc", site);
        uint64_t at = 1;
        for (uint32_t i = 0; i < index && at < First(site); i++) {
            at = Next(at, site);
        }
        if (at >= First(site)) {
            call.Fail(emulation::rule::Bounds, "index",
                      emulation::Text("the list describes no tensor %u", index));
        }
        const uint64_t head = list_.GetValue(at, site);
        desc.dim_ = head & 0xFFFFFFFF;
        desc.index_ = head >> 32;
        desc.data_ = GetDataPtr<T>(index, site);
        for (uint64_t i = 0; desc.shape_ != nullptr && i < desc.dim_; i++) {
            desc.shape_[i] = list_.GetValue(at + 1 + i, site);
        }
    }

 private:
    uint64_t First(emulation::Site site) const
    {
        return list_.GetValue(0, site) / sizeof(uint64_t);
    }
    uint64_t Next(uint64_t at, emulation::Site site) const
    {
        return at + 1 + (list_.GetValue(at, site) & 0xFFFFFFFF);
    }

    GlobalTensor<uint64_t> list_;
};

template <typename T, CacheLine line, DcciDst target = DcciDst::CACHELINE_ALL>
void DataCacheCleanAndInvalid(const GlobalTensor<T> &)
{
}
template <typename T> void DataCachePreload(const GlobalTensor<uint64_t> &, const T) {}
template <typename T> T ReadGmByPassDCache(__gm__ T *address) { return *address; }
template <typename T> void WriteGmByPassDCache(__gm__ T *address, T value) { *address = value; }

}  // namespace AscendC
