/* SPDX-License-Identifier: Apache-2.0 */
/* Injected faults: `pyaclnn mock faults` explains the grammar. */
#pragma once

#include <pthread.h>

#include "frame.h"

/* A bit of a device's memory that is 1 whatever is written there. */
struct mock_stuck_bit {
    int device;
    uint64_t byte; /* from the beginning of the device's memory on */
    unsigned bit;
};

extern pthread_mutex_t mock_fault_lock;

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Set the faults; NULL or empty: none. Gives NULL, or the item that cannot be understood. */
const char *mock_faults_set(const char *text);
/* Lines of "fault calls effects": the calls that each fault was compared with, and its effects. */
size_t mock_faults_list(char *text, size_t capacity);

#pragma GCC visibility pop

/* Return whether any fault is set; cheap. */
bool mock_faults_armed(void);
/* Count the call against every fault and sets the frame's effect and code. */
void mock_fault_decide(struct mock_frame *frame);
/* Count the frame's effect. A call that queues nothing has no effect that only queued work can have. */
void mock_fault_count_effect(const struct mock_frame *frame);
/* The device that the calling thread uses from now on. */
void mock_fault_set_device(int device);
/* The bit of an index that is stuck; false: there are no more. Cheap where there are none. */
bool mock_fault_stuck(size_t index, struct mock_stuck_bit *stuck);
/* Bytes of device memory there are at most. */
uint64_t mock_fault_memory_limit(void);
/* Change whenever faults are set: what hung before goes on. */
uint64_t mock_fault_generation(void);
/* Why an environment variable of the simulated NPU cannot be used, or NULL. */
const char *mock_fault_config_error(void);
