/* SPDX-License-Identifier: Apache-2.0 */
/* Events: finding them, and what happens when a stream comes to a task. */
#include "event.h"

#include <string.h>
#include <time.h>

#include "message.h"

/* An event that ended with its context has the history of that. */
static void report_gone(const void *handle, const void *context)
{
    const struct mock_origin now = mock_origin_now();
    const bool destroying =
        now.function != NULL && strcmp(now.function, "aclrtDestroyEvent") == 0;
    enum mock_mark mark;
    struct mock_history history;
    if (context == NULL) {
        mock_violate_handle(handle, MOCK_EVENT, destroying);
    } else if (!destroying) { /* it is the only way to get rid of the handle */
        mock_handle_past(context, MOCK_CONTEXT, &mark, &history);
        mock_violate(MOCK_HANDLE_DESTROYED, "event", handle, &history,
                     "this event ended with its context");
    }
}

struct event *mock_event_find(aclrtEvent handle, aclError *status)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    *status = ACL_SUCCESS;
    if (handle == NULL) {
        *status = mock_fail(ACL_ERROR_INVALID_PARAM, "the event is NULL");
        return NULL;
    }
    if (event == NULL || mock_handle_get(event->context_handle, MOCK_CONTEXT) == NULL) {
        report_gone(handle, event == NULL ? NULL : event->context_handle);
        *status = mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is no live event: %s", handle,
                            event == NULL ? "it was destroyed, or never was one"
                                          : "it ended with its context");
        return NULL;
    }
    return event;
}

void mock_event_report(enum mock_rule rule, aclrtEvent handle, const char *text)
{
    mock_violate_object(rule, MOCK_EVENT, handle, "%s", text);
}

void mock_event_recorded(void *handle, uint64_t number)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    if (event != NULL && number > event->recorded) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        event->recorded = number;
        event->nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
}

void mock_event_waited(void *handle)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    if (event != NULL) {
        event->waits--;
    }
}

void mock_event_reset(void *handle, uint64_t number)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    if (event != NULL && number > event->reset) {
        event->reset = number;
    }
}
