/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that a fork waits for, in this order; under them nothing of CANN is called. */
#pragma once

#include <pthread.h>

enum { CAPTURE_FILE, CAPTURE_OBJECTS, CAPTURE_LOADING, CAPTURE_LOCKS };
extern pthread_mutex_t capture_locks[CAPTURE_LOCKS];
