/* SPDX-License-Identifier: Apache-2.0 */
/* Images of device memory that nothing has written since: they are not copied and hashed again. */
#pragma once

#include "operands.h"
#include "pinned.h"

/* Bytes of a device, as they were at a point of a stream. */
struct capture_image {
    uint64_t begin, size;
    uint64_t place; /* the stream, or of a default stream its context */
    size_t references;
    struct capture_pinned to;
    uint64_t hash; /* of all bytes, once it was computed; before that 0 */
};

/* The image of a range, with a reference more, if it was made on the same stream; or NULL. */
struct capture_image *capture_find_image(uint64_t place, uint64_t begin, uint64_t size);
/* Keep an image that was begun at a number of changes, unless memory may have changed since. */
void capture_keep_image(struct capture_image *image, uint64_t changes);
uint64_t capture_changes(void); /* until now; 0: a call that may change memory is on its way */
void capture_drop_image(struct capture_image *image);
void capture_forget_images(void);
/* Forget the memory, too, whose images may be kept: other memory is also written unseen. */
void capture_forget_blocks(void);

/* A call that may change memory of a device begins, and has returned; of: the tensors of an operator.
 * The first returns whether the second is due. */
bool capture_begin_change(const struct capture_function *function, const union mock_word *words);
void capture_end_change(const struct capture_function *function, const union mock_word *words,
                        int32_t status, const struct capture_operands *of);
