/* SPDX-License-Identifier: Apache-2.0 */
/* Start, end and state of a stream capture. */
#include "capture.h"

#include <pthread.h>

#include "error_message.h"
#include "replay.h"

static bool is_mode(aclmdlRICaptureMode mode)
{
    return (int)mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
}

static aclError unpaired(const struct stream *stream, aclError code, const char *text)
{
    mock_violate_object(MOCK_CAPTURE_UNPAIRED, MOCK_STREAM, stream->handle, "%s", text);
    return mock_fail(code, "stream %d: %s", stream->id, text);
}

aclError aclmdlRICaptureBegin(aclrtStream handle, aclmdlRICaptureMode mode)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (!is_mode(mode)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRICaptureBegin: mode is %d", (int)mode);
    }
    if (stream == stream->context->default_stream) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the default stream cannot be captured; make a stream");
    }
    if (stream->lane != NULL) {
        return unpaired(stream, ACL_ERROR_RT_STREAM_CAPTURED, "it is being captured already");
    }
    return mock_capture_begin(stream, mode);
}

/* 0, or why this is not the way to end a capture. */
static aclError check_end(const struct stream *stream)
{
    const struct graph *graph = stream->lane == NULL ? NULL : stream->lane->graph;
    if (graph == NULL) {
        return unpaired(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED, "it is not being captured");
    }
    if (stream->lane != graph->lanes) {
        return unpaired(stream, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                        "the capture that it joined began on another stream");
    }
    if (graph->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED &&
        graph->thread != (uint64_t)pthread_self()) {
        return unpaired(stream, ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                        "another thread began its capture");
    }
    return ACL_SUCCESS;
}

/* 0, or why a finished capture yields no graph. */
static aclError check_captured(const struct graph *graph)
{
    const struct lane *unjoined = NULL;
    if (graph->broken != ACL_SUCCESS) {
        return mock_fail(graph->broken, "the capture broke off; aclmdlRICaptureEnd gives no graph");
    }
    if (!mock_capture_is_joined(graph, &unjoined)) {
        mock_violate_object(MOCK_CAPTURE_UNJOINED, MOCK_STREAM, unjoined->captured,
                            "it joined the capture, and the first stream waits for no event behind "
                            "its last work");
        return mock_fail(ACL_ERROR_RT_STREAM_UNJOINED,
                         "a stream that joined the capture has not come back to the first one");
    }
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureEnd(aclrtStream handle, aclmdlRI *model)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, true, &status);
    status = stream == NULL ? status : check_end(stream);
    if (status != ACL_SUCCESS) {
        return status;
    }
    struct graph *graph = stream->lane->graph;
    mock_capture_end(graph);
    status = check_captured(graph);
    status = status != ACL_SUCCESS ? status : mock_graph_create_streams(graph, stream->context);
    *model = status == ACL_SUCCESS ? graph->handle : NULL;
    if (status != ACL_SUCCESS) {
        mock_graph_destroy(graph);
    }
    return status;
}

aclError aclmdlRICaptureGetInfo(aclrtStream handle, aclmdlRICaptureStatus *result, aclmdlRI *model)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    const struct graph *graph = stream->lane == NULL ? NULL : stream->lane->graph;
    *result = graph == NULL                 ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
              : graph->broken != ACL_SUCCESS ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                             : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    if (model != NULL) {
        *model = graph == NULL ? NULL : graph->handle;
    }
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
    if (!is_mode(*mode)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "aclmdlRICaptureThreadExchangeMode: mode is %d", (int)*mode);
    }
    *mode = mock_capture_exchange_mode(*mode);
    return ACL_SUCCESS;
}
