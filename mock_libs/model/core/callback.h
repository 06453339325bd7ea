/* SPDX-License-Identifier: Apache-2.0 */
/* Host callbacks: posted by a stream, run by the thread that subscribed to it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"

struct post {
    uint64_t thread; /* pthread_self, or the result of mock_post_thread */
    void *stream;
    uint64_t position;
    bool block;
    aclrtCallback function;
    void *data;
    struct post *next;
};

struct subscription {
    uint64_t thread;
    void *stream;
    struct subscription *next;
};

/* The subscription to a stream, or NULL. */
const struct subscription *mock_subscription_of(const void *stream);
/* All of them, linked. */
const struct subscription *mock_subscriptions(void);
/* false: no host memory. */
bool mock_subscribe(uint64_t thread, void *stream);
void mock_unsubscribe(const void *stream);

/* By what the thread of a context that runs host functions is known here. */
uint64_t mock_post_thread(const void *context);
/* Take over a copy of a post; false: no host memory. */
bool mock_post_add(const struct post *post);
/* The oldest post for a thread, which is now the caller's, or NULL. */
struct post *mock_post_take(uint64_t thread);
/* Call the function of a post, without the lock. */
void mock_post_run(const struct post *post);
/* The handle of the stream that waits for a function which the calling thread runs, or NULL. */
const void *mock_post_running(void);
