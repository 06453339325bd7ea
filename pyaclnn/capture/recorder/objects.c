/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the program, counted by what needs them: the handles, executors, graphs, threads. */
#include "objects.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "locks.h"

static void *handles; /* a tree of objects by their keys */
static struct capture_object *oldest, *newest;

struct capture_object *capture_make(const struct capture_call *call, struct capture_object *place)
{
    const size_t length = call == NULL ? 0 : call->record.length;
    struct capture_object *made = calloc(1, sizeof *made + length);
    if (made == NULL) {
        abort(); /* a part without it would not replay */
    }
    made->references = 1;
    if (length != 0) {
        memcpy(made->record, call->record.data, length);
        made->length = (uint32_t)length;
        made->number = call->number;
        made->file = call->file;
    }
    if (place != NULL) {
        place->references++;
        made->place = place;
    }
    made->before = newest;
    *(newest == NULL ? &oldest : &newest->after) = made;
    newest = made;
    return made;
}

void capture_release(struct capture_object *object)
{
    if (object == NULL || --object->references != 0) {
        return;
    }
    *(object->before == NULL ? &oldest : &object->before->after) = object->after;
    *(object->after == NULL ? &newest : &object->after->before) = object->before;
    for (size_t i = 0; i < object->count; i++) {
        capture_release(object->needs[i]);
    }
    capture_release(object->place);
    free(object->needs);
    free(object->operands);
    free(object);
}

void capture_need(struct capture_object *object, struct capture_object *needed)
{
    if (needed == NULL) {
        return;
    }
    if ((object->count & (object->count - 1)) == 0) { /* full: a power of two, or none */
        const size_t capacity = object->count == 0 ? 1 : 2 * object->count;
        struct capture_object **needs = realloc(object->needs, capacity * sizeof(void *));
        if (needs == NULL) {
            abort();
        }
        object->needs = needs;
    }
    needed->references++;
    object->needs[object->count++] = needed;
}

static int by_key(const void *one, const void *other)
{
    const struct capture_object *a = one, *b = other;
    return (a->key > b->key) - (a->key < b->key);
}

struct capture_object *capture_find(uint64_t handle)
{
    const struct capture_object like = {.key = handle};
    struct capture_object *const *found = tfind(&like, &handles, by_key);
    return found == NULL ? NULL : *found;
}

void capture_name(struct capture_object *object, uint64_t handle)
{
    object->key = handle;
    struct capture_object **place = tsearch(object, &handles, by_key);
    if (place == NULL) {
        abort();
    }
    if (*place != object) { /* the handle was ended unseen */
        capture_release(*place);
        *place = object;
    }
}

void capture_change(struct capture_object *executor, struct capture_object *by, uint64_t what)
{
    by->later = true;
    by->key = what;
    for (size_t i = 0; i < executor->count; i++) {
        struct capture_object **one = &executor->needs[i];
        if ((*one)->later && (*one)->key == what) {
            capture_release(*one);
            *one = by;
            return;
        }
    }
    capture_need(executor, by);
    capture_release(by);
}

void capture_forget(uint64_t handle)
{
    struct capture_object *object = capture_find(handle);
    if (object == NULL) {
        return;
    }
    for (size_t i = 0; object->owns && i < object->count; i++) {
        if (capture_find(object->needs[i]->key) == object->needs[i]) {
            capture_forget(object->needs[i]->key);
        }
    }
    tdelete(object, &handles, by_key);
    capture_release(object);
}

void capture_put_living(void (*put)(uint32_t number, const uint8_t *data, size_t length))
{
    const struct capture_object *place = NULL;
    pthread_mutex_lock(&capture_locks[CAPTURE_OBJECTS]);
    for (const struct capture_object *one = oldest; one != NULL; one = one->after) {
        if (one->length == 0 || capture_function(one->number)->places) { /* before what is there */
            continue;
        }
        if (one->place != NULL && one->place != place) {
            place = one->place;
            put(place->number, place->record, place->length);
        }
        put(one->number, one->record, one->length);
    }
    pthread_mutex_unlock(&capture_locks[CAPTURE_OBJECTS]);
}
