/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the program: the calls that made them, for a file that begins later, and the tensors
 * that they hold. All but the last function are called with the lock of the objects held. */
#pragma once

#include <stdbool.h>

#include "bytes.h"

/* A record of a call, the number of its function, and the last file that has it. */
struct capture_call {
    struct capture_bytes record;
    uint32_t number, file;
};

struct capture_object {
    struct capture_object *before, *after; /* in the order in which they were made */
    struct capture_object *place;          /* the call that chose the device or context, or NULL */
    struct capture_object **needs;         /* what is written before it, and lives as long */
    struct capture_operands *operands;     /* its tensors, or NULL */
    uint64_t key;                          /* the handle that finds it, or 0 */
    uint64_t context;                      /* of CANN, that it ends with, or 0 */
    size_t references, count;
    bool lasts; /* beyond a use */
    bool later; /* changes an executor that needs it */
    bool owns;  /* what it needs ends with it */
    uint32_t number, file, length; /* of its call; length 0: that is not kept */
    uint8_t record[];
};

/* Make an object, with one reference, of a call, or of NULL. NULL: there is no memory, and the
 * recording ends; the other functions do nothing with it. */
struct capture_object *capture_make(const struct capture_call *call, struct capture_object *place);
void capture_release(struct capture_object *object);
void capture_need(struct capture_object *object, struct capture_object *needed);
struct capture_object *capture_find(uint64_t handle);
/* Let a handle find an object, whose one reference is taken over. */
void capture_name(struct capture_object *object, uint64_t handle);
/* Let an executor need, and own, the last call that changed something in it. */
void capture_change(struct capture_object *executor, struct capture_object *by, uint64_t what);
/* An object has ended, if its handle still finds it: another thread may have been given that. It
 * lives on in what needs it. */
void capture_forget(struct capture_object *object);
/* The calls of a thread are on a device from now on, whose context this is. */
void capture_set_device(uint64_t device, uint64_t context);
/* A device is given back: of several times that it was set, the last ends all that is on it. */
void capture_reset_device(uint64_t device, bool force);
/* CANN has ended, and with it all that is on any device. */
void capture_reset_all(void);
/* Write the calls that made what lives, in their order. */
void capture_put_living(void (*put)(uint32_t number, const uint8_t *data, size_t length));
