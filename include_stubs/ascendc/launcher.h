/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main program around a kernel: maps the memory it was given, runs the blocks one after the
 * other, and leaves its report in that memory. The host's side is pyaclnn.ascendc.request.
 */
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "ascendc/core.h"

#define PYACLNN_LAUNCH(name, ...) AscendC::emulation::NoLaunch(0)

namespace AscendC::emulation {

constexpr uint64_t RequestMagic = 0x314B43534E4C4341ULL; /* "ACLNSCK1" */

enum class Outcome : uint32_t { None = 0, Finished, Fault, Crash };

struct Request {
    uint64_t magic;
    uint32_t entry, blocks, family, unified_buffer, arguments;
    Outcome outcome;
    uint32_t block;
    int32_t line, initialised_line, signal;
    char rule[32], api[96], tensor[96], memory[128];
    char file[1024], initialised_file[1024], message[1024];
};

struct Argument {
    uint64_t offset; /* of its pages in the file */
    uint64_t mapped; /* bytes of them */
    uint64_t size;   /* the argument's own bytes, at the end of the pages, on a 32-byte boundary */
    uint32_t same_as; /* the number of an earlier argument with the same memory, or its own */
    uint32_t elements; /* the number of the first argument whose address it lists, or 0 */
    char name[64], dtype[16];
};

static_assert(sizeof(Request) == 48 + 32 + 96 + 96 + 128 + 3 * 1024);
static_assert(sizeof(Argument) == 112);

/* Host code beside a kernel may launch it; only `pyaclnn ascendc compile` makes that run. */
template <typename... Operands> auto NoLaunch(const Operands &...)
{
    return [](const auto &...) -> uint32_t { std::abort(); };
}

struct Entry {
    const char *name;
    void (*launch)(void *const *arguments);
};

template <size_t size> void Keep(char (&target)[size], const char *text)
{
    std::strncpy(target, text, size - 1);
    target[size - 1] = '\0';
}

inline Request *&SharedRequest()
{
    static Request *request = nullptr;
    return request;
}

/* A kernel has raw addresses as well; what it does with them is seen only when it goes wrong. */
inline void ReportCrash(int number)
{
    Request &request = *SharedRequest();
    if (request.outcome == Outcome::None) {
        Keep(request.api, Call::Last().api);
        Keep(request.file, Call::Last().site.file);
        request.line = Call::Last().site.line;
        request.signal = number;
        request.outcome = Outcome::Crash;
    }
    std::signal(number, SIG_DFL);
    std::raise(number);
}

/* Where a thread that has used up its stack is reported; one thread runs at a time. */
inline void UseAlternativeStack()
{
#ifndef PYACLNN_SANITIZE
    static char stack[1 << 16];
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
#endif
}

inline void CatchCrashes()
{
    struct sigaction action{};
    action.sa_handler = ReportCrash;
    action.sa_flags = SA_ONSTACK;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        sigaction(number, &action, nullptr);
    }
}

/* Pages of the file between two guard pages. */
inline uint8_t *Map(int file, const Argument &argument, size_t page)
{
    void *reserved = mmap(nullptr, argument.mapped + 2 * page, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        return nullptr;
    }
    uint8_t *inner = static_cast<uint8_t *>(reserved) + page;
    if (argument.mapped != 0 &&
        mmap(inner, argument.mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
             static_cast<off_t>(argument.offset)) == MAP_FAILED) {
        return nullptr;
    }
    return inner + argument.mapped - (argument.size + 31) / 32 * 32;
}

inline void ReportFault(Request &request, const Fault &fault)
{
    Keep(request.rule, fault.rule);
    Keep(request.api, fault.api.c_str());
    Keep(request.tensor, fault.tensor.c_str());
    Keep(request.memory, fault.memory.c_str());
    Keep(request.file, fault.site.file);
    Keep(request.initialised_file, fault.initialised.file);
    Keep(request.message, fault.message.c_str());
    request.line = fault.site.line;
    request.initialised_line = fault.initialised.line;
    request.outcome = Outcome::Fault;
}

inline void RunEntry(Request &request, const Entry &entry, std::deque<Region> &regions,
                     void *const *arguments)
{
    const Chip chip{static_cast<Family>(request.family), request.unified_buffer};
    RunBlocks(request.block, request.blocks, chip, regions, [&] {
        UseAlternativeStack();
        entry.launch(arguments);
    });
    request.outcome = Outcome::Finished;
}

/* Usage: PROGRAM FILE_DESCRIPTOR. Exits with 0 whenever there is a report. */
/* A kernel need not have an end: it has none without who waits for it. */
inline void EndWith(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1); /* which ended before it could be asked for */
    }
}

inline int Main(int count, char **words, const Entry *entries, uint32_t entry_count)
{
    const int file = count == 3 ? std::atoi(words[1]) : -1;
    if (file >= 0) {
        EndWith(static_cast<pid_t>(std::atoi(words[2])));
    }
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t head = 4 * page;
    void *shared = file < 0 ? MAP_FAILED
                            : mmap(nullptr, head, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED || static_cast<Request *>(shared)->magic != RequestMagic ||
        static_cast<Request *>(shared)->entry >= entry_count) {
        std::fputs("a kernel built by pyaclnn.ascendc is started by pyaclnn.ascendc\n", stderr);
        return 2;
    }
    Request &request = *static_cast<Request *>(shared);
    SharedRequest() = &request;
    const auto *described = reinterpret_cast<const Argument *>(&request + 1);
    std::vector<void *> addresses(request.arguments);
    std::deque<Region> regions;
    for (uint32_t i = 0; i < request.arguments; i++) {
        const Argument &argument = described[i];
        if (argument.same_as != i) {
            addresses[i] = addresses[argument.same_as];
            continue;
        }
        uint8_t *data = Map(file, argument, page);
        if (data == nullptr) {
            std::perror("the kernel's memory cannot be mapped");
            return 2;
        }
        addresses[i] = data;
        regions.push_back({argument.name, data, argument.size, argument.dtype, {}, {}});
    }
    for (uint32_t i = 0; i < request.arguments; i++) {
        /* a list of tensors: the addresses stand behind their offset */
        const size_t first = described[i].elements == 0
                                 ? SIZE_MAX
                                 : *static_cast<uint64_t *>(addresses[i]) / sizeof(void *);
        for (size_t j = first; j < described[i].size / sizeof(void *); j++) {
            static_cast<void **>(addresses[i])[j] = addresses[described[i].elements + j - first];
        }
    }
#ifndef PYACLNN_SANITIZE
    CatchCrashes();
#endif
    try {
        RunEntry(request, entries[request.entry], regions, addresses.data());
    } catch (const Fault &fault) {
        ReportFault(request, fault);
    } catch (const std::exception &error) {
        ReportFault(request, {"crash", Call::Last().api, "", "", {}, Call::Last().site,
                              std::string("the kernel threw: ") + error.what()});
    }
    return 0;
}

}  // namespace AscendC::emulation
