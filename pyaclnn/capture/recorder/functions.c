/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions, and the real function behind each. */
#include "functions.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "locks.h"
#include "registers.h"

static struct target {
    void *address;
    uint64_t calls; /* of what is not recorded */
} *targets;

static struct capture_function *functions;
static uint32_t function_count;
static pthread_mutex_t *const loading = &capture_locks[CAPTURE_LOADING];

/* The functions that the recorder calls itself, and their numbers in the table. */
static const char *const KNOWN[] = {
    [CAPTURE_RECENT_MESSAGE] = "aclGetRecentErrMsg",
    [CAPTURE_CHIP] = "aclrtGetSocName",
    [CAPTURE_GET_CONTEXT] = "aclrtGetCurrentContext",
    [CAPTURE_SET_CONTEXT] = "aclrtSetCurrentContext",
    [CAPTURE_GET_DEVICE] = "aclrtGetDevice",
    [CAPTURE_MALLOC_HOST] = "aclrtMallocHost",
    [CAPTURE_FREE_HOST] = "aclrtFreeHost",
    [CAPTURE_MEMCPY_ASYNC] = "aclrtMemcpyAsync",
    [CAPTURE_SYNCHRONIZE_STREAM] = "aclrtSynchronizeStream",
    [CAPTURE_SYNCHRONIZE_WITHIN] = "aclrtSynchronizeStreamWithTimeout",
    [CAPTURE_GRAPH_INFO] = "aclmdlRICaptureGetInfo",
    [CAPTURE_EXCHANGE_MODE] = "aclmdlRICaptureThreadExchangeMode",
};
static uint32_t known[CAPTURE_KNOWN];
const char *capture_chip;
static void (*set_caller)(const void *caller, bool recorded); /* of the simulated NPU, or NULL */

static char *contents_of(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (file == NULL || getdelim(&text, &size, '\0', file) < 0) {
        fprintf(stderr, "pyaclnn capture: cannot read %s\n", path);
        _Exit(127); /* no call could reach its function */
    }
    fclose(file);
    return text;
}

/* The lines: name, tab, specification of the parameters or "-", tab, letter of the result. */
static void load(const char *path)
{
    char *text = contents_of(path); /* stays */
    uint32_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    struct capture_function *made = calloc(lines + 1, sizeof *made);
    targets = calloc(lines + 1, sizeof *targets); /* behind the last: of what is nowhere */
    if (made == NULL || targets == NULL) {
        _Exit(127);
    }
    for (size_t i = 0; i < CAPTURE_KNOWN; i++) {
        known[i] = lines;
    }
    char *line = text;
    for (uint32_t i = 0; i < lines; i++) {
        char *end = strchr(line, '\n'), *spec = strchr(line, '\t');
        *end = *spec++ = '\0';
        char *result = strchr(spec, '\t');
        *result++ = '\0';
        made[i].name = line;
        made[i].spec = spec;
        made[i].result = *result;
        made[i].creates = strchr(result, '+') != NULL;
        made[i].destroys = strchr(result, '-') != NULL;
        made[i].finds = strchr(result, '?') != NULL;
        made[i].places = strchr(result, '@') != NULL;
        made[i].draws = strchr(result, '&') != NULL;
        made[i].forces = strchr(result, '!') != NULL;
        made[i].maps = strchr(result, '/') != NULL;
        const char *effect = strpbrk(result, "QWAFG");
        made[i].effect = effect == NULL ? CAPTURE_UNKNOWN_EFFECT : *effect;
        made[i].hook = (uint8_t)(strchr(result, '#') == NULL ? 0 : atoi(strchr(result, '#') + 1));
        for (size_t one = 0; one < CAPTURE_KNOWN; one++) {
            known[one] = strcmp(line, KNOWN[one]) == 0 ? i : known[one];
        }
        line = end + 1;
    }
    function_count = lines;
    __atomic_store_n(&functions, made, __ATOMIC_RELEASE);
}

/* Find the functions behind the names of a front. */
static void find(const struct capture_description *front)
{
    const char *real = (const char *)front + front->real;
    const uint32_t end = front->first + front->count;
    void *library = dlopen(real, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) {
        library = dlopen(real, RTLD_LAZY);
    }
    void *found = library == NULL ? NULL : dlsym(library, "pyaclnn_mock_caller_set");
    if (found != NULL) {
        __atomic_store(&set_caller, (void (**)(const void *, bool))&found, __ATOMIC_RELEASE);
    }
    for (uint32_t i = front->first; library != NULL && i < end && i < function_count; i++) {
        __atomic_store_n(&targets[i].address, dlsym(library, functions[i].name), __ATOMIC_RELAXED);
    }
}

