/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that the program registered for a device: pinned, or mapped as well. */
#pragma once

#include "device.h"

struct registered {
    uint8_t *host;
    uint64_t bytes;  /* whole pages */
    uint64_t number; /* of the mapping, or 0: it is only pinned */
    struct device *device;
    struct registered *next;
};

/* Register whole pages of host memory. Mapped pages keep their address and content and become
 * memory of the device, which may only read them if `writable` is false. NULL after mock_fail. */
struct registered *mock_registered_new(struct device *device, void *host, uint64_t bytes,
                                       bool mapped, bool writable);
/* Give the pages back to the host, with what they contain now. */
void mock_registered_end(struct registered *registered);
/* The registration that holds a host address, or one that meets a range; NULL: there is none. */
struct registered *mock_registered_find(const void *host, uint64_t bytes);
/* The address of the device for one in mapped pages. */
void *mock_registered_device_address(const struct registered *registered, const void *host);
/* End all registrations for a device, which closes. */
void mock_registered_close(const struct device *device);
