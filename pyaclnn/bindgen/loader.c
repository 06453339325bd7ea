/* SPDX-License-Identifier: Apache-2.0 */
/* The loader of the compiled binding: fills the slots generated from the headers.
 * Generated above: struct binding_function, binding_functions[] and binding_slots[]. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

const size_t binding_function_count = sizeof binding_slots / sizeof binding_slots[0];

/* NOW: a library whose own dependencies are broken is refused here, where the message names it.
 * GLOBAL: custom operator libraries may be built without linking the base library. */
void *binding_open(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

struct binding_text {
    char *text;
    size_t capacity, length;
};

static int binding_note_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct binding_text *to = data;
    const size_t bytes = strlen(info->dlpi_name) + 1; /* with the 0 at its end */
    if (to->length + bytes <= to->capacity) {
        memcpy(to->text + to->length, info->dlpi_name, bytes);
    }
    to->length += bytes;
    return 0;
}

/* The paths of all libraries in this process, by whomever they were loaded, each with a 0 at its
 * end; gives the length of the whole text, which is incomplete if that exceeds the capacity. */
size_t binding_loaded(char *text, size_t capacity)
{
    struct binding_text to = {text, capacity, 0};
    dl_iterate_phdr(binding_note_loaded, &to);
    return to.length;
}

const char *binding_error(void)
{
    return dlerror();
}

static int binding_tracing;

/* From now on Python is told of calls: of functions that are resolved from now on, and of operators. */
void binding_trace(void)
{
    binding_tracing = 1;
}

/* The place of a function in the tables, or their length. */
static size_t binding_find(const char *symbol)
{
    size_t i = 0;
    while (i < binding_function_count && strcmp(binding_functions[i].name, symbol) != 0) {
        i++;
    }
    return i;
}

typedef void *__attribute__((__may_alias__)) binding_address;

/* Threads may look for the same function at the same time, and call it as soon as they have it: it
 * is written by the first of them alone. */
static void fill_slot(void *slot, const void *function)
{
    binding_address *const place = slot;
    binding_address wanted;
    memcpy(&wanted, function, sizeof wanted);
    binding_address found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    while (found != wanted && !__atomic_compare_exchange_n(place, &found, wanted, 0,
                                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
}

/* 1: found, the slot is filled; 0: not in this library; -1: no such function is declared. */
int binding_resolve(const char *symbol, void *library)
{
    const size_t at = binding_find(symbol);
    if (at == binding_function_count) {
        return -1;
    }
    void *address = dlsym(library, symbol);
    if (address == NULL) {
        return 0;
    }
    if (binding_tracing) {
        fill_slot(binding_slots[at].traced, &address);
        fill_slot(binding_slots[at].slot, &binding_slots[at].twin);
    } else {
        fill_slot(binding_slots[at].slot, &address);
    }
    return 1;
}

int binding_resolved(const char *symbol)
{
    const size_t at = binding_find(symbol);
    void *address = NULL;
    if (at != binding_function_count) {
        memcpy(&address, binding_slots[at].slot, sizeof address);
    }
    return address != NULL;
}

int binding_has_symbol(void *library, const char *symbol)
{
    return dlsym(library, symbol) != NULL;
}

void *binding_symbol(void *library, const char *symbol)
{
    return dlsym(library, symbol);
}
