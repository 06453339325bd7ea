/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions to host callbacks, and the callbacks that are due. */
#include "callback.h"

#include <stdlib.h>

static struct subscription *subscriptions;
static struct post *first_post, **last_post = &first_post;

const struct subscription *mock_subscription_of(const void *stream)
{
    const struct subscription *each = subscriptions;
    while (each != NULL && each->stream != stream) {
        each = each->next;
    }
    return each;
}

const struct subscription *mock_subscriptions(void)
{
    return subscriptions;
}

bool mock_subscribe(uint64_t thread, void *stream)
{
    struct subscription *subscription = calloc(1, sizeof *subscription);
    if (subscription != NULL) {
        *subscription = (struct subscription){thread, stream, subscriptions};
        subscriptions = subscription;
    }
    return subscription != NULL;
}

void mock_unsubscribe(const void *stream)
{
    struct subscription **link = &subscriptions;
    while (*link != NULL) {
        struct subscription *subscription = *link;
        if (subscription->stream == stream) {
            *link = subscription->next;
            free(subscription);
        } else {
            link = &subscription->next;
        }
    }
}

uint64_t mock_post_thread(const void *context)
{
    return (uint64_t)(uintptr_t)context;
}

bool mock_post_add(const struct post *post)
{
    struct post *copy = malloc(sizeof *copy);
    if (copy != NULL) {
        *copy = *post;
        copy->next = NULL;
        *last_post = copy;
        last_post = &copy->next;
    }
    return copy != NULL;
}

struct post *mock_post_take(uint64_t thread)
{
    for (struct post **link = &first_post; *link != NULL; link = &(*link)->next) {
        struct post *post = *link;
        if (post->thread == thread) {
            *link = post->next;
            if (last_post == &post->next) {
                last_post = link;
            }
            return post;
        }
    }
    return NULL;
}

static _Thread_local const struct post *running;

void mock_post_run(const struct post *post)
{
    const struct post *outer = running;
    running = post;
    post->function(post->data);
    running = outer;
}

const void *mock_post_running(void)
{
    return running != NULL && running->block ? running->stream : NULL;
}