/* With the first call of a front: a library may call its own functions before the front in front of
 * it is initialized. */
void *capture_target(const struct capture_description *front, uint32_t number)
{
    if (__atomic_load_n(&functions, __ATOMIC_ACQUIRE) == NULL) {
        pthread_mutex_lock(loading);
        if (functions == NULL) {
            load((const char *)front + front->table);
        }
        pthread_mutex_unlock(loading);
    }
    void **address = &targets[number].address;
    if (__atomic_load_n(address, __ATOMIC_RELAXED) == NULL) {
        find(front);
    }
    return __atomic_load_n(address, __ATOMIC_RELAXED);
}

static void call_for(const void *caller, bool recorded)
{
    void (*set)(const void *, bool) = __atomic_load_n(&set_caller, __ATOMIC_ACQUIRE);
    if (set != NULL) {
        set(caller, recorded);
    }
}

void capture_call_for(const void *caller)
{
    call_for(caller, caller == NULL);
}

void capture_count(uint32_t number)
{
    __atomic_fetch_add(&targets[number].calls, 1, __ATOMIC_RELAXED);
    call_for(NULL, false); /* it returns to its caller itself */
}

void *capture_real(enum capture_known function)
{
    capture_call_for(NULL);
    return __atomic_load_n(&targets[known[function]].address, __ATOMIC_RELAXED);
}

int capture_call(enum capture_known function, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                 uint64_t f)
{
    int (*target)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    void *address = capture_real(function);
    memcpy(&target, &address, sizeof target);
    return address == NULL ? -1 : target(a, b, c, d, e, f);
}

uint64_t capture_context(void)
{
    uint64_t context = 0;
    capture_call(CAPTURE_GET_CONTEXT, capture_address(&context), 0, 0, 0, 0, 0);
    return context;
}

const char *capture_ask(enum capture_known function)
{
    const char *(*ask)(void);
    void *address = capture_real(function);
    memcpy(&ask, &address, sizeof ask);
    return address == NULL ? NULL : ask();
}

/* The next unknown function that was called, from a number on, or the end of the table. */
uint32_t capture_unknown(uint32_t from, const char **name, uint64_t *calls)
{
    while (from < function_count && targets[from].calls == 0) {
        from++;
    }
    if (from < function_count) {
        *name = functions[from].name;
        *calls = targets[from].calls;
        return from + 1;
    }
    return 0;
}

bool capture_is_named(const struct capture_parameter *parameter, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(parameter->name, name, length) == 0 && strcspn(parameter->name, " ") == length;
}

bool capture_waits(const struct capture_function *function)
{
    return function->hook == CAPTURE_SYNCHRONIZE || function->hook == CAPTURE_SYNCHRONIZE_DEVICE ||
           function->hook == CAPTURE_QUERY;
}

/* A parameter is LETTER[MARK][SIZE][,OTHER]:NAME, and they are separated by spaces. */
static void parse(struct capture_function *function)
{
    size_t integers = 0, vectors = 0, count = 0;
    function->stream = CAPTURE_NO_STREAM;
    for (const char *at = function->spec; *at != '\0' && count < CAPTURE_MOST; count++) {
        struct capture_parameter *parameter = &function->parameters[count];
        const char letter = *at++;
        parameter->letter = letter;
        parameter->read = *at != '>';
        parameter->written = *at == '>' || *at == '=';
        at += parameter->written;
        char *end;
        parameter->size = (uint16_t)strtoul(at, &end, 10);
        parameter->other = (uint8_t)(*end == ',' ? strtoul(end + 1, &end, 10) : 0);
        parameter->name = *end == ':' ? end + 1 : "";
        function->kinds[count] = letter;
        if (letter == 'h' && capture_is_named(parameter, "stream")) {
            function->stream = (uint8_t)count;
        }
        *(letter == 'd' || letter == 'f' ? &vectors : &integers) += 1;
        at = strchr(end, ' ');
        if (at == NULL) {
            count++;
            break;
        }
        at++;
    }
    function->count = (uint8_t)count;
    function->stack = (uint8_t)((integers > MOCK_INTEGERS ? integers - MOCK_INTEGERS : 0) +
                                (vectors > MOCK_VECTORS ? vectors - MOCK_VECTORS : 0));
    __atomic_store_n(&function->parsed, true, __ATOMIC_RELEASE);
}

struct capture_function *capture_function(uint32_t number)
{
    struct capture_function *function = &functions[number];
    if (!__atomic_load_n(&function->parsed, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(loading);
        if (!function->parsed) {
            parse(function);
        }
        pthread_mutex_unlock(loading);
    }
    return function;
}
