/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of exported functions. */
#include "functions.h"

#include <stdio.h>

/* One for each library, and for each package of custom operators. */
enum { MOST_TABLES = 64 };

static struct {
    struct mock_function *functions;
    size_t count;
} tables[MOST_TABLES];
pthread_mutex_t mock_functions_lock = PTHREAD_MUTEX_INITIALIZER;

void mock_functions_add(struct mock_function *functions, size_t count)
{
    size_t place = 0;
    pthread_mutex_lock(&mock_functions_lock);
    while (place < MOST_TABLES && tables[place].functions != NULL) {
        place++;
    }
    if (place < MOST_TABLES) {
        tables[place].functions = functions;
        tables[place].count = count;
    }
    pthread_mutex_unlock(&mock_functions_lock);
}

void mock_functions_drop(const struct mock_function *functions)
{
    pthread_mutex_lock(&mock_functions_lock);
    for (size_t i = 0; i < MOST_TABLES; i++) {
        if (tables[i].functions == functions) {
            tables[i].functions = NULL;
            tables[i].count = 0;
        }
    }
    pthread_mutex_unlock(&mock_functions_lock);
}

size_t mock_functions_list(char *text, size_t capacity)
{
    size_t length = 0;
    pthread_mutex_lock(&mock_functions_lock);
    for (size_t i = 0; i < MOST_TABLES; i++) {
        for (size_t j = 0; j < tables[i].count; j++) {
            const struct mock_function *function = &tables[i].functions[j];
            const size_t left = length < capacity ? capacity - length : 0;
            const int written =
                snprintf(left > 0 ? text + length : NULL, left, "%s %llu\n", function->name,
                         (unsigned long long)atomic_load_explicit(&function->calls,
                                                                  memory_order_relaxed));
            length += (size_t)written;
        }
    }
    pthread_mutex_unlock(&mock_functions_lock);
    return length;
}

void mock_functions_reset(void)
{
    pthread_mutex_lock(&mock_functions_lock);
    for (size_t i = 0; i < MOST_TABLES; i++) {
        for (size_t j = 0; j < tables[i].count; j++) {
            atomic_store_explicit(&tables[i].functions[j].calls, 0, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&mock_functions_lock);
}
