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
    struct capture_object *made = capture_memory(NULL, sizeof *made + length);
    if (made == NULL) {
        return NULL;
    }
    *made = (struct capture_object){.references = 1};
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
    if (object == NULL || needed == NULL) {
        return;
    }
    if ((object->count & (object->count - 1)) == 0) { /* full: a power of two, or none */
        const size_t capacity = object->count == 0 ? 1 : 2 * object->count;
        struct capture_object **needs = capture_memory(object->needs, capacity * sizeof(void *));
        if (needs == NULL) {
            return;
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
        capture_release(object);
    } else if (*place != object) { /* the handle was ended unseen */
        capture_release(*place);
        *place = object;
    }
}

void capture_change(struct capture_object *executor, struct capture_object *by, uint64_t what)
{
    if (by == NULL) {
        return;
    }
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

void capture_forget(struct capture_object *object)
{
    if (object == NULL || capture_find(object->key) != object) {
        return;
    }
    for (size_t i = 0; object->owns && i < object->count; i++) {
        capture_forget(object->needs[i]);
    }
    tdelete(object, &handles, by_key);
    capture_release(object);
}

/* End what is in a context, or, of 0, in any; what chose it for a thread is not to be written again. */
static void end_context(uint64_t context)
{
    for (struct capture_object *one = oldest, *next; one != NULL; one = next) {
        one->references++; /* so that its place in the list stays */
        if (one->context != 0 && (context == 0 || one->context == context)) {
            capture_forget(one);
            one->length = 0;
        }
        next = one->after;
        capture_release(one);
    }
}

static struct {
    uint64_t times, context; /* set and not given back; the one that all its threads share */
} devices[1024];

void capture_set_device(uint64_t device, uint64_t context)
{
    if (device < sizeof devices / sizeof devices[0]) {
        devices[device].times++;
        devices[device].context = context;
    }
}

void capture_reset_device(uint64_t device, bool force)
{
    if (device >= sizeof devices / sizeof devices[0] || devices[device].times == 0) {
        return;
    }
    devices[device].times = force ? 0 : devices[device].times - 1;
    if (devices[device].times == 0) {
        end_context(devices[device].context);
    }
}

void capture_reset_all(void)
{
    memset(devices, 0, sizeof devices);
    end_context(0);
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
