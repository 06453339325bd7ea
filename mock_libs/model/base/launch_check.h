/* SPDX-License-Identifier: Apache-2.0 */
/* Checks before a kernel is queued. */
#pragma once

#include "executor.h"
#include "task.h"

/* Check the memory a kernel is going to use: reports errors, lists the ranges, and sets whether
 * the kernel can run. false: no host memory. */
bool mock_check_memory(const struct executor *executor, const void *workspace, int device,
                  struct mock_launch *launch);
/* Report every object of phase 1 that was destroyed since; how many there are. */
size_t mock_check_objects(const struct executor *executor);
/* Report every result that the operator silently leaves unwritten. */
void mock_check_results(const struct executor *executor);
