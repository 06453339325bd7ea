/* SPDX-License-Identifier: Apache-2.0 */
/* Images of tensors: copies on the stream of their operator, or those that memory still has. */
#include "images.h"

#include "bytes.h"
#include "graphs.h"

enum { TO_HOST = 2 };

static uint64_t copies; /* ever made */

/* The copies that were made: fewer than there are contents, as those of the same bytes share one. */
CAPTURE_EXPORT uint64_t capture_copies(void);

uint64_t capture_copies(void)
{
    return __atomic_load_n(&copies, __ATOMIC_RELAXED);
}

static struct capture_image *copy(struct capture_image like, uint64_t stream, const char **reason)
{
    struct capture_image *made = capture_memory(NULL, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    *made = like;
    const uint64_t changes = capture_graph_is_open() ? 0 : capture_changes();
    if (!capture_has_room(like.size)) {
        capture_forget_images();
    }
    made->to = capture_pin(like.size);
    if (made->to.data == NULL) {
        *reason = "no memory of the host for a copy";
    } else if (capture_call(CAPTURE_MEMCPY_ASYNC, capture_address(made->to.data), like.size,
                            like.begin, like.size, TO_HOST, stream) != 0) {
        *reason = "its copy was refused";
    }
    if (*reason != NULL) {
        capture_drop_image(made);
        return NULL;
    }
    __atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED);
    if (changes != 0) {
        capture_keep_image(made, changes);
    }
    return made;
}

struct capture_image *capture_image_of(const struct capture_tensor *tensor, uint64_t stream,
                                       uint64_t context, enum capture_phase phase,
                                       uint64_t *copied, const char **reason)
{
    const struct capture_image like = {
        .begin = capture_address(capture_begin_of(tensor)),
        .size = capture_span(tensor),
        .place = stream != 0 ? stream : context,
        .references = 1,
    };
    struct capture_image *image = NULL;
    if (phase == CAPTURE_BEFORE && !capture_graph_is_open()) {
        image = capture_find_image(like.place, like.begin, like.size);
    }
    *copied = image == NULL ? like.size : 0;
    return image == NULL ? copy(like, stream, reason) : image;
}

void capture_write_image(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                         struct capture_image *image, bool full)
{
    const uint64_t at = capture_address(capture_begin_of(&of->tensor)) - image->begin;
    const bool whole = at == 0 && capture_span(&of->tensor) == image->size;
    uint64_t hash = whole ? __atomic_load_n(&image->hash, __ATOMIC_RELAXED) : 0;
    capture_write_tensor(call, of, phase, image->to.data + at, &hash, full);
    if (whole) {
        __atomic_store_n(&image->hash, hash, __ATOMIC_RELAXED);
    }
}
