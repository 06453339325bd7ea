/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetime of devices and contexts. */
#include "lifetime.h"

#include <stdlib.h>

#include "capture.h"
#include "device_process.h"
#include "error_message.h"
#include "leak.h"
#include "lock.h"
#include "stream.h"
#include "stream_wait.h"
#include "wire.h"

struct context *mock_context_new(struct device *device, bool primary)
{
    struct context *context = calloc(1, sizeof *context);
    if (context == NULL) {
        return NULL;
    }
    context->device = device;
    context->primary = primary;
    context->overflow_mode = device->chip->recent ? ACL_RT_OVERFLOW_MODE_INFNAN
                                                  : ACL_RT_OVERFLOW_MODE_SATURATION;
    for (size_t i = 0; i < sizeof context->options / sizeof context->options[0]; i++) {
        context->options[i] = mock_process_options()[i];
    }
    context->handle = mock_handle_new(MOCK_CONTEXT, context);
    context->default_stream = context->handle == NULL ? NULL : mock_stream_new(context);
    if (context->default_stream == NULL) {
        mock_handle_close(context->handle, MOCK_CONTEXT);
        free(context);
        return NULL;
    }
    return context;
}

aclError mock_context_finish(void *handle, bool force)
{
    return force ? mock_context_drain(handle) : mock_context_wait(handle, NULL);
}

void mock_context_destroy(struct context *context)
{
    mock_captures_drop(context);
    context->device->events -= context->events;
    while (context->streams != NULL) {
        mock_stream_delete(context->streams);
    }
    mock_handle_close(context->handle, MOCK_CONTEXT);
    free(context);
}

aclError mock_device_open(struct device *device)
{
    while (device->changing) {
        if (!mock_wait_progress(NULL)) {
            return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                             "device %d: a signal ended the wait for the thread that opens or "
                             "closes it",
                             device->id);
        }
    }
    if (device->open) {
        device->history.created = mock_origin_current();
        return mock_device_alive(device);
    }
    device->changing = true;
    const aclError status = mock_process_start(device);
    device->changing = false;
    device->open = status == ACL_SUCCESS;
    device->history = (struct mock_history){.created = mock_origin_current()};
    device->reported = false;
    mock_signal_progress();
    return status;
}

void mock_device_close_if_idle(struct device *device)
{
    if (device->open && !device->changing && device->references == 0 && device->contexts == 0) {
        mock_leak_report(device);
        device->changing = true;
        mock_process_stop(device);
        device->open = device->changing = false;
        mock_signal_progress();
    }
}
