/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a process: blocks, each whole or not there. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "map.h"
#include "recorder.h"

enum { BLOCK = 64 << 10, HEAD = 20 };
static const uint64_t PATIENCE = 100000000; /* a block is written after so many nanoseconds */
static const char MAGIC[] = "pyaclnn trace 1\n";
static const char PATH[] = "PYACLNN_CAPTURE", OPTIONS[] = "PYACLNN_CAPTURE_OPTIONS";

struct capture_settings capture_settings;

static struct {
    pthread_mutex_t lock;
    char path[4096];
    bool active, signals, by_program;
    int file;
    uint64_t calls, written, flushed;
    pid_t process;
    struct capture_bytes block, packed;
    struct capture_map living; /* what was created, for a trace that begins later */
    uint64_t order;
    uint32_t defined_until; /* a flag of each function is of this file */
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

/* A live object: the record of the call that created it. */
struct living {
    uint64_t order;
    uint32_t place_number, number;
    size_t place_length, length;
    uint8_t records[]; /* what chose the place, and what made it there */
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static void write_all(const uint8_t *data, size_t length)
{
    while (length > 0) {
        const ssize_t done = write(trace.file, data, length);
        if (done < 0 && errno != EINTR) {
            trace.active = false; /* the disk is full: the program goes on */
            return;
        }
        if (done > 0) {
            data += done;
            length -= (size_t)done;
            trace.written += (uint64_t)done;
        }
    }
}

/* A block: "BLK" and its kind, length, stored length, CRC-32 of what is stored; little-endian. */
static void put_block(bool compress)
{
    if (trace.block.length == 0 || trace.file < 0) {
        return;
    }
    trace.packed.length = 0;
    size_t stored = trace.block.length; /* what does not become shorter is not compressed */
    capture_room(&trace.packed, HEAD + stored);
    uint8_t *head = trace.packed.data;
    compress = compress && capture_compress(head + HEAD, &stored, trace.block.data, stored);
    if (!compress) {
        stored = trace.block.length;
        memcpy(head + HEAD, trace.block.data, stored);
    }
    const uint64_t whole = trace.block.length;
    const uint32_t words[] = {(uint32_t)stored, capture_checksum(head + HEAD, stored)};
    memcpy(head, compress ? "BLKz" : "BLK-", 4);
    memcpy(head + 4, &whole, sizeof whole);
    memcpy(head + 12, words, sizeof words);
    trace.block.length = 0;
    write_all(head, HEAD + stored);
    trace.flushed = now();
}

static bool next_file(void)
{
    char path[sizeof trace.path + 32];
    snprintf(path, sizeof path, "%s", trace.path);
    trace.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (trace.file < 0 && errno == EEXIST) { /* of another process of the program */
        snprintf(path, sizeof path, "%s.%d", trace.path, (int)getpid());
        trace.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (trace.file < 0) {
        fprintf(stderr, "pyaclnn capture: cannot write %s: %s\n", path, strerror(errno));
        trace.active = false;
        return false;
    }
    trace.written = 0;
    trace.defined_until++;
    trace.process = getpid();
    write_all((const uint8_t *)MAGIC, sizeof MAGIC - 1);
    trace.block.length = 0;
    capture_number(&trace.block, 4); /* the process: its number, contents, time of day */
    capture_number(&trace.block, (uint64_t)getpid());
    capture_number(&trace.block, (uint64_t)capture_settings.contents);
    capture_number(&trace.block, (uint64_t)time(NULL));
    return true;
}

static void define(uint32_t number)
{
    static uint32_t *defined; /* in which file, by function */
    static uint32_t most;
    if (number >= most) {
        const uint32_t wanted = number + 4096;
        defined = realloc(defined, wanted * sizeof *defined);
        if (defined == NULL) {
            abort();
        }
        memset(defined + most, 0, (wanted - most) * sizeof *defined);
        most = wanted;
    }
    if (defined[number] != trace.defined_until) {
        const struct capture_function *function = capture_function(number);
        const char result[] = {function->result, '\0'};
        defined[number] = trace.defined_until;
        capture_number(&trace.block, 2);
        capture_number(&trace.block, number);
        capture_text(&trace.block, function->name);
        capture_text(&trace.block, function->spec);
        capture_text(&trace.block, result);
    }
}

static int by_order(const void *one, const void *other)
{
    const struct living *const *a = one, *const *b = other;
    return (*a)->order < (*b)->order ? -1 : (*a)->order > (*b)->order;
}

/* Whether the same call chose the place of both. */
static bool is_beside(const struct living *one, const struct living *before)
{
    return before != NULL && before->place_length == one->place_length &&
           memcmp(before->records, one->records, one->place_length) == 0;
}

/* Write the calls that made what is alive, in their order. */
static void put_living(void)
{
    const struct living **all = calloc(trace.living.count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; all != NULL && i < trace.living.capacity; i++) {
        if (trace.living.slots[i].value != NULL) {
            all[count++] = trace.living.slots[i].value;
        }
    }
    if (all != NULL) {
        qsort(all, count, sizeof *all, by_order);
    }
    for (size_t i = 0; i < count; i++) {
        const struct living *one = all[i], *before = i == 0 ? NULL : all[i - 1];
        if (one->place_length != 0 && !is_beside(one, before)) {
            define(one->place_number);
            capture_put(&trace.block, one->records, one->place_length);
        }
        define(one->number);
        capture_put(&trace.block, one->records + one->place_length, one->length);
    }
    free(all);
}

static void rotate(void)
{
    char old[sizeof trace.path + 8];
    snprintf(old, sizeof old, "%s.old", trace.path);
    put_block(true);
    close(trace.file);
    rename(trace.path, old);
    if (next_file()) {
        put_living();
    }
}

/* Whole records of one call. */
void capture_write(struct capture_bytes *record, struct capture_function *of, uint32_t number,
                   bool flush)
{
    pthread_mutex_lock(&trace.lock);
    if (trace.active && trace.file < 0 && next_file()) {
        put_living();
    }
    if (trace.active) {
        if (of != NULL) {
            define(number);
        }
        capture_put(&trace.block, record->data, record->length);
        if (flush || trace.block.length >= BLOCK || now() - trace.flushed > PATIENCE) {
            put_block(true);
        }
        if (capture_settings.limit != 0 && trace.written > capture_settings.limit / 2) {
            rotate();
        }
    }
    pthread_mutex_unlock(&trace.lock);
}

bool capture_active(void)
{
    return trace.active;
}

uint64_t capture_next_call(void)
{
    return __atomic_fetch_add(&trace.calls, 1, __ATOMIC_RELAXED);
}

bool capture_wanted(uint64_t call)
{
    return trace.active && call >= capture_settings.first && call < capture_settings.last;
}

/* Whether a part of the trace may be needed that is not written, or is thrown away. */
bool capture_keeping(void)
{
    return trace.by_program || capture_settings.first != 0 || capture_settings.limit != 0;
}

void capture_keep(uint64_t key, const struct capture_call *place, const struct capture_call *made)
{
    const size_t before = place->record.length, length = made->record.length;
    struct living *kept = malloc(sizeof *kept + before + length);
    if (kept == NULL) {
        return;
    }
    pthread_mutex_lock(&trace.lock);
    if (capture_function(made->number)->finds && capture_map_find(&trace.living, key) != NULL) {
        free(kept);
    } else {
        *kept = (struct living){trace.order++, place->number, made->number, before, length};
        if (before != 0) {
            memcpy(kept->records, place->record.data, before);
        }
        memcpy(kept->records + before, made->record.data, length);
        capture_map_put(&trace.living, key, kept);
    }
    pthread_mutex_unlock(&trace.lock);
}

uint32_t capture_file(void)
{
    return trace.defined_until;
}

void capture_forget(uint64_t key)
{
    pthread_mutex_lock(&trace.lock);
    capture_map_put(&trace.living, key, NULL);
    pthread_mutex_unlock(&trace.lock);
}

/* What was passed on without a record: a count of each function. */
static void put_unknown(void)
{
    const char *name;
    uint64_t calls;
    for (uint32_t at = 0; (at = capture_unknown(at, &name, &calls)) != 0;) {
        capture_number(&trace.block, 5);
        capture_text(&trace.block, name);
        capture_number(&trace.block, calls);
    }
}

static void put_ended(int signal, bool compress)
{
    capture_number(&trace.block, 6);
    capture_number(&trace.block, (uint64_t)signal);
    put_block(compress);
}

/* End the file, with what is in memory. */
void capture_close(void)
{
    pthread_mutex_lock(&trace.lock);
    if (trace.file >= 0 && trace.process == getpid()) {
        put_unknown();
        put_ended(0, true);
        close(trace.file);
    }
    trace.file = -1;
    trace.active = false;
    pthread_mutex_unlock(&trace.lock);
}

/* What is in memory goes to the file before the signal ends the process, as the lock permits. */
static void on_signal(int number)
{
    if (pthread_mutex_trylock(&trace.lock) == 0 && trace.process == getpid()) {
        put_ended(number, false);
    }
    raise(number); /* the handler was reset */
}

static void catch_signals(void)
{
    static const int FATAL[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM};
    for (size_t i = 0; i < sizeof FATAL / sizeof FATAL[0]; i++) {
        struct sigaction old, ours = {.sa_handler = on_signal};
        ours.sa_flags = (int)((unsigned)SA_RESETHAND | SA_NODEFER);
        if (sigaction(FATAL[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
            sigaction(FATAL[i], &ours, NULL);
        }
    }
}

static uint64_t option(const char *options, const char *name, uint64_t otherwise)
{
    const char *found = strstr(options, name);
    return found == NULL ? otherwise : strtoull(found + strlen(name), NULL, 10);
}

static int begin(const char *path, const char *options)
{
    pthread_mutex_lock(&trace.lock);
    const bool possible = !trace.active && strlen(path) < sizeof trace.path;
    if (possible) {
        snprintf(trace.path, sizeof trace.path, "%s", path);
        capture_settings = (struct capture_settings){
            .contents = (int)option(options, "contents=", CAPTURE_CONTENTS_HASH),
            .largest = option(options, "largest=", 16 << 20),
            .limit = option(options, "limit=", 0),
            .first = option(options, "first=", 0),
            .last = option(options, "last=", UINT64_MAX),
        };
        const char *full = strstr(options, "full=");
        if (full != NULL) {
            const size_t length = strcspn(full + 5, ";");
            snprintf(capture_settings.full, sizeof capture_settings.full, ",%.*s,", (int)length,
                     full + 5);
        }
        trace.active = true;
        if (!trace.signals) {
            catch_signals();
            trace.signals = true;
        }
    }
    pthread_mutex_unlock(&trace.lock);
    return possible ? 0 : 1;
}

/* Begin a trace; options are NAME=VALUE, each with a semicolon behind it. 0: begun. From now on what
 * is alive is known, for the next trace. */
int capture_begin(const char *path, const char *options)
{
    trace.by_program = true;
    return begin(path, options);
}

static void in_child(void)
{
    pthread_mutex_init(&trace.lock, NULL);
    if (trace.file >= 0) {
        close(trace.file);
    }
    trace.file = -1; /* a file of its own, with its first call */
    trace.block.length = 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv(PATH), *options = getenv(OPTIONS);
    pthread_atfork(NULL, NULL, in_child);
    if (path != NULL && *path != '\0') {
        begin(path, options == NULL ? "" : options);
    }
}

__attribute__((destructor)) static void stop(void)
{
    capture_close();
}
