/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of phase-1 answers, one per thread. */
#include "cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { BUCKETS = 512, LONGEST_KEY = 8192, DEFAULT_LIMIT = 10000, HIGHEST_LIMIT = 10000000 };

struct entry {
    struct entry *next;
    uint64_t hash;
    struct plan plan;
    size_t length;
    uint8_t key[];
};

struct cache {
    struct entry *buckets[BUCKETS];
    size_t count, limit;
};

static pthread_key_t thread_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void destroy(void *pointer)
{
    struct cache *cache = pointer;
    for (size_t i = 0; i < BUCKETS; i++) {
        while (cache->buckets[i] != NULL) {
            struct entry *entry = cache->buckets[i];
            cache->buckets[i] = entry->next;
            free(entry);
        }
    }
    free(cache);
}

static void set_up(void)
{
    pthread_key_create(&thread_key, destroy);
}

static size_t limit_from_environment(void)
{
    if (getenv("DISABLE_L2_CACHE") != NULL) {
        return 0;
    }
    const char *text = getenv("ACLNN_CACHE_LIMIT");
    const long limit = text == NULL ? DEFAULT_LIMIT : strtol(text, NULL, 10);
    if (limit < 0) {
        return 0;
    }
    return (size_t)(limit < HIGHEST_LIMIT ? limit : HIGHEST_LIMIT);
}

static struct cache *own_cache(void)
{
    pthread_once(&once, set_up);
    struct cache *cache = pthread_getspecific(thread_key);
    if (cache == NULL) {
        cache = calloc(1, sizeof *cache);
        if (cache != NULL) {
            cache->limit = limit_from_environment();
            pthread_setspecific(thread_key, cache);
        }
    }
    return cache;
}

uint64_t mock_cache_hash(const uint8_t *key, size_t length)
{
    return mock_hash(MOCK_HASH_EMPTY, key, length);
}

static struct entry *look_up(const struct cache *cache, const uint8_t *key, size_t length,
                             uint64_t hash)
{
    struct entry *entry = cache->buckets[hash % BUCKETS];
    while (entry != NULL && (entry->hash != hash || entry->length != length ||
                             memcmp(entry->key, key, length) != 0)) {
        entry = entry->next;
    }
    return entry;
}

bool mock_cache_find(const uint8_t *key, size_t length, struct plan *plan)
{
    const struct cache *cache = own_cache();
    if (cache == NULL || cache->count == 0 || length > LONGEST_KEY) {
        return false;
    }
    const struct entry *entry = look_up(cache, key, length, mock_cache_hash(key, length));
    if (entry != NULL) {
        *plan = entry->plan;
    }
    return entry != NULL;
}

void mock_cache_store(const uint8_t *key, size_t length, const struct plan *plan)
{
    struct cache *cache = own_cache();
    if (cache == NULL || cache->count >= cache->limit || length > LONGEST_KEY) {
        return;
    }
    const uint64_t hash = mock_cache_hash(key, length);
    if (look_up(cache, key, length, hash) != NULL) {
        return;
    }
    struct entry *entry = malloc(sizeof *entry + length);
    if (entry == NULL) {
        return;
    }
    entry->hash = hash;
    entry->plan = *plan;
    entry->length = length;
    memcpy(entry->key, key, length);
    entry->next = cache->buckets[hash % BUCKETS];
    cache->buckets[hash % BUCKETS] = entry;
    cache->count++;
}
