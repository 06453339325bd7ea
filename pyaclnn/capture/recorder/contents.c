/* SPDX-License-Identifier: Apache-2.0 */
/* Records of contents: of tensors whose elements lie anyhow, of the host, and of what is missing. */
#include "contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "settings.h"

enum { MOST_OVERLAPPING = 16 << 10 };
static const size_t MOST_BYTES = 64 << 20;

/* The elements of a tensor; 0: they overlap, and are many, as an expanded tensor may have any number. */
int64_t capture_elements(const struct capture_tensor *tensor)
{
    int64_t elements = 1, most = (int64_t)(capture_span(tensor) / tensor->element_size);
    most = most < MOST_OVERLAPPING ? MOST_OVERLAPPING : most;
    for (uint32_t i = tensor->rank; i-- > 0; elements *= tensor->dimensions[i]) {
        if (tensor->dimensions[i] > most / elements) {
            return 0;
        }
    }
    return elements;
}

/* A plane of elements, whose columns lie together in the target; distances are bytes. */
struct plane {
    int64_t rows, columns, row_to, row_from, column_from;
};

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Copy a plane in tiles, as rows of a transposed tensor lie in the same lines of the cache: so many columns
 * as the processor fetches ahead at once, and many rows, since each column may begin on another page. */
static inline void copy_tiles(uint8_t *to, const uint8_t *from, const struct plane *plane, size_t size)
{
    enum { ROWS = 1024, COLUMNS = 32 };
    const int64_t step = plane->column_from;
    for (int64_t row = 0; row < plane->rows; row += ROWS) {
        const int64_t rows = lesser(ROWS, plane->rows - row);
        for (int64_t column = 0; column < plane->columns; column += COLUMNS) {
            const int64_t columns = lesser(COLUMNS, plane->columns - column);
            for (int64_t i = row; i < row + rows; i++) {
                uint8_t *target = to + i * plane->row_to + column * (int64_t)size;
                const uint8_t *source = from + i * plane->row_from + column * step;
                for (int64_t j = 0; j < columns; j++, target += size, source += step) {
                    memcpy(target, source, size);
                }
            }
        }
    }
}

/* The same, without a call an element: the compiler knows these sizes. */
static void copy_plane(uint8_t *to, const uint8_t *from, const struct plane *plane, size_t size)
{
    if (plane->column_from == (int64_t)size) {
        for (int64_t i = 0; i < plane->rows; i++) {
            memcpy(to + i * plane->row_to, from + i * plane->row_from, (size_t)plane->columns * size);
        }
        return;
    }
    switch (size) {
    case 1:
        copy_tiles(to, from, plane, 1);
        break;
    case 2:
        copy_tiles(to, from, plane, 2);
        break;
    case 4:
        copy_tiles(to, from, plane, 4);
        break;
    case 8:
        copy_tiles(to, from, plane, 8);
        break;
    default:
        copy_tiles(to, from, plane, size);
    }
}

/* The axis whose elements are nearest to each other, but for the last one; or the last one of one axis. */
static uint32_t nearest_axis(const struct capture_tensor *tensor)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i + 1 < tensor->rank; i++) {
        if (tensor->dimensions[found] == 1 ||
            (tensor->dimensions[i] > 1 && tensor->strides[i] <= tensor->strides[found])) {
            found = i;
        }
    }
    return found;
}

/* Put the elements together in row-major order, in a block unless they lie so. */
static uint64_t gather(const struct capture_tensor *tensor, const uint8_t *data, uint8_t **gathered)
{
    int64_t index[CAPTURE_DIMENSIONS] = {0}, steps[CAPTURE_DIMENSIONS], next = 1;
    bool contiguous = true;
    for (uint32_t i = tensor->rank; i-- > 0; next *= tensor->dimensions[i]) {
        contiguous = contiguous && (tensor->dimensions[i] == 1 || tensor->strides[i] == next);
        steps[i] = next;
    }
    const int64_t expected = capture_elements(tensor), size = tensor->element_size;
    const uint64_t bytes = (uint64_t)(expected * size);
    if (contiguous) {
        return bytes;
    }
    const uint32_t last = tensor->rank - 1; /* a tensor of no axes is contiguous */
    const uint32_t across = nearest_axis(tensor);
    const struct plane plane = {
        .rows = across == last ? 1 : tensor->dimensions[across],
        .columns = tensor->dimensions[last],
        .row_to = steps[across] * size,
        .row_from = tensor->strides[across] * size,
        .column_from = tensor->strides[last] * size,
    };
    uint8_t *copy = capture_memory(NULL, bytes);
    for (int64_t left = expected; copy != NULL && left > 0; left -= plane.rows * plane.columns) {
        int64_t to = 0, from = 0;
        for (uint32_t i = 0; i < last; i++) {
            to += index[i] * steps[i];
            from += index[i] * tensor->strides[i];
        }
        copy_plane(copy + to * size, data + from * size, &plane, (size_t)size);
        for (uint32_t i = last; i-- > 0 && (i == across || ++index[i] == tensor->dimensions[i]);) {
            index[i] = 0;
        }
    }
    *gathered = copy;
    return copy == NULL ? 0 : bytes;
}

