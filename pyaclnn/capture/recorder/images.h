/* SPDX-License-Identifier: Apache-2.0 */
/* Images of tensors: copies on the stream of their operator, or those that memory still has. */
#pragma once

#include "contents.h"
#include "known.h"

/* Return the image of a tensor before or after what a stream does next, and how many bytes are copied
 * for it; NULL and the reason: there is none; NULL alone: no memory is left. */
struct capture_image *capture_image_of(const struct capture_tensor *tensor, uint64_t stream,
                                       uint64_t context, enum capture_phase phase,
                                       uint64_t *copied, const char **reason);
void capture_write_image(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                         struct capture_image *image, bool full);
