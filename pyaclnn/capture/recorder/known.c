/* SPDX-License-Identifier: Apache-2.0 */
/* Images of device memory that nothing has written since: they are not copied and hashed again.
 *
 * An image is kept only of memory from aclrtMalloc, which a device writes by calls that the recorder
 * sees. Each call forgets what it may write: an operator its results and its workspace, a copy its
 * target, another call with a stream all images. A call without one that the table does not call
 * harmless may also have lent the memory to another process or mapped it: no image of memory that is
 * there by then is kept any more. While another stream may have work, images are not kept either,
 * since that may write after them what was queued before them. */
#include "known.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"
#include "locks.h"
#include "ranges.h"
#include "settings.h"

enum { MOST_IMAGES = 4096, MOST_STREAMS = 16, TO_DEVICE = 1, TO_HOST = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture_ranges images, blocks;
static uint64_t changes = 1;     /* the calls that may have changed memory, begun or returned */
static size_t changing;          /* such calls on their way */
static struct {
    uint64_t place, since; /* that may have work, given at a number of changes */
} streams[MOST_STREAMS];
static size_t stream_count;
static bool crowded; /* more streams than are known */
static _Thread_local uint64_t awaited; /* the changes when this thread began to wait */

static void drop(struct capture_image *image)
{
    if (--image->references == 0) {
        capture_unpin(&image->to);
        free(image);
    }
}

static void forget(uint64_t begin, uint64_t size)
{
    const uint64_t end = begin + size < begin ? UINT64_MAX : begin + size;
    const size_t at = capture_range_from(&images, begin);
    size_t count = 0;
    for (; at + count < images.count && images.list[at + count].begin < end; count++) {
        drop(images.list[at + count].of);
    }
    capture_remove_ranges(&images, at, count);
}

static void forget_blocks(void)
{
    forget(0, UINT64_MAX);
    capture_remove_ranges(&blocks, 0, blocks.count);
}

void capture_forget_images(void)
{
    pthread_mutex_lock(&lock);
    forget(0, UINT64_MAX);
    pthread_mutex_unlock(&lock);
}

void capture_forget_blocks(void)
{
    pthread_mutex_lock(&lock);
    forget_blocks();
    pthread_mutex_unlock(&lock);
}

void capture_drop_image(struct capture_image *image)
{
    pthread_mutex_lock(&lock);
    const bool last = --image->references == 0;
    pthread_mutex_unlock(&lock);
    if (last) {
        capture_unpin(&image->to);
        free(image);
    }
}

/* The range that has all of another in it, or NULL. */
static const struct capture_range *around(const struct capture_ranges *ranges, uint64_t begin,
                                          uint64_t size)
{
    const size_t at = capture_range_from(ranges, begin);
    if (at == ranges->count || ranges->list[at].begin > begin ||
        size > ranges->list[at].end - begin) {
        return NULL;
    }
    return &ranges->list[at];
}

struct capture_image *capture_find_image(uint64_t place, uint64_t begin, uint64_t size)
{
    pthread_mutex_lock(&lock);
    const struct capture_range *found = around(&images, begin, size);
    struct capture_image *image = found == NULL ? NULL : found->of;
    if (image != NULL && image->place == place) {
        image->references++;
    } else {
        image = NULL;
    }
    pthread_mutex_unlock(&lock);
    return image;
}

uint64_t capture_changes(void)
{
    pthread_mutex_lock(&lock);
    const uint64_t now = changing == 0 ? changes : 0;
    pthread_mutex_unlock(&lock);
    return now;
}

static bool works_alone(uint64_t place)
{
    bool alone = !crowded;
    for (size_t i = 0; i < stream_count; i++) {
        alone = alone && streams[i].place == place;
    }
    return alone;
}

void capture_keep_image(struct capture_image *image, uint64_t since)
{
    pthread_mutex_lock(&lock);
    if (since == changes && !image->to.own && works_alone(image->place) &&
        around(&blocks, image->begin, image->size) != NULL) {
        if (images.count == MOST_IMAGES) {
            forget(0, UINT64_MAX);
        }
        forget(image->begin, image->size);
        if (capture_add_range(&images, image->begin, image->begin + image->size, image)) {
            image->references++;
        }
    }
    pthread_mutex_unlock(&lock);
}

static uint64_t place_of(uint64_t stream)
{
    return stream == 0 ? capture_context() : stream;
}

static void note_work(uint64_t place)
{
    size_t at = 0;
    while (at < stream_count && streams[at].place != place) {
        at++;
    }
    crowded = crowded || at == MOST_STREAMS;
    if (at < MOST_STREAMS) {
        stream_count += at == stream_count;
        streams[at].place = place;
        streams[at].since = changes;
    }
}

/* A stream has done what it was given before a number of changes: what a call hands over counts from
 * its return, and a wait that began while the call was under way may have missed it. */
static void note_rest(uint64_t place, uint64_t until)
{
    for (size_t i = 0; i < stream_count; i++) {
        if (streams[i].place == place && streams[i].since < until) {
            streams[i] = streams[--stream_count];
            return;
        }
    }
}

bool capture_begin_change(const struct capture_function *function, const union mock_word *words)
{
    if (!capture_is_copied()) {
        return false;
    }
    pthread_mutex_lock(&lock);
    if (function->effect == CAPTURE_HARMLESS || function->effect == CAPTURE_ALLOCATES) {
        awaited = changes;
    } else {
        changes++;
        changing++;
    }
    if (function->effect == CAPTURE_FREES) { /* before another thread may be given the memory */
        const size_t at = capture_range_from(&blocks, words[0].bits);
        if (at < blocks.count && blocks.list[at].begin <= words[0].bits) {
            forget(blocks.list[at].begin, blocks.list[at].end - blocks.list[at].begin);
            capture_remove_ranges(&blocks, at, 1);
        }
    }
    pthread_mutex_unlock(&lock);
    return true;
}

/* Forget what an operator writes; false: that is not known. */
static bool forget_results(const struct capture_function *function, const union mock_word *words,
                           const struct capture_operands *of)
{
    bool known = of != NULL && function->effect != CAPTURE_GUESSED;
    for (uint32_t i = 0; known && i < of->count; i++) {
        const struct capture_tensor *tensor = &of->list[i].tensor;
        if (of->list[i].written && !capture_is_empty(tensor)) {
            const uint64_t size = capture_span(tensor);
            known = size != 0 && !tensor->is_private;
            forget(capture_address(capture_begin_of(tensor)), size);
        }
    }
    forget(words[0].bits, words[1].bits);
    return known;
}

/* dst, destMax, src, count, kind */
static void forget_target(const struct capture_function *function, const union mock_word *words)
{
    const int32_t kind = (int32_t)words[4].bits;
    const bool waits = function->stream == CAPTURE_NO_STREAM;
    if (kind == TO_HOST) {
        return;
    }
    if (kind == TO_DEVICE) {
        forget(words[0].bits, words[3].bits);
    } else {
        forget(0, UINT64_MAX);
    }
    if (!waits || kind != TO_DEVICE) { /* on a device it may go on */
        note_work(place_of(waits ? 0 : words[function->stream].bits));
    }
}

static void forget_written(const struct capture_function *function, const union mock_word *words,
                           const struct capture_operands *of)
{
    const bool has_stream = function->stream != CAPTURE_NO_STREAM;
    const uint64_t place = has_stream ? place_of(words[function->stream].bits) : 0;
    if (function->hook == CAPTURE_COPY) {
        forget_target(function, words);
    } else if (function->hook == CAPTURE_END_STREAM) {
        forget(0, UINT64_MAX);
        note_rest(place, UINT64_MAX);
    } else if (function->hook == CAPTURE_DROP_STREAM) { /* what it was doing may go on */
        forget_blocks();
        note_rest(place, UINT64_MAX);
    } else if (function->hook == CAPTURE_PHASE_2 && forget_results(function, words, of)) {
        note_work(place);
    } else if (has_stream) {
        forget(0, UINT64_MAX);
        note_work(place);
    } else if (function->effect == CAPTURE_WRITES) {
        forget(0, UINT64_MAX);
    } else if (function->effect != CAPTURE_FREES) {
        forget_blocks();
    }
}

static void add_block(uint64_t begin, uint64_t size)
{
    if (begin + size > begin && around(&blocks, begin, size) == NULL) {
        capture_add_range(&blocks, begin, begin + size, NULL);
    }
}

void capture_end_change(const struct capture_function *function, const union mock_word *words,
                        int32_t status, const struct capture_operands *of)
{
    pthread_mutex_lock(&lock);
    if (function->effect == CAPTURE_ALLOCATES) {
        uint64_t begin = 0;
        if (status == 0) {
            memcpy(&begin, words[0].pointer, sizeof begin);
            add_block(begin, words[1].bits);
        }
    } else if (function->effect != CAPTURE_HARMLESS) {
        forget_written(function, words, of);
        changes++;
        changing--;
    } else if (function->hook == CAPTURE_SYNCHRONIZE && status == 0) {
        note_rest(place_of(words[0].bits), awaited);
    }
    pthread_mutex_unlock(&lock);
}

/* A child of a fork has no device. */
static void forget_device(void)
{
    pthread_mutex_init(&lock, NULL);
    images.count = blocks.count = stream_count = changing = 0;
}
CAPTURE_IN_CHILD(forget_device)
