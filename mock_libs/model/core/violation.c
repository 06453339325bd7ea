/* SPDX-License-Identifier: Apache-2.0 */
/* Records of broken rules: on stderr, in a file, and in memory. */
#include "violation.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "place.h"
#include "rules.h"

/* MAX_SHOWN: blocks on stderr for one rule; the other two ways hold every record. */
enum { MAX_RECORDS = 10000, MAX_SHOWN = 10, MAX_FRAMES = 64 };
enum { RECORD_BYTES = 8192 };

pthread_mutex_t mock_violation_lock = PTHREAD_MUTEX_INITIALIZER;
static char *records[MAX_RECORDS];
static size_t record_count, shown[MOCK_RULE_COUNT];

/* ---- text --------------------------------------------------------------------------------- */

struct text {
    char bytes[RECORD_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t left = sizeof text->bytes - text->length;
    const int written = vsnprintf(text->bytes + text->length, left, format, arguments);
    va_end(arguments);
    if (written > 0) {
        text->length += (size_t)written < left ? (size_t)written : left - 1;
    }
}

static void add_json(struct text *text, const char *key, const char *value)
{
    add(text, ", \"%s\": ", key);
    if (value == NULL) {
        add(text, "null");
        return;
    }
    add(text, "\"");
    for (; *value != '\0' && text->length < sizeof text->bytes - 256; value++) {
        const unsigned char byte = (unsigned char)*value;
        if (byte == '"' || byte == '\\') {
            add(text, "\\%c", byte);
        } else if (byte < 0x20) {
            add(text, "\\u%04x", byte);
        } else {
            add(text, "%c", byte);
        }
    }
    add(text, "\"");
}

struct violation {
    unsigned rule;
    const char *function, *at, *what, *created, *destroyed, *detail;
    const void *handle;
};

static void as_json(struct text *text, const struct violation *violation)
{
    char handle[32];
    snprintf(handle, sizeof handle, "%p", violation->handle);
    add(text, "{\"rule\": \"%s\"", mock_rules[violation->rule].id);
    add_json(text, "title", mock_rules[violation->rule].title);
    add_json(text, "function", violation->function);
    add_json(text, "at", violation->at);
    add_json(text, "what", violation->what);
    add_json(text, "handle", violation->handle == NULL ? NULL : handle);
    add_json(text, "created", violation->created);
    add_json(text, "destroyed", violation->destroyed);
    add_json(text, "detail", violation->detail);
    add_json(text, "fix", mock_rules[violation->rule].fix);
    add(text, ", \"pid\": %ld}\n", (long)getpid());
}

static void as_block(struct text *text, const struct violation *violation, bool last)
{
    const char *id = mock_rules[violation->rule].id;
    add(text, "simulated NPU: [%s] %s\n", id, mock_rules[violation->rule].title);
    if (violation->at != NULL) {
        add(text, "    in %s\n", violation->at);
    }
    add(text, "    %s\n", violation->detail);
    if (violation->handle != NULL) {
        add(text, "    %s %p\n", violation->what, violation->handle);
    }
    if (violation->created != NULL) {
        add(text, "        created in %s\n", violation->created);
    }
    if (violation->destroyed != NULL) {
        add(text, "        destroyed in %s\n", violation->destroyed);
    }
    add(text, "    do this: %s\n", mock_rules[violation->rule].fix);
    if (last) {
        add(text, "    (more of this rule are not shown here)\n");
    }
}

/* ---- recording ---------------------------------------------------------------------------- */

/* Milliseconds in which the reader of a pipe must make room. */
enum { FOR_A_READER = 5000 };

static bool write_all(int descriptor, const struct text *text)
{
    struct pollfd room = {.fd = descriptor, .events = POLLOUT};
    size_t done = 0;
    while (done < text->length) {
        const ssize_t written = write(descriptor, text->bytes + done, text->length - done);
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0 || errno != EAGAIN || poll(&room, 1, FOR_A_READER) <= 0) {
            return false;
        }
    }
    return true;
}

