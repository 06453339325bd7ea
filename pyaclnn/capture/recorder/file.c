/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a process: blocks, each whole or not there. */
#include "file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blocks.h"
#include "clock.h"
#include "flight.h"
#include "functions.h"
#include "handed_block.h"
#include "locks.h"
#include "new_file.h"
#include "settings.h"

enum { BLOCK = 64 << 10, COUNT = 5 };
static const uint64_t OVERDUE = 1000000000, PATIENCE = 100000000; /* a block is written after so many nanoseconds */
static const char MAGIC[] = "pyaclnn trace 3\n";
static pthread_mutex_t *const lock = &capture_locks[CAPTURE_FILE];

static struct {
    char path[4096];
    char own[4096 + 32]; /* the path with the number of the process, if it needs that */
    bool active, full; /* read without the lock: of a file that is due to be rotated */
    int file;
    uint64_t calls, first, flushed; /* first: the call since it was opened */
    uint64_t end, begun; /* of its last whole block, and of what is alive as it begins */
    pid_t process;
    struct capture_bytes block, packed;
    uint32_t records; /* in the block */
    uint32_t number; /* of the file */
    uint32_t has_chip; /* the last file that names it */
} trace = {.file = -1};

static void set_active(bool active)
{
    __atomic_store_n(&trace.active, active, __ATOMIC_RELAXED);
}

static void note_size(void)
{
    const uint64_t limit = capture_settings.limit;
    __atomic_store_n(&trace.full, limit != 0 && trace.end - trace.begun > limit / 2, __ATOMIC_RELAXED);
}

static void report_incomplete(int error)
{
    capture_report_incomplete(trace.own[0] == '\0' ? trace.path : trace.own, error);
}

/* The process ends: the file may have been written up to here, and the disk be full since. */
static void end_file(int signal)
{
    const int error = capture_append_end(trace.file, &trace.end, signal, capture_is_out_of_memory() ? ENOMEM : 0);
    if (error != 0) {
        report_incomplete(error);
    }
}

/* The recording ends, and the program goes on. */
static void stop(int error)
{
    report_incomplete(error);
    if (trace.file >= 0) {
        capture_append_end(trace.file, &trace.end, 0, error);
        close(trace.file);
    }
    trace.file = -1;
    trace.records = 0;
    capture_drop_handed();
    set_active(false);
    capture_settings.first = capture_settings.limit = 0; /* no file follows */
    note_size();
}

void capture_end_if_failed(void)
{
    if (trace.active && capture_is_out_of_memory()) {
        stop(ENOMEM);
    }
}

/* The block, for one more record; it begins with their number, which is not known yet. */
static struct capture_bytes *one_more(void)
{
    if (trace.records++ == 0) {
        trace.block.length = 0;
        capture_put(&trace.block, (const uint8_t[COUNT]){0xDD}, COUNT);
    }
    return &trace.block;
}

/* A record of numbers. */
static struct capture_bytes *put_numbers(uint64_t fields, const uint64_t *numbers, size_t count)
{
    struct capture_bytes *to = one_more();
    capture_array(to, fields);
    for (size_t i = 0; i < count; i++) {
        capture_number(to, numbers[i]);
    }
    return to;
}

/* Write the number of its records into the block. */
static void count_records(void)
{
    for (int i = 0; i < 4; i++) {
        trace.block.data[COUNT - 1 - i] = (uint8_t)(trace.records >> 8 * i);
    }
}

static void note_written(int error)
{
    if (error != 0) {
        stop(error);
    }
    note_size();
    trace.flushed = capture_now(CLOCK_MONOTONIC_COARSE);
}

/* Write the block, behind the one that is handed over. */
static void put_block(bool compress)
{
    struct capture_bytes *room = compress ? &trace.packed : NULL;
    if (trace.file < 0 || capture_is_out_of_memory()) {
        return;
    }
    int error = capture_append_handed(trace.file, &trace.end, room);
    if (error == 0 && trace.records != 0) {
        count_records();
        trace.records = 0;
        error = capture_append_block(trace.file, &trace.end, trace.block.data, trace.block.length, room);
    }
    note_written(error);
}

