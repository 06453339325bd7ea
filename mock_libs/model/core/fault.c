/* SPDX-License-Identifier: Apache-2.0 */
/* Faults: reading their description, and deciding which call they hit.
 *
 *     faults  = fault { ";" fault }
 *     fault   = function [ "@" device ] [ ":" when ] "=" effect | "memory=" bytes | "seed=" number
 *             | "stuck=" device ":" byte ":" bit
 *     when    = n (only the n-th call) | n "+" (from the n-th on) | "*" n (every n-th) | "p" share
 *     effect  = code | "after:" code | "async:" code | "slow:" microseconds | "hang" | "wrong" | "lost"
 *
 * `function` may hold the wildcards of a shell; without `when` every call is hit, without `device`
 * that of any thread. */
#include "fault.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FAULTS = 64, MAX_STUCK = 16, LONGEST_NAME = 96, LONGEST_ITEM = 256, ANY_DEVICE = -1 };

enum when { ALWAYS, ONLY, FROM, EVERY, SHARE };

struct fault {
    char text[LONGEST_ITEM]; /* as it was written, without blanks */
    char function[LONGEST_NAME];
    enum when when;
    uint64_t number, seen, done;
    int device; /* the current one of the threads whose calls are hit, or ANY_DEVICE */
    double share;
    enum mock_effect effect;
    int code;
};

struct plan {
    struct fault faults[MAX_FAULTS];
    size_t count;
    struct mock_stuck_bit stuck[MAX_STUCK];
    size_t stuck_count;
    uint64_t memory, random;
};

pthread_mutex_t mock_fault_lock = PTHREAD_MUTEX_INITIALIZER;
static struct plan plan = {.memory = UINT64_MAX, .random = 1};
static atomic_bool armed, sticking;
static _Thread_local int device_now = ANY_DEVICE;
static _Atomic uint64_t generation, memory_limit = UINT64_MAX;
static char config_error[LONGEST_ITEM + 128];

bool mock_faults_armed(void)
{
    return atomic_load_explicit(&armed, memory_order_acquire);
}

void mock_fault_set_device(int device)
{
    device_now = device;
}

uint64_t mock_fault_memory_limit(void)
{
    return atomic_load_explicit(&memory_limit, memory_order_relaxed);
}

uint64_t mock_fault_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

const char *mock_fault_config_error(void)
{
    return config_error[0] == '\0' ? NULL : config_error;
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool number_from(const char *text, char end, uint64_t *value)
{
    char *stop = NULL;
    errno = 0;
    *value = strtoull(text, &stop, 10);
    return isdigit((unsigned char)text[0]) && errno == 0 && stop[0] == end &&
           (end == '\0' || stop[1] == '\0');
}

static bool read_when(const char *text, struct fault *fault)
{
    char *stop = NULL;
    if (text[0] == '*') {
        fault->when = EVERY;
        return number_from(text + 1, '\0', &fault->number) && fault->number > 0;
    }
    if (text[0] == 'p') {
        fault->when = SHARE;
        fault->share = strtod(text + 1, &stop);
        return stop != text + 1 && *stop == '\0' && fault->share >= 0 && fault->share <= 1;
    }
    fault->when = text[0] != '\0' && text[strlen(text) - 1] == '+' ? FROM : ONLY;
    return number_from(text, fault->when == FROM ? '+' : '\0', &fault->number) &&
           fault->number > 0;
}

static bool read_code(const char *text, int *code)
{
    uint64_t value = 0;
    const bool good = number_from(text, '\0', &value) && value > 0 && value < 10000000;
    *code = (int)value;
    return good;
}

static bool read_effect(const char *text, struct fault *fault)
{
    static const struct {
        const char *word;
        enum mock_effect effect;
    } words[] = {{"hang", MOCK_HANGS}, {"wrong", MOCK_IS_WRONG}, {"lost", MOCK_LOSES_DEVICE}},
      prefixes[] = {{"after:", MOCK_FAILS_AFTER},
                    {"async:", MOCK_FAILS_LATER},
                    {"slow:", MOCK_IS_SLOW},
                    {"", MOCK_FAILS}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].word) == 0) {
            fault->effect = words[i].effect;
            return true;
        }
    }
    size_t i = 0;
    while (strncmp(text, prefixes[i].word, strlen(prefixes[i].word)) != 0) {
        i++;
    }
    fault->effect = prefixes[i].effect;
    return read_code(text + strlen(prefixes[i].word), &fault->code);
}

/* Device, byte and bit. */
static bool read_stuck(struct plan *to, const char *text)
{
    enum { PARTS = 3 };
    static const uint64_t most[PARTS] = {INT32_MAX, INT64_MAX, 7};
    uint64_t parts[PARTS];
    char part[LONGEST_ITEM];
    for (int i = 0; i < PARTS; i++) {
        const size_t length = strcspn(text, ":");
        memcpy(part, text, length);
        part[length] = '\0';
        if (!number_from(part, '\0', &parts[i]) || parts[i] > most[i] ||
            (text[length] == ':') != (i + 1 < PARTS)) {
            return false;
        }
        text += length + 1;
    }
    if (to->stuck_count == MAX_STUCK) {
        return false;
    }
    to->stuck[to->stuck_count++] = (struct mock_stuck_bit){(int)parts[0], parts[1], (unsigned)parts[2]};
    return true;
}

/* "@" and a device behind the name of a function, which is cut off there. */
static bool read_device(char *function, int *device)
{
    uint64_t number = 0;
    char *at = strchr(function, '@');
    *device = ANY_DEVICE;
    if (at == NULL) {
        return true;
    }
    *at = '\0';
    const bool good = number_from(at + 1, '\0', &number) && number <= INT32_MAX;
    *device = (int)number;
    return good && at != function;
}

