/* SPDX-License-Identifier: Apache-2.0 */
/* What the program has made and not ended: the calls that made it, for a file that begins later. */
#include "living.h"

#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "locks.h"
#include "map.h"

static pthread_mutex_t *const lock = &capture_locks[CAPTURE_LIVING];
static struct capture_map objects;
static uint64_t made, graphs;
static struct capture_bytes drawn; /* entries of the graph that is captured */

/* A live object. */
struct living {
    uint64_t order, graph; /* graph: the last one that it was drawn into */
    size_t count, length;
    bool lasts;
    uint8_t data[]; /* the keys of what ends with it, then its entries */
};

struct entry {
    uint32_t number, length;
};

void capture_add_call(struct capture_bytes *entries, const struct capture_call *call)
{
    const struct entry head = {call->number, (uint32_t)call->record.length};
    if (head.length != 0) {
        capture_put(entries, &head, sizeof head);
        capture_put(entries, call->record.data, head.length);
    }
}

static const uint8_t *entries_of(const struct living *one)
{
    return one->data + one->count * sizeof one->order;
}

static struct living *element_of(const struct living *one, size_t i)
{
    uint64_t key;
    memcpy(&key, one->data + i * sizeof key, sizeof key);
    return capture_map_find(&objects, key);
}

static void add_makers(struct capture_bytes *to, const struct living *one)
{
    for (int after = 0; after < 2; after++) {
        for (size_t i = 0; i < one->count; i++) {
            const struct living *element = element_of(one, i);
            if (element != NULL && (element->order > one->order) == (after != 0)) {
                add_makers(to, element);
            }
        }
        capture_put(to, entries_of(one), after ? 0 : one->length);
    }
}

void capture_add_makers(struct capture_bytes *entries, uint64_t key)
{
    pthread_mutex_lock(lock);
    const struct living *one = capture_map_find(&objects, key);
    if (one != NULL) {
        add_makers(entries, one);
    }
    pthread_mutex_unlock(lock);
}

/* The lock is held. */
static void keep(uint64_t key, const void *keys, size_t count, const struct capture_bytes *entries, bool lasts)
{
    const size_t before = count * sizeof key;
    struct living *kept = malloc(sizeof *kept + before + entries->length);
    if (kept != NULL) {
        *kept = (struct living){made++, 0, count, entries->length, lasts};
        if (before != 0) {
            memcpy(kept->data, keys, before);
        }
        memcpy(kept->data + before, entries->data, entries->length);
        capture_map_put(&objects, key, kept);
    }
}

void capture_keep(uint64_t key, const struct capture_bytes *entries, const void *keys, size_t count,
                  bool found)
{
    pthread_mutex_lock(lock);
    if (!found || capture_map_find(&objects, key) == NULL) {
        keep(key, keys, count, entries, false);
    }
    pthread_mutex_unlock(lock);
}

void capture_keep_lasting(uint64_t key, const struct capture_call *call)
{
    static struct capture_bytes entries;
    pthread_mutex_lock(lock);
    const struct living *one = capture_map_find(&objects, key);
    if (one != NULL) {
        entries.length = 0;
        capture_put(&entries, entries_of(one), one->length);
        capture_add_call(&entries, call);
        keep(key, one->data, one->count, &entries, true);
    }
    pthread_mutex_unlock(lock);
}

void capture_forget(uint64_t key, bool used)
{
    uint64_t element;
    pthread_mutex_lock(lock);
    const struct living *one = capture_map_find(&objects, key);
    if (one != NULL && !(used && one->lasts)) {
        for (size_t i = 0; i < one->count; i++) {
            memcpy(&element, one->data + i * sizeof element, sizeof element);
            capture_map_put(&objects, element, NULL);
        }
        capture_map_put(&objects, key, NULL);
    }
    pthread_mutex_unlock(lock);
}

void capture_draw(const struct capture_bytes *entries, const uint64_t *keys, size_t count)
{
    pthread_mutex_lock(lock);
    graphs += drawn.length == 0;
    for (size_t i = 0; i < count; i++) {
        struct living *one = capture_map_find(&objects, keys[i]);
        if (one != NULL && one->graph != graphs) {
            one->graph = graphs;
            add_makers(&drawn, one);
        }
    }
    capture_put(&drawn, entries->data, entries->length);
    pthread_mutex_unlock(lock);
}

void capture_keep_drawn(uint64_t graph)
{
    pthread_mutex_lock(lock);
    if (graph != 0) {
        keep(graph, NULL, 0, &drawn, true);
    }
    drawn.length = 0;
    pthread_mutex_unlock(lock);
}

static int by_order(const void *one, const void *other)
{
    const struct living *const *a = one, *const *b = other;
    return (*a)->order < (*b)->order ? -1 : (*a)->order > (*b)->order;
}

/* Write entries, but what chooses the place of calls only where it is another than before. */
static void put_entries(const uint8_t *at, size_t length, const uint8_t **place,
                        void (*put)(uint32_t number, const uint8_t *data, size_t length))
{
    for (const uint8_t *end = at + length; at < end;) {
        struct entry head;
        memcpy(&head, at, sizeof head);
        const size_t size = sizeof head + head.length;
        const bool places = capture_function(head.number)->places;
        if (!places || *place == NULL || memcmp(*place, at, sizeof head) != 0 ||
            memcmp(*place, at, size) != 0) {
            put(head.number, at + sizeof head, head.length);
        }
        *place = places ? at : *place;
        at += size;
    }
}

void capture_put_living(void (*put)(uint32_t number, const uint8_t *data, size_t length))
{
    const uint8_t *place = NULL;
    pthread_mutex_lock(lock);
    const struct living **all = calloc(objects.count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; all != NULL && i < objects.capacity; i++) {
        if (objects.slots[i].value != NULL) {
            all[count++] = objects.slots[i].value;
        }
    }
    if (all != NULL) {
        qsort(all, count, sizeof *all, by_order);
    }
    for (size_t i = 0; i < count; i++) {
        put_entries(entries_of(all[i]), all[i]->length, &place, put);
    }
    put_entries(drawn.data, drawn.length, &place, put);
    free(all);
    pthread_mutex_unlock(lock);
}
