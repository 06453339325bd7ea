/* SPDX-License-Identifier: Apache-2.0 */
/* Replay and destruction of captured graphs. */
#pragma once

#include "graph.h"
#include "stream.h"

/* Give a graph the streams of its own on which it is replayed. */
aclError mock_graph_create_streams(struct graph *graph, struct context *context);
/* Queue what was captured once more, as it was queued first; the first lane on a stream, NULL:
 * on the graph's own. */
aclError mock_graph_replay(struct graph *graph, struct stream *stream);
/* Return whether a queued replay has not ended. */
bool mock_graph_is_running(const struct graph *graph);
/* Free a graph that is not running, with its streams. */
void mock_graph_destroy(struct graph *graph);
