/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access of a kernel to its tiling data: a structure at its last argument.
 *
 * GET_TILING_DATA needs to know the structure. CANN generates it from the operator's host code;
 * here it is registered, by REGISTER_TILING_DEFAULT in the kernel or by the build.
 */
#pragma once

#include "ascendc/global_tensor.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC::emulation {

template <typename S> void ReadTiling(S *target, const uint8_t *address, const char *api, Site site)
{
    static_assert(std::is_trivially_copyable_v<S>, "tiling data are plain data");
    const Call call(api, site);
    for (const Region &region : Core::Current().regions) {
        if (address >= region.data && address < region.data + region.size) {
            const auto there = static_cast<size_t>(region.data + region.size - address);
            if (there < sizeof(S)) {
                throw Fault{rule::Tiling, api, "tiling", std::string("the argument ") + region.name,
                            {}, site,
                            Text("the structure has %zu bytes; the launch gave %zu", sizeof(S),
                                 there)};
            }
            std::memcpy(target, address, sizeof(S));
            return;
        }
    }
    call.Fail(rule::Tiling, "tiling",
              "the kernel reads its tiling data; the launch gave it none");
}

/* A structure that is passed by value. */
template <typename S> S Passed(const char *name, const void *address)
{
    std::remove_const_t<S> value;
    ReadTiling(&value, static_cast<const uint8_t *>(address), name, {});
    return value;
}

/* A worse match than an address itself: a kernel's own CopyTiling is preferred to the one below. */
struct TilingAddress {
    TilingAddress(const uint8_t *address, const char *file = __builtin_FILE(),
                  int line = __builtin_LINE())
        : address(address), site{file, line}
    {
    }

    const uint8_t *address;
    Site site;
};

}  // namespace AscendC::emulation

/* Samples of CANN call this for a structure of their own. */
template <typename S> void CopyTiling(S *tiling, AscendC::emulation::TilingAddress from)
{
    AscendC::emulation::ReadTiling(tiling, from.address, "CopyTiling", from.site);
}

#define REGISTER_TILING_DEFAULT(Structure) using RegisteredTilingData = Structure

/* A kernel with several structures reads them by GET_TILING_DATA_WITH_STRUCT. */
#define REGISTER_TILING_FOR_TILINGKEY(condition, Structure) static_assert(sizeof(Structure) > 0)

#define GET_TILING_DATA_WITH_STRUCT(Structure, name, address)                                     \
    Structure name;                                                                               \
    AscendC::emulation::ReadTiling(&name, address, "GET_TILING_DATA",                             \
                                   AscendC::emulation::Site::Here(__FILE__, __LINE__))

/* One field, or the address of a copy. */
#define GET_TILING_DATA_MEMBER(Structure, member, name, address)                                  \
    GET_TILING_DATA_WITH_STRUCT(Structure, name##Structure, address);                             \
    auto name = name##Structure.member
#define GET_TILING_DATA_PTR_WITH_STRUCT(Structure, name, address)                                 \
    GET_TILING_DATA_WITH_STRUCT(Structure, name##Structure, address);                             \
    const Structure *name = &name##Structure
#define COPY_TILING_WITH_STRUCT(Structure, source, name) Structure name = *(source)
/* The kernel names its structures where it reads them. */
#define REGISTER_NONE_TILING static_assert(true)

#define GET_TILING_DATA(name, address)                                                            \
    GET_TILING_DATA_WITH_STRUCT(RegisteredTilingData, name, address)
