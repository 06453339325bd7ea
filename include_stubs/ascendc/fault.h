/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Report of a check. A fault is thrown and ends the kernel; it is no std::exception, so that a
 * kernel's own handlers do not swallow it.
 */
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

namespace AscendC::emulation {

/* A line of the kernel. As the default value of a parameter it is the line of the caller. */
struct Site {
    const char *file = "";
    int line = 0;

    static constexpr Site Here(const char *file = __builtin_FILE(), int line = __builtin_LINE())
    {
        return {file, line};
    }
};

/* An index that remembers where it was written: operator[] cannot have a parameter for that. */
struct Index {
    template <typename I, std::enable_if_t<std::is_integral_v<I> || std::is_enum_v<I>, int> = 0>
    Index(I value, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : value(static_cast<int64_t>(value)), site{file, line}
    {
    }

    int64_t value;
    Site site;
};

namespace rule {
constexpr const char *Alignment = "alignment";
constexpr const char *Bounds = "bounds";
constexpr const char *Capacity = "capacity";
constexpr const char *Chip = "chip";
constexpr const char *Dtype = "dtype";
constexpr const char *Overlap = "overlap";
constexpr const char *Position = "position";
constexpr const char *Queue = "queue";
constexpr const char *Race = "race";
constexpr const char *Reuse = "reuse";
constexpr const char *Synchronisation = "synchronisation";
constexpr const char *Temporary = "temporary";
constexpr const char *Tiling = "tiling";
constexpr const char *Uninitialised = "uninitialised";
}  // namespace rule

struct Fault {
    const char *rule;
    std::string api;
    std::string tensor;  /* the parameter's name */
    std::string memory;  /* what the tensor is a part of */
    Site initialised;    /* where that memory was set up; line 0 if nowhere in the kernel */
    Site site;
    std::string message;
};

template <typename... Values> std::string Text(const char *format, Values... values)
{
    char text[512];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

inline std::string Text(const char *text) { return text; }

template <typename Format> struct Narrow;
struct BfloatFormat;
}  // namespace AscendC::emulation
struct int4b_t;
namespace AscendC::emulation {

/* The name of an element type in reports. */
template <typename T> const char *TypeName()
{
    if constexpr (std::is_same_v<T, float>) {
        return "float";
    } else if constexpr (std::is_same_v<T, double>) {
        return "double";
    } else if constexpr (std::is_integral_v<T>) {
        static const char *const names[2][4] = {{"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
                                                {"int8_t", "int16_t", "int32_t", "int64_t"}};
        constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return names[std::is_signed_v<T> ? 1 : 0][size];
    } else if constexpr (std::is_same_v<T, int4b_t>) {
        return "int4b_t";
    } else {
        return std::is_same_v<T, Narrow<BfloatFormat>> ? "bfloat16_t" : "half";
    }
}

}  // namespace AscendC::emulation
