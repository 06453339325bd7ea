/* SPDX-License-Identifier: Apache-2.0 */
/* One call of an operator, from its message to what phase 1 takes, and what is left of it after. */
#include <stdlib.h>

enum { FEW = 64 };

/* One call in progress. Where there are more than a few of a thing, all lie in memory of their own. */
struct call {
    const struct binding_operator *op;
    struct binding_timeline *timeline;
    const char *message;
    struct binding_submission submission;
    void *previous; /* the thread's context, to be put back */
    int status;
    uint32_t parameter_count, tensor_count, made_count;
    void *room;
    union binding_value *values;
    const struct binding_tensor **tensors; /* those that are there, elements of lists among them */
    void **made;
    void **elements; /* of the list in the making */
    char *kinds;
    char *written;
    union binding_value few_values[FEW];
    const struct binding_tensor *few_tensors[FEW];
    void *few_made[FEW], *few_elements[FEW];
    char few_kinds[FEW], few_written[FEW];
};

static uint64_t word_of(const struct call *call, uint32_t parameter)
{
    return word_at(call->message + (size_t)parameter * WORD);
}

/* The parameters, all tensors with those that are not there, the longest list: the most of them. */
static size_t count_all(struct call *call)
{
    const char *kinds = call->op->kinds;
    size_t tensors = 0, longest = 0;
    for (call->parameter_count = 0; kinds[call->parameter_count] != '\0'; call->parameter_count++) {
        const char kind = kinds[call->parameter_count];
        if (is_list(kind)) {
            const uint64_t word = word_of(call, call->parameter_count);
            const uint64_t count = word == 0 ? 0 : word_at(call->message + word);
            tensors += kind == 'A' ? 0 : count;
            longest = count > longest ? count : longest;
        } else if (kind == 't' || kind == 'w') {
            tensors++;
        }
    }
    const size_t most = tensors > longest ? tensors : longest;
    return most > call->parameter_count ? most : call->parameter_count;
}

static int find_room(struct call *call)
{
    const size_t most = count_all(call);
    call->room = NULL;
    call->values = call->few_values;
    call->tensors = call->few_tensors;
    call->made = call->few_made;
    call->elements = call->few_elements;
    call->kinds = call->few_kinds;
    call->written = call->few_written;
    if (most > FEW) {
        char *room = malloc(most * (4 * sizeof(void *) + 2));
        if (room == NULL) {
            return BINDING_MEMORY;
        }
        call->room = room;
        call->values = (void *)room;
        call->tensors = (void *)(room += most * sizeof(void *));
        call->made = (void *)(room += most * sizeof(void *));
        call->elements = (void *)(room += most * sizeof(void *));
        call->kinds = room += most * sizeof(void *);
        call->written = room + most;
    }
    return 0;
}

static void add_tensor(struct call *call, const void *tensor, int written)
{
    if (tensor != NULL) {
        call->tensors[call->tensor_count] = tensor;
        call->written[call->tensor_count++] = (char)written;
    }
}

static void find_tensors(struct call *call)
{
    call->tensor_count = 0;
    for (uint32_t i = 0; i < call->parameter_count; i++) {
        const char kind = call->op->kinds[i];
        const uint64_t word = word_of(call, i);
        if (kind == 't' || kind == 'w') {
            add_tensor(call, (const void *)(uintptr_t)word, kind == 'w');
        } else if ((kind == 'T' || kind == 'W') && word != 0) {
            const char *place = call->message + word;
            for (uint64_t left = word_at(place); left > 0; left--) {
                add_tensor(call, address_at(place += WORD), kind == 'W');
            }
        }
    }
}

static uint64_t start_of(const struct binding_tensor *tensor)
{
    return (uint64_t)(uintptr_t)tensor->block->address + tensor->offset;
}

/* Return whether the byte ranges of two tensors overlap. */
static int touches(const struct binding_tensor *one, const struct binding_tensor *other)
{
    return one->layout->span != 0 && other->layout->span != 0 &&
           start_of(one) < start_of(other) + other->layout->span &&
           start_of(other) < start_of(one) + one->layout->span;
}

/* Return whether a tensor that is written overlaps any other. */
static int overlaps(const struct call *call)
{
    for (uint32_t i = 0; i < call->tensor_count; i++) {
        for (uint32_t j = 0; call->written[i] && j < call->tensor_count; j++) {
            if (j != i && touches(call->tensors[i], call->tensors[j])) {
                return 1;
            }
        }
    }
    return 0;
}

static int begin(struct call *call, int judged)
{
    int status = find_room(call);
    if (status != 0) {
        return status;
    }
    find_tensors(call);
    status = !judged && overlaps(call) ? BINDING_OVERLAP : 0;
    if (status == 0) {
        status = reserve_tensors(call->timeline, &call->submission, call->tensors, call->written,
                                 call->tensor_count);
    }
    if (status == 0) {
        status = enter_context(call->timeline, &call->previous);
        if (status != 0) {
            settle(call->timeline, &call->submission);
        }
    }
    if (status != 0) {
        free(call->room);
    }
    return status;
}

static void make_all(struct call *call)
{
    call->made_count = 0;
    for (uint32_t i = 0; i < call->parameter_count; i++) {
        const char kind = call->op->kinds[i];
        const uint64_t word = word_of(call, i);
        call->values[i].bits = word;
        if (word == 0) {
            continue;
        }
        if (is_made(kind)) {
            const char *routine = "";
            void *object = make(call->message, word, kind, call->elements, &routine);
            if (object == NULL) {
                call->status = fail(ACLNN_ERR_INNER, routine);
                return;
            }
            call->values[i].pointer = object;
            call->made[call->made_count] = object;
            call->kinds[call->made_count++] = kind;
        } else if (kind == 's') {
            call->values[i].bits = (uint64_t)(uintptr_t)(call->message + word);
        }
    }
}

/* An executor that will not be run. If it cannot be destroyed either, that is the answer. */
static void discard(struct call *call, void *executor, int status)
{
    const int refused = slots.aclDestroyAclOpExecutor(executor);
    call->status = refused == 0 ? status : fail(refused, "aclDestroyAclOpExecutor");
}

static void end(struct call *call)
{
    call->status = destroy_made(call->made, call->kinds, &call->made_count, call->status);
    settle(call->timeline, &call->submission);
    call->status = leave_context(call->previous, call->status);
    free(call->room);
}
