/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of an operator of a package. */
#include "argument_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

struct interned {
    struct interned *next;
    char text[];
};

/* Packages have few names, and use them again with every call. */
const char *mock_intern(const char *text)
{
    static struct interned *known;
    for (const struct interned *each = known; each != NULL; each = each->next) {
        if (strcmp(each->text, text) == 0) {
            return each->text;
        }
    }
    const size_t length = strlen(text) + 1;
    struct interned *made = malloc(sizeof *made + length);
    if (made == NULL) {
        return NULL;
    }
    memcpy(made->text, text, length);
    made->next = known;
    known = made;
    return made->text;
}

struct assembly *mock_builder_new(void)
{
    return calloc(1, sizeof(struct assembly));
}

void mock_builder_free(struct assembly *assembly)
{
    if (assembly != NULL) {
        free(assembly->parts);
        free(assembly);
    }
}

/* Name of a parameter that has not been named, and of every attribute. */
static const char *number(enum mock_role role, uint32_t index)
{
    static const char *const ROLES[] = {"input", "attr", "output"};
    char name[32];
    snprintf(name, sizeof name, "%s%u", ROLES[role], index);
    return mock_intern(name);
}

static struct mock_part *find(const struct assembly *assembly, enum mock_role role, uint32_t index)
{
    for (size_t i = 0; i < assembly->count; i++) {
        struct mock_part *part = &assembly->parts[i];
        if (part->role == role && part->index == index) {
            return part;
        }
    }
    return NULL;
}

bool mock_builder_add(struct assembly *assembly, const struct mock_part *part)
{
    if (assembly->count == assembly->capacity) {
        const size_t capacity = 2 * assembly->capacity + 8;
        struct mock_part *larger = realloc(assembly->parts, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        assembly->parts = larger;
        assembly->capacity = capacity;
    }
    struct mock_part *added = find(assembly, part->role, part->index);
    added = added == NULL ? &assembly->parts[assembly->count++] : added;
    *added = *part;
    added->name = number(part->role, part->index);
    if (part->kind == 's') {
        added->value.pointer = mock_intern(part->value.pointer);
    }
    return added->name != NULL && (part->kind != 's' || added->value.pointer != NULL);
}

bool mock_builder_name(struct assembly *assembly, enum mock_role role, uint32_t index,
                        const char *name)
{
    struct mock_part *part = find(assembly, role, index);
    const char *lasting = part == NULL ? name : mock_intern(name);
    if (part != NULL && lasting != NULL) {
        part->name = lasting;
    }
    return lasting != NULL;
}

/* The part of a role with a name, or NULL. */
static const struct mock_part *find_same_name(const struct assembly *assembly, enum mock_role role,
                                        const char *name)
{
    for (size_t i = 0; i < assembly->count; i++) {
        if (assembly->parts[i].role == role && strcmp(assembly->parts[i].name, name) == 0) {
            return &assembly->parts[i];
        }
    }
    return NULL;
}

/* Distinguish an input and an output of one name, or joins them. */
static void send_part(const struct assembly *assembly, struct mock_call *call,
                      const struct mock_part *part)
{
    const enum mock_role opposite = part->role == MOCK_INPUT ? MOCK_OUTPUT : MOCK_INPUT;
    const struct mock_part *other =
        part->role == MOCK_ATTRIBUTE ? NULL : find_same_name(assembly, opposite, part->name);
    const bool same = other != NULL && other->value.pointer == part->value.pointer;
    if (same && part->role == MOCK_OUTPUT) {
        return;
    }
    if (other == NULL || (part->role == MOCK_INPUT && !same)) {
        mock_word_send(call, part->kind, part->name, part->value);
        return;
    }
    char name[256];
    snprintf(name, sizeof name, "%s%s", part->name, same ? "Ref" : "Out");
    const char *lasting = mock_intern(name);
    if (lasting == NULL) {
        call->no_memory = true;
        return;
    }
    mock_word_send(call, part->kind, lasting, part->value);
}

void mock_builder_send(const struct assembly *assembly, struct mock_call *call)
{
    for (enum mock_role role = MOCK_INPUT; role <= MOCK_OUTPUT; role++) {
        size_t sent = 0;
        for (uint32_t index = 0; sent < assembly->count && index <= MOCK_MAX_PARTS; index++) {
            const struct mock_part *part = find(assembly, role, index);
            if (part != NULL) {
                send_part(assembly, call, part);
                sent++;
            }
        }
    }
}
