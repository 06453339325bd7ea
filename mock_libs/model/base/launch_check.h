/* SPDX-License-Identifier: Apache-2.0 */
/* Before a kernel is queued: is everything there that it needs? */
#ifndef MOCK_LAUNCH_CHECK_H
#define MOCK_LAUNCH_CHECK_H

#include "executor.h"
#include "task.h"

/* Looks at the memory a kernel is going to use: reports what is wrong with it, lists the ranges,
 * and says whether the kernel can run there. false: no host memory. */
bool mock_check_memory(const struct executor *executor, const void *workspace, int device,
                  struct mock_launch *launch);
/* Reports every object of phase 1 that was destroyed since; how many there are. */
size_t mock_check_objects(const struct executor *executor);
/* Reports every result that the operator is going to leave as it is without saying so. */
void mock_check_results(const struct executor *executor);

#endif
