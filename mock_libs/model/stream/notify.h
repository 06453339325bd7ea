/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies: a flag that one stream sets, and that a waiting stream clears; or a number. */
#pragma once

#include "acl/acl.h"
#include "task.h"

struct notify {
    void *context_handle; /* in which it was made */
    uint32_t id;
    _Atomic uint32_t set; /* or the number */
    bool counting;
    uint64_t number;             /* by which processes share it, with its flag elsewhere; or 0 */
    struct mock_signal *imported; /* it is that of another process, or NULL */
    uint64_t waits; /* queued and not passed */
};

/* The notify behind a handle, or NULL with the code in *status. */
struct notify *mock_notify_find(const void *handle, bool destroying, aclError *status);
/* Set or clear its flag; returns the value before. */
bool mock_notify_exchange(struct notify *notify, bool set);
/* Execute a record. */
void mock_notify_recorded(const struct task *task);
/* Try to pass a wait. */
bool mock_notify_pass(struct notify *notify, const struct task *task);
/* Undo a wait that is dropped. */
void mock_notify_release(const struct task *task);