/* Let the recorder's own thread write the block. */
static void hand_over_block(void)
{
    if (trace.records == 0 || trace.file < 0 || capture_is_out_of_memory()) {
        return;
    }
    count_records();
    if (capture_hand_over(&trace.block)) {
        trace.records = 0;
        trace.flushed = capture_now(CLOCK_MONOTONIC_COARSE);
    } else {
        put_block(true);
    }
}

static bool next_file(void)
{
    if (trace.process == getpid()) {
        capture_append_end(trace.file, &trace.end, 0, 0);
        trace.file = capture_replace_file(trace.file, trace.own);
    } else {
        snprintf(trace.own, sizeof trace.own, "%s", trace.path);
        trace.file = capture_create_file(trace.own);
        if (trace.file < 0 && errno == EEXIST) { /* of another process of the program */
            snprintf(trace.own, sizeof trace.own, "%s.%d", trace.path, (int)getpid());
            trace.file = capture_create_file(trace.own);
        }
    }
    if (trace.file < 0) {
        fprintf(stderr, "pyaclnn capture: cannot write %s: %s\n", trace.own, strerror(errno));
        set_active(false);
        return false;
    }
    trace.end = 0;
    trace.number++;
    trace.process = getpid();
    trace.records = 0;
    const int error = capture_append(trace.file, &trace.end, (const uint8_t *)MAGIC, sizeof MAGIC - 1);
    if (error != 0) {
        stop(error);
        return false;
    }
    const uint64_t contents = (uint64_t)capture_settings.contents;
    put_numbers(4, (uint64_t[]){4, (uint64_t)getpid(), contents, (uint64_t)time(NULL)}, 4);
    return true;
}

/* Write the record of a call, behind the description of its function. */
static void put_call(uint32_t number, const uint8_t *data, size_t length)
{
    struct capture_function *function = capture_function(number);
    if (function->file != trace.number) {
        function->file = trace.number;
        struct capture_bytes *to = put_numbers(5, (uint64_t[]){2, number}, 2);
        capture_text(to, function->name, strlen(function->name));
        capture_text(to, function->spec, strlen(function->spec));
        capture_text(to, &function->result, 1);
    }
    capture_put(one_more(), data, length);
}

static void begin_file(void)
{
    if (next_file()) {
        capture_put_living(put_call);
        put_block(true);
        trace.begun = trace.end;
        note_size();
    }
}

bool capture_is_full(void)
{
    return __atomic_load_n(&trace.full, __ATOMIC_RELAXED);
}

void capture_rotate(bool settled)
{
    pthread_mutex_lock(lock);
    if (trace.active && trace.file >= 0 && capture_is_full() &&
        (settled || trace.end - trace.begun > capture_settings.limit)) {
        put_block(true);
        begin_file();
    }
    pthread_mutex_unlock(lock);
}

/* Write the block, if it is due. */
static void put_due(bool flush)
{
    if (flush) {
        put_block(true);
    } else if (trace.block.length >= BLOCK ||
               capture_now(CLOCK_MONOTONIC_COARSE) - trace.flushed > PATIENCE) {
        hand_over_block();
    }
}

/* True if the file is open, and, if it is new, has what is alive; the lock is held. */
static bool is_open(void)
{
    if (trace.active && trace.file < 0) {
        begin_file();
    }
    return trace.active;
}

void capture_write(const struct capture_bytes *record)
{
    pthread_mutex_lock(lock);
    if (is_open()) {
        capture_put(one_more(), record->data, record->length);
        put_due(false);
    }
    capture_end_if_failed();
    pthread_mutex_unlock(lock);
}

static void put_chip(void)
{
    const char *chip = __atomic_load_n(&capture_chip, __ATOMIC_RELAXED);
    if (chip != NULL && trace.has_chip != trace.number) {
        trace.has_chip = trace.number;
        capture_text(put_numbers(2, (uint64_t[]){9}, 1), chip, strlen(chip));
    }
}

