/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary objects of a launch: tensors, scalars, arrays, lists. The message describes them by
 * a word of eight bytes for each parameter, and a tail. A word is a number; the address of a struct
 * binding_tensor; or the offset in the message of a value in the tail: an array or a list as its
 * length and its items, a scalar as its data type and sixteen bytes, a string with its end. 0 is
 * NULL. */

enum { WORD = 8, SCALAR = 3 * WORD };

static uint64_t word_at(const char *place)
{
    uint64_t word;
    memcpy(&word, place, sizeof word);
    return word;
}

static const void *address_at(const char *place)
{
    return (const void *)(uintptr_t)word_at(place);
}

static int is_list(char kind)
{
    return kind == 'T' || kind == 'W' || kind == 'A';
}

/* ---- destroying --------------------------------------------------------------------------- */

/* The status of destroying an object; *routine gets the function's name. */
static int destroy(void *object, char kind, const char **routine)
{
    switch (kind) {
    case 't':
    case 'w':
        *routine = "aclDestroyTensor";
        return slots.aclDestroyTensor(object);
    case 'T':
    case 'W':
        *routine = "aclDestroyTensorList";
        return slots.aclDestroyTensorList(object);
    case 'I':
        *routine = "aclDestroyIntArray";
        return slots.aclDestroyIntArray(object);
    case 'F':
        *routine = "aclDestroyFloatArray";
        return slots.aclDestroyFloatArray(object);
    case 'B':
        *routine = "aclDestroyBoolArray";
        return slots.aclDestroyBoolArray(object);
    case 'a':
        *routine = "aclDestroyScalar";
        return slots.aclDestroyScalar(object);
    default:
        *routine = "aclDestroyScalarList";
        return slots.aclDestroyScalarList(object);
    }
}

/* Destroy all, newest first. The status of the call takes precedence over a failure here, unless
 * the call only has to be repeated: then nothing is queued, and the failure ends it. */
static int destroy_made(void **made, const char *kinds, uint32_t *count, int status)
{
    while (*count > 0) {
        const char *routine;
        (*count)--;
        const int refused = destroy(made[*count], kinds[*count], &routine);
        if (refused != 0 && (status == 0 || status == BINDING_GROW)) {
            fail(refused, routine);
            status = status == 0 ? BINDING_UNTIDY : refused;
        }
    }
    return status;
}

/* ---- making ------------------------------------------------------------------------------- */

static void *make_tensor(const struct binding_tensor *tensor, const char **routine)
{
    const struct binding_layout *layout = tensor->layout;
    const int own = layout->storage_rank != 0;
    *routine = "aclCreateTensor";
    return slots.aclCreateTensor(layout->dims, layout->rank, (aclDataType)layout->data_type,
                                layout->strides, tensor->element_offset, (aclFormat)layout->format,
                                own ? layout->storage : &tensor->extent,
                                own ? layout->storage_rank : 1, tensor->block->address);
}

/* CANN's scalars copy the value, although the parameter is not const. */
static void *make_scalar(const char *place, const char **routine)
{
    uint64_t value[2];
    memcpy(value, place + WORD, sizeof value);
    *routine = "aclCreateScalar";
    return slots.aclCreateScalar(value, (aclDataType)word_at(place));
}

/* The list takes over its elements. If one cannot be made, none is left. */
static void *make_list(const char *place, char kind, void **elements, const char **routine)
{
    const uint64_t count = word_at(place);
    const char element = kind == 'A' ? 'a' : 't';
    uint64_t made = 0;
    int whole = 1;
    for (const char *item = place + WORD; made < count && whole; made++) {
        elements[made] = NULL;
        if (element == 'a') {
            elements[made] = make_scalar(item, routine);
            item += SCALAR;
        } else {
            const struct binding_tensor *tensor = address_at(item);
            if (tensor == NULL) { /* an element that is not there */
                item += WORD;
                continue;
            }
            elements[made] = make_tensor(tensor, routine);
            item += WORD;
        }
        whole = elements[made] != NULL;
    }
    void *list = NULL;
    if (whole && element == 'a') {
        *routine = "aclCreateScalarList";
        list = slots.aclCreateScalarList((const aclScalar *const *)elements, count);
    } else if (whole) {
        *routine = "aclCreateTensorList";
        list = slots.aclCreateTensorList((const aclTensor *const *)elements, count);
    }
    if (list == NULL) {
        while (made-- > 0) {
            const char *ignored;
            if (elements[made] != NULL) {
                destroy(elements[made], element, &ignored);
            }
        }
    }
    return list;
}

/* Create the object of a word of the message, which is not 0; NULL on failure. */
static void *make(const char *message, uint64_t word, char kind, void **elements,
                  const char **routine)
{
    const char *place = message + word;
    switch (kind) {
    case 't':
    case 'w':
        return make_tensor((const void *)(uintptr_t)word, routine);
    case 'I':
        *routine = "aclCreateIntArray";
        return slots.aclCreateIntArray((const void *)(place + WORD), word_at(place));
    case 'F':
        *routine = "aclCreateFloatArray";
        return slots.aclCreateFloatArray((const void *)(place + WORD), word_at(place));
    case 'B':
        *routine = "aclCreateBoolArray";
        return slots.aclCreateBoolArray((const void *)(place + WORD), word_at(place));
    case 'a':
        return make_scalar(place, routine);
    default:
        return make_list(place, kind, elements, routine);
    }
}

static int is_made(char kind)
{
    return memchr("twTWIFBaA", kind, 9) != NULL;
}