/* A lost report must not end the program; it is reported once. */
static void print_violation(const char *path)
{
    static bool complained;
    if (!complained) {
        complained = true;
        fprintf(stderr, "simulated NPU: PYACLNN_MOCK_REPORT: cannot write %s: %s\n", path,
                strerror(errno));
    }
}

static void write_report(const struct text *json)
{
    const char *path = getenv("PYACLNN_MOCK_REPORT");
    if (path == NULL || path[0] == '\0') {
        return;
    }
    /* A pipe that nobody reads would be waited for, with the lock. */
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const int descriptor = open(path, flags, 0666);
    if (descriptor < 0 || !write_all(descriptor, json)) {
        print_violation(path);
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
}

bool mock_is_strict(void)
{
    const char *text = getenv("PYACLNN_MOCK_STRICT");
    return text != NULL && text[0] != '\0' && strcmp(text, "0") != 0;
}

static void stop(void)
{
    static const char head[] = "    native backtrace:\n";
    void *frames[MAX_FRAMES];
    const int count = backtrace(frames, MAX_FRAMES);
    if (write(STDERR_FILENO, head, sizeof head - 1) > 0) {
        backtrace_symbols_fd(frames, count, STDERR_FILENO);
    }
    abort();
}

/* ---- many at once ------------------------------------------------------------------------- */

enum { FEW = 1, KINDS = 24 };

/* Records between mock_violations_begin and mock_violations_end: the first block, and how many there
 * are of each kind of thing. */
static struct {
    bool open;
    size_t count;
    struct text *few[FEW];
    struct {
        const char *what;
        size_t count;
    } kinds[KINDS];
} group;

static void add_to_group(const struct violation *violation, struct text *text)
{
    size_t kind = 0;
    while (kind < KINDS - 1 && group.kinds[kind].what != NULL &&
           strcmp(group.kinds[kind].what, violation->what) != 0) {
        kind++;
    }
    group.kinds[kind].what = violation->what;
    group.kinds[kind].count++;
    if (group.count < FEW && (group.few[group.count] = malloc(sizeof *text)) != NULL) {
        *group.few[group.count] = *text;
    }
    group.count++;
}

void mock_violations_begin(void)
{
    pthread_mutex_lock(&mock_violation_lock);
    memset(&group, 0, sizeof group);
    group.open = true;
    pthread_mutex_unlock(&mock_violation_lock);
}

void mock_violations_end(unsigned rule)
{
    struct text line = {.length = 0};
    pthread_mutex_lock(&mock_violation_lock);
    group.open = false;
    for (size_t i = 0; i < FEW; i++) {
        if (group.few[i] != NULL && group.count <= FEW) {
            write_all(STDERR_FILENO, group.few[i]);
        }
        free(group.few[i]);
    }
    if (group.count > FEW) {
        add(&line, "simulated NPU: [%s] %s: ", mock_rules[rule].id, mock_rules[rule].title);
        for (size_t i = 0; i < KINDS && group.kinds[i].what != NULL; i++) {
            add(&line, "%s%zu %s", i == 0 ? "" : ", ", group.kinds[i].count, group.kinds[i].what);
        }
        add(&line, " (PYACLNN_MOCK_REPORT=FILE records each of them)\n");
        write_all(STDERR_FILENO, &line);
    }
    pthread_mutex_unlock(&mock_violation_lock);
}

static void record(const struct violation *violation)
{
    struct text *text = mock_rule_allowed(violation->rule) ? NULL : malloc(sizeof *text);
    if (text == NULL) {
        return;
    }
    text->length = 0;
    as_json(text, violation);
    pthread_mutex_lock(&mock_violation_lock);
    char *copy = record_count < MAX_RECORDS ? strdup(text->bytes) : NULL;
    if (copy != NULL) {
        records[record_count++] = copy;
    }
    write_report(text);
    const bool strict = mock_is_strict();
    const size_t number = ++shown[violation->rule];
    if (number <= MAX_SHOWN || strict || group.open) {
        text->length = 0;
        as_block(text, violation, number == MAX_SHOWN && !strict && !group.open);
        if (group.open && !strict) {
            add_to_group(violation, text);
        } else {
            write_all(STDERR_FILENO, text);
        }
    }
    pthread_mutex_unlock(&mock_violation_lock);
    free(text);
    if (strict) {
        stop();
    }
}

__attribute__((format(printf, 5, 0))) static void violate(unsigned rule, const char *what,
                                                          const void *handle,
                                                          const struct mock_history *history,
                                                          const char *format, va_list arguments)
{
    char detail[1024], at[MOCK_PLACE_BYTES], created[MOCK_PLACE_BYTES], destroyed[MOCK_PLACE_BYTES];
    const struct mock_origin origin = mock_origin_current();
    const struct mock_history none = {0};
    vsnprintf(detail, sizeof detail, format, arguments);
    history = history == NULL ? &none : history;
    record(&(struct violation){.rule = rule,
                               .function = origin.function,
                               .at = mock_place_of(&origin, at),
                               .what = what,
                               .handle = handle,
                               .created = mock_place_of(&history->created, created),
                               .destroyed = mock_place_of(&history->destroyed, destroyed),
                               .detail = detail});
}

void mock_violate(unsigned rule, const char *what, const void *handle,
                  const struct mock_history *history, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    violate(rule, what, handle, history, format, arguments);
    va_end(arguments);
}

void mock_violate_object(unsigned rule, enum mock_kind kind, const void *handle, const char *format,
                         ...)
{
    enum mock_mark mark;
    struct mock_history history;
    va_list arguments;
    mock_handle_fate(handle, kind, &mark, &history);
    va_start(arguments, format);
    violate(rule, mock_kind_name(kind), handle, &history, format, arguments);
    va_end(arguments);
}

void mock_violate_handle(const void *handle, enum mock_kind kind, bool destroying)
{
    const char *name = mock_kind_name(kind);
    enum mock_mark mark;
    struct mock_history history;
    if (handle == NULL) {
        return;
    }
    switch (mock_handle_fate(handle, kind, &mark, &history)) {
    case MOCK_UNKNOWN:
        mock_violate(MOCK_HANDLE_UNKNOWN, name, handle, NULL,
                     "%p was given where a handle of kind %s belongs", handle, name);
        return;
    case MOCK_OF_ANOTHER_KIND:
        mock_violate(MOCK_HANDLE_OF_ANOTHER_KIND, "handle", handle, &history,
                     "%p was given where a handle of kind %s belongs", handle, name);
        return;
    case MOCK_LIVE:
    case MOCK_DESTROYED:
        break;
    }
    if (mark == MOCK_MARK_LISTED && destroying) {
        mock_violate(MOCK_LIST_ELEMENT_DESTROYED, name, handle, &history,
                     "the list that held this %s has destroyed it", name);
    } else if (destroying) {
        mock_violate(MOCK_DESTROYED_TWICE, name, handle, &history, "this %s was destroyed before",
                     name);
    } else {
        mock_violate(MOCK_HANDLE_DESTROYED, name, handle, &history,
                     "this %s was destroyed before the call", name);
    }
}

/* ---- for the tools ------------------------------------------------------------------------ */

size_t mock_violation_count(void)
{
    pthread_mutex_lock(&mock_violation_lock);
    const size_t count = record_count;
    pthread_mutex_unlock(&mock_violation_lock);
    return count;
}

size_t mock_violation_read(size_t index, char *text, size_t capacity)
{
    pthread_mutex_lock(&mock_violation_lock);
    const char *found = index < record_count ? records[index] : "";
    const size_t length = strlen(found);
    if (capacity > 0) {
        const size_t copied = length < capacity ? length : capacity - 1;
        memcpy(text, found, copied);
        text[copied] = '\0';
    }
    pthread_mutex_unlock(&mock_violation_lock);
    return length;
}

void mock_violation_clear(void)
{
    pthread_mutex_lock(&mock_violation_lock);
    while (record_count > 0) {
        free(records[--record_count]);
    }
    memset(shown, 0, sizeof shown);
    pthread_mutex_unlock(&mock_violation_lock);
}