/* One item without blanks; false: not to be understood. */
static bool read_item(struct plan *to, const char *text)
{
    char item[LONGEST_ITEM];
    memcpy(item, text, strlen(text) + 1);
    char *effect = strchr(item, '=');
    if (effect == NULL || effect == item) {
        return false;
    }
    *effect++ = '\0';
    if (strcmp(item, "memory") == 0) {
        return number_from(effect, '\0', &to->memory);
    }
    if (strcmp(item, "seed") == 0) {
        const bool good = number_from(effect, '\0', &to->random);
        to->random = to->random * 2654435761u + 1;
        return good;
    }
    if (strcmp(item, "stuck") == 0) {
        return read_stuck(to, effect);
    }
    char *when = strchr(item, ':');
    if (when != NULL) {
        *when++ = '\0';
    }
    if (to->count == MAX_FAULTS || strlen(item) >= LONGEST_NAME) {
        return false;
    }
    struct fault *fault = &to->faults[to->count++];
    memset(fault, 0, sizeof *fault);
    memcpy(fault->text, text, strlen(text) + 1);
    if (!read_device(item, &fault->device)) {
        return false;
    }
    memcpy(fault->function, item, strlen(item) + 1);
    return (when == NULL || read_when(when, fault)) && read_effect(effect, fault);
}

static bool read_plan(struct plan *to, const char *text, char *failed)
{
    while (*text != '\0') {
        size_t length = 0;
        bool fits = true;
        for (; *text != '\0' && *text != ';' && *text != '\n'; text++) {
            fits = fits && length + 1 < LONGEST_ITEM;
            if (fits && !isspace((unsigned char)*text)) {
                failed[length++] = *text;
            }
        }
        failed[length] = '\0';
        text += *text != '\0';
        if (length > 0 && (!fits || !read_item(to, failed))) {
            return false;
        }
    }
    return true;
}

const char *mock_faults_set(const char *text)
{
    static _Thread_local char failed[LONGEST_ITEM];
    struct plan *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) {
        return "no memory";
    }
    fresh->memory = UINT64_MAX;
    fresh->random = 1;
    const bool good = read_plan(fresh, text == NULL ? "" : text, failed);
    if (good) {
        pthread_mutex_lock(&mock_fault_lock);
        plan = *fresh;
        atomic_store(&memory_limit, plan.memory);
        atomic_store(&armed, plan.count > 0);
        atomic_store(&sticking, plan.stuck_count > 0);
        atomic_fetch_add(&generation, 1);
        pthread_mutex_unlock(&mock_fault_lock);
    }
    free(fresh);
    return good ? NULL : failed;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("PYACLNN_MOCK_FAULTS");
    const char *failed = text == NULL ? NULL : mock_faults_set(text);
    if (failed != NULL) {
        snprintf(config_error, sizeof config_error,
                 "PYACLNN_MOCK_FAULTS: '%s' is no fault; `pyaclnn mock faults` explains them",
                 failed);
    }
}

/* ---- deciding ----------------------------------------------------------------------------- */

static double share_now(void)
{
    uint64_t x = plan.random; /* xorshift64 */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    plan.random = x;
    return (double)(x >> 11) / 9007199254740992.0;
}

static bool matches(struct fault *fault)
{
    const uint64_t call = ++fault->seen;
    switch (fault->when) {
    case ALWAYS:
        return true;
    case ONLY:
        return call == fault->number;
    case FROM:
        return call >= fault->number;
    case EVERY:
        return call % fault->number == 0;
    case SHARE:
        return share_now() < fault->share;
    }
    return false;
}

void mock_fault_decide(struct mock_frame *frame)
{
    pthread_mutex_lock(&mock_fault_lock);
    for (size_t i = 0; i < plan.count; i++) {
        struct fault *fault = &plan.faults[i];
        if ((fault->device == ANY_DEVICE || fault->device == device_now) &&
            fnmatch(fault->function, frame->function->name, 0) == 0 && matches(fault) &&
            frame->effect == MOCK_NO_EFFECT) {
            frame->effect = fault->effect;
            frame->code = fault->code;
            frame->fault = (unsigned)i;
            frame->generation = atomic_load(&generation);
        }
    }
    pthread_mutex_unlock(&mock_fault_lock);
}

void mock_fault_count_effect(const struct mock_frame *frame)
{
    pthread_mutex_lock(&mock_fault_lock);
    if (frame->generation == atomic_load(&generation)) {
        plan.faults[frame->fault].done++;
    }
    pthread_mutex_unlock(&mock_fault_lock);
}

bool mock_fault_stuck(size_t index, struct mock_stuck_bit *stuck)
{
    if (!atomic_load_explicit(&sticking, memory_order_acquire)) {
        return false;
    }
    pthread_mutex_lock(&mock_fault_lock);
    const bool found = index < plan.stuck_count;
    if (found) {
        *stuck = plan.stuck[index];
    }
    pthread_mutex_unlock(&mock_fault_lock);
    return found;
}

size_t mock_faults_list(char *text, size_t capacity)
{
    size_t length = 0;
    pthread_mutex_lock(&mock_fault_lock);
    for (size_t i = 0; i < plan.count; i++) {
        const struct fault *fault = &plan.faults[i];
        const size_t left = length < capacity ? capacity - length : 0;
        length += (size_t)snprintf(left > 0 ? text + length : NULL, left, "%s %llu %llu\n",
                                   fault->text, (unsigned long long)fault->seen,
                                   (unsigned long long)fault->done);
    }
    pthread_mutex_unlock(&mock_fault_lock);
    return length;
}
