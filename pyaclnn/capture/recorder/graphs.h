/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that are captured: their calls, and their tensors, which are those of each run. */
#pragma once

#include "objects.h"
#include "operands.h"

bool capture_graph_is_open(void); /* a copy would become a part of it */
/* True if what a stream is given becomes a part of a graph: others run while one is captured. */
bool capture_graph_takes(uint64_t stream);
/* With the lock of the objects held: begin; add a call, and the tensors of an operator, or NULL; end
 * the capture of a stream, if it has left it, where 0 is no graph. */
void capture_graph_begin(uint64_t stream);
void capture_graph_draw(struct capture_object *call, const struct capture_operands *of);
void capture_graph_end(uint64_t stream, int32_t status, uint64_t graph, uint64_t context);
