/* SPDX-License-Identifier: Apache-2.0 */
/* Branches of graphs that are built by binding streams: a task after which other parts begin. */
#pragma once

#include "graph.h"
#include "stream.h"

/* A branch without operands, of a number of targets; NULL: no memory. */
struct branch *mock_branch_new(size_t count);
/* Queue a branch, which the graph owns from now on, on a bound stream. 0, or the refusal: each
 * target is in the same part before it, or in one that nothing activates yet. */
aclError mock_branch_queue(struct stream *stream, struct branch *branch);
/* Execute the first task of a stream, which is a branch. */
void mock_branch_run(struct stream *stream, struct task *task);
