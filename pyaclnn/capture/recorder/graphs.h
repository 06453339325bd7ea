/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are captured into graphs: their tensors are those of each run of the graph. */
#pragma once

#include "operands.h"

bool capture_graph_is_open(void); /* a copy would become a part of it */
void capture_graph_begin(uint64_t stream);
/* Whether what a stream is given becomes a part of a graph: others run while one is captured. */
bool capture_graph_takes(uint64_t stream);
void capture_graph_draw(const struct capture_operands *of);
/* End the capture of a stream, if it has left it; 0: there is no graph. */
void capture_graph_end(uint64_t stream, int32_t status, uint64_t graph);
const struct capture_operands *capture_graph_of(uint64_t graph);
void capture_graph_destroy(uint64_t graph);
