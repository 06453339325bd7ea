/* SPDX-License-Identifier: Apache-2.0 */
/* State and look-up of devices. */
#pragma once

#include <sys/types.h>
#include <time.h>

#include "acl/acl.h"
#include "channel.h"
#include "child_process.h"
#include "chip.h"
#include "handles.h"
#include "heap.h"

enum { MOCK_MAX_DEVICES = 16 };

struct context;
struct physical;

struct device {
    int id;
    bool open, lost;
    bool changing; /* a thread is opening or closing it, and may have released the lock */
    bool reported; /* as not reset, so that it is reported once */
    struct mock_history history; /* of the latest call that opened it */
    const char *loss; /* why it is lost */
    const struct chip *chip;
    unsigned references; /* aclrtSetDevice minus aclrtResetDevice */
    unsigned contexts;   /* explicit contexts alive */
    struct context *primary;
    struct heap heap;
    struct physical *physicals; /* memory without an address of its own */
    struct mock_child process;
    char *environment; /* that of its process, if that is to be kept */
    int given[2]; /* its process's ends of socket and pipe while that starts, or -1 */
    int lifeline; /* a pipe's end: its process is killed when no process has it open any more */
    int64_t patience; /* milliseconds that its process may take to answer */
    const char *limit_reason; /* why its memory is not more, or "": it is the chip's */
    uint64_t session; /* how often its process was started */
    time_t stopped_since; /* 0: its process is not */
    bool ending;          /* its process was asked to end */
    struct channel channel;
    uint32_t streams, events; /* alive, against the chip's limits */
};

/* The memory of a device, which is another one after every start. */
struct mock_device_memory {
    int descriptor;
    uint64_t base, bytes, session;
};

/* Devices as the caller numbers them, after ASCEND_RT_VISIBLE_DEVICES. */
aclError mock_device_count(uint32_t *count);
struct device *mock_device_find(int32_t id);
/* The machine's number of a device that this process sees, or -1 / how many the machine has. */
int32_t mock_device_physical_id(int32_t id);
int32_t mock_device_physical_count(void);
/* The chip of the open devices, for a process sees one kind; or else the one that is wanted.
 * NULL: no such chip (after mock_fail). */
const struct chip *mock_device_chip(void);
void mock_devices_visit(void (*visit)(struct device *device)); /* the open ones */
/* Write all poison, for something that reaches the memory by itself. */
void mock_devices_reach(void);
/* Those whose process can be talked to; one that is being opened or closed is among them. */
void mock_devices_visit_connected(void (*visit)(struct device *device));
/* The device whose heap holds an address, or NULL. */
struct device *mock_device_by_heap_address(const void *address);
/* Without the lock, and roughly: whether an address may be one of a device. It lies between the
 * lowest and the highest address that was ever allocated. */
bool mock_devices_may_contain(const void *address);
/* A device has got a range of addresses. */
void mock_devices_add_range(const void *start, uint64_t bytes);

/* Return whether the process sees a device of this number; if not, mock_fail was called. */
bool mock_device_exists(int32_t id);
/* false: the device is not open, or lost. */
bool mock_device_memory(int id, struct mock_device_memory *memory);