/* The length of an operator's name: its tensors are those of its first phase. */
static int length_of(const char *name)
{
    const char *end = strstr(name, "GetWorkspaceSize");
    return (int)(end != NULL ? (size_t)(end - name) : strlen(name));
}

bool capture_is_in_full(const struct capture_function *function)
{
    const bool all = capture_settings.contents == CAPTURE_CONTENTS_FULL;
    char name[256];
    if (all || capture_settings.full == NULL) {
        return all;
    }
    snprintf(name, sizeof name, ",%.*s,", length_of(function->name), function->name);
    return strstr(capture_settings.full, name) != NULL;
}

/* The C name of a parameter; in a graph, behind that of its operator. */
static void put_name(struct capture_bytes *to, const struct capture_operand *of)
{
    char text[256];
    const char *function = of->function->name, *name = of->function->parameters[of->parameter].name;
    const size_t length = strcspn(name, " ");
    if (!of->drawn) {
        capture_text(to, name, length);
        return;
    }
    const int written = snprintf(text, sizeof text, "%.*s.%.*s", length_of(function), function,
                                 (int)length, name);
    capture_text(to, text, written < (int)sizeof text ? (size_t)written : sizeof text - 1);
}

void capture_write_contents(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                            const void *data, uint64_t bytes, uint64_t hash, bool full)
{
    if (!capture_is_of_trace(call)) { /* its copy was on the way as the trace before ended */
        return;
    }
    struct capture_bytes record = {0};
    const struct capture_tensor *tensor = &of->tensor;
    const uint64_t head[] = {3, call, of->place, of->element, (uint64_t)phase, bytes, hash};
    capture_array(&record, 13);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        capture_number(&record, head[i]);
    }
    put_name(&record, of);
    const uint64_t limit = capture_settings.limit; /* half of it, as there are two files */
    const bool fits = bytes <= capture_settings.largest && (limit == 0 || bytes <= limit / 2);
    capture_blob(&record, full && fits ? data : NULL, bytes);
    capture_signed(&record, tensor->type);
    const int64_t *const numbers[] = {tensor->dimensions, tensor->strides};
    for (int i = 0; i < 2; i++) {
        capture_array(&record, tensor->rank);
        for (uint32_t j = 0; j < tensor->rank; j++) {
            capture_signed(&record, numbers[i][j]);
        }
    }
    capture_number(&record, capture_address(capture_begin_of(tensor)));
    capture_write(&record);
    free(record.data);
}

void capture_write_absence(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                           const char *reason)
{
    if (!capture_is_of_trace(call)) {
        return;
    }
    struct capture_bytes record = {0};
    const uint64_t head[] = {7, call, of->place, of->element, (uint64_t)phase};
    capture_array(&record, 7);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        capture_number(&record, head[i]);
    }
    put_name(&record, of);
    capture_text(&record, reason, strlen(reason));
    capture_write(&record);
    free(record.data);
}

void capture_write_tensor(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                          const uint8_t *data, uint64_t *hash, bool full)
{
    uint8_t *gathered = NULL;
    const uint64_t bytes = gather(&of->tensor, data, &gathered);
    data = gathered == NULL ? data : gathered;
    uint64_t own = 0, *known = gathered == NULL ? hash : &own;
    if (bytes != 0) {
        if (*known == 0) {
            *known = capture_hash(data, bytes);
        }
        capture_write_contents(call, of, phase, data, bytes, *known, full);
    }
    free(gathered);
}

/* Why a tensor cannot be copied, or NULL. */
const char *capture_obstacle(const struct capture_tensor *tensor)
{
    const uint64_t size = capture_span(tensor);
    if (tensor->unknown) {
        return "no call that made its descriptor";
    }
    if (tensor->element_size == 0) {
        return "elements of this type";
    }
    if (size == 0) {
        return "negative strides or sizes";
    }
    if (size > MOST_BYTES) {
        return "too large";
    }
    return capture_elements(tensor) == 0 ? "too many elements that overlap" : NULL;
}

bool capture_is_empty(const struct capture_tensor *tensor)
{
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dimensions[i] == 0) {
            return true;
        }
    }
    return tensor->data == NULL && !tensor->unknown; /* there is no tensor */
}
