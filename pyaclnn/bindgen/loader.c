/* SPDX-License-Identifier: Apache-2.0 */
/* The loader of the compiled binding: fills the slots generated from the headers.
 * Generated above: struct binding_function, binding_texts[], slots, traced and binding_twins[]. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

enum { BINDING_FUNCTIONS = sizeof binding_twins / sizeof binding_twins[0] };
_Static_assert(sizeof slots == sizeof binding_twins, "a slot for each function");
const size_t binding_function_count = BINDING_FUNCTIONS;
struct binding_function binding_functions[BINDING_FUNCTIONS];

static const char *binding_take(const char **place)
{
    const char *text = *place;
    *place += strlen(text) + 1;
    return text;
}

__attribute__((constructor)) static void binding_list(void)
{
    const char *place = binding_texts;
    for (size_t i = 0; i < BINDING_FUNCTIONS; i++) {
        struct binding_function *const function = &binding_functions[i];
        function->name = binding_take(&place);
        function->header = binding_take(&place);
        function->since = binding_take(&place);
        function->library = binding_take(&place);
        function->parameters = binding_take(&place);
    }
}

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

/* Trace calls in Python: of functions that are resolved from now on, and of operators. */
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

static binding_address *slot_of(void *all, size_t at)
{
    return (binding_address *)all + at;
}

/* Threads may look for the same function at the same time, and call it as soon as they have it: it
 * is written by the first of them alone. */
static void fill_slot(binding_address *place, const void *function)
{
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
        fill_slot(slot_of(&traced, at), &address);
        fill_slot(slot_of(&slots, at), &binding_twins[at]);
    } else {
        fill_slot(slot_of(&slots, at), &address);
    }
    return 1;
}

int binding_has_symbol(void *library, const char *symbol)
{
    return dlsym(library, symbol) != NULL;
}

void *binding_symbol(void *library, const char *symbol)
{
    return dlsym(library, symbol);
}