void capture_write_call(struct capture_call *call, struct capture_object *place, bool flush)
{
    if (is_open()) {
        put_chip();
        if (place != NULL && place->length != 0 && place->file != trace.number) {
            put_call(place->number, place->record, place->length);
            place->file = trace.number;
        }
        put_call(call->number, call->record.data, call->record.length);
        call->file = trace.number;
        put_due(flush);
    }
}

bool capture_has_begun(uint64_t call)
{
    return trace.active && trace.file >= 0 && call < capture_settings.last;
}

bool capture_active(void)
{
    return __atomic_load_n(&trace.active, __ATOMIC_RELAXED) && !capture_is_out_of_memory();
}

uint64_t capture_next_call(void)
{
    return __atomic_fetch_add(&trace.calls, 1, __ATOMIC_RELAXED);
}

bool capture_is_of_trace(uint64_t call)
{
    return call >= __atomic_load_n(&trace.first, __ATOMIC_RELAXED);
}

bool capture_wanted(uint64_t call)
{
    return capture_active() && call >= capture_settings.first && call < capture_settings.last;
}

/* Counts of functions that were passed on without a record. */
static void put_unknown(void)
{
    const char *name;
    uint64_t calls;
    for (uint32_t at = 0; (at = capture_unknown(at, &name, &calls)) != 0;) {
        struct capture_bytes *to = put_numbers(3, (uint64_t[]){5}, 1);
        capture_text(to, name, strlen(name));
        capture_number(to, calls);
    }
}

/* End the file, with what is in memory. */
void capture_close(void)
{
    pthread_mutex_lock(lock);
    if (trace.file >= 0 && trace.process == getpid()) {
        put_unknown();
        put_block(true);
        capture_end_if_failed();
    }
    if (trace.file >= 0 && trace.process == getpid()) {
        end_file(0);
        close(trace.file);
    }
    trace.file = -1;
    set_active(false);
    pthread_mutex_unlock(lock);
}

/* Another thread may have the lock for a moment, and this one for ever. */
void capture_interrupt(int signal)
{
    int tries = 100;
    while (pthread_mutex_trylock(lock) != 0 && --tries != 0) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (tries != 0 && trace.file >= 0 && trace.process == getpid()) {
        put_block(false);
    }
    if (tries != 0 && trace.file >= 0 && trace.process == getpid()) {
        capture_append_flights(trace.file, &trace.end, UINT64_MAX);
        end_file(signal);
    }
}

void capture_tick(uint64_t until)
{
    struct capture_packed packed;
    pthread_mutex_lock(lock);
    capture_await_handed(until);
    if (capture_pack_handed(&packed)) {
        capture_drop_handed();
        note_written(capture_append_packed(trace.file, &trace.end, &packed));
    }
    if (trace.file >= 0 && trace.process == getpid()) {
        put_due(false);
        capture_append_flights(trace.file, &trace.end, capture_now(CLOCK_MONOTONIC_COARSE) - OVERDUE);
        capture_end_if_failed();
    }
    pthread_mutex_unlock(lock);
}

bool capture_open(const char *path, const char *options)
{
    pthread_mutex_lock(lock);
    const bool possible = !trace.active && !capture_is_out_of_memory() && strlen(path) < sizeof trace.path;
    if (possible) {
        snprintf(trace.path, sizeof trace.path, "%s", path);
        capture_set(options);
        trace.process = 0;
        __atomic_store_n(&trace.first, __atomic_load_n(&trace.calls, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        trace.end = trace.begun = 0; /* of the file before */
        note_size();
        set_active(true);
    }
    pthread_mutex_unlock(lock);
    return possible;
}

static void in_child(void)
{
    if (trace.file >= 0) {
        close(trace.file);
    }
    trace.file = -1; /* a file of its own, with its first call */
    trace.records = 0;
}
CAPTURE_IN_CHILD(in_child)
