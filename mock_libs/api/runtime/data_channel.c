/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of tensors between a program and a device; what is sent waits there to be received.
 * Source: CANN: runtime acl_tdt_channel/tensor_data_transfer.cpp. */
#include <stdlib.h>
#include <string.h>

#include "data_item.h"
#include "device.h"
#include "error_message.h"
#include "lock.h"
#include "timeout.h"
#include "wire.h"

enum { MOST_NAME = 127, OLD_CAPACITY = 3 };

struct acltdtChannelHandle {
    acltdtChannelHandle *next;
    size_t capacity, count;
    bool stopped;
    bool old; /* of acltdtCreateChannel */
    acltdtDataset *waiting[]; /* the oldest first */
};

static acltdtChannelHandle *channels;

static acltdtChannelHandle **place_of(const acltdtChannelHandle *handle)
{
    acltdtChannelHandle **place = &channels;
    while (*place != NULL && *place != handle) {
        place = &(*place)->next;
    }
    return place;
}

static aclError no_channel(const acltdtChannelHandle *handle)
{
    return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no channel, or was destroyed",
                     (const void *)handle);
}

static acltdtChannelHandle *create(uint32_t device, const char *name, size_t capacity, bool old)
{
    uint32_t devices;
    if (mock_device_count(&devices) != ACL_SUCCESS) {
        return NULL;
    }
    if (strnlen(name, MOST_NAME + 1) > MOST_NAME || capacity == 0 ||
        capacity > SIZE_MAX / sizeof(acltdtDataset *) / 2 || device >= devices) {
        mock_fail(ACL_ERROR_INVALID_PARAM,
                  "deviceId is %u, name '%.*s' and capacity %zu; a channel has a device of "
                  "this machine, a name of up to %d characters and room for one",
                  device, MOST_NAME, name, capacity, MOST_NAME);
        return NULL;
    }
    acltdtChannelHandle *channel = calloc(1, sizeof *channel + capacity * sizeof(acltdtDataset *));
    if (channel != NULL) {
        channel->capacity = capacity;
        channel->old = old;
        channel->next = channels;
        channels = channel;
    }
    return channel;
}

acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name)
{
    return create(deviceId, name, OLD_CAPACITY, true);
}

acltdtChannelHandle *acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name,
                                                     size_t capacity)
{
    return create(deviceId, name, capacity, false);
}

static void empty(acltdtChannelHandle *channel)
{
    while (channel->count > 0) {
        mock_dataset_free(channel->waiting[--channel->count]);
    }
    mock_signal_progress();
}

aclError acltdtCleanChannel(acltdtChannelHandle *handle)
{
    acltdtChannelHandle *channel = *place_of(handle);
    if (channel == NULL) {
        return no_channel(handle);
    }
    empty(channel);
    return ACL_SUCCESS;
}

aclError acltdtDestroyChannel(acltdtChannelHandle *handle)
{
    acltdtChannelHandle **place = place_of(handle), *channel = *place;
    if (channel == NULL) {
        return no_channel(handle);
    }
    *place = channel->next;
    empty(channel);
    free(channel);
    return ACL_SUCCESS;
}

/* Nothing waits in a stopped channel: a thread that receives ends before the channel is
 * destroyed. */
aclError acltdtStopChannel(acltdtChannelHandle *handle)
{
    acltdtChannelHandle *channel = *place_of(handle);
    if (channel == NULL) {
        return no_channel(handle);
    }
    channel->stopped = true;
    mock_signal_progress();
    return ACL_SUCCESS;
}

/* Wait until a channel has room, or something to receive; NULL with the code: it has not. */
static acltdtChannelHandle *wait_for(const acltdtChannelHandle *handle, bool room, int32_t timeout,
                                     aclError *status)
{
    struct timespec deadline;
    const struct timespec *limit = NULL;
    *status = timeout <= 0 ? ACL_SUCCESS
                           : mock_limit(timeout, ACL_ERROR_INVALID_PARAM, &deadline, &limit);
    for (bool expired = *status != ACL_SUCCESS;;) {
        acltdtChannelHandle *channel = *place_of(handle);
        if (channel == NULL) {
            *status = no_channel(handle);
            return NULL;
        }
        if (timeout < -1 || (channel->old && timeout != -1)) {
            *status = mock_fail(ACL_ERROR_INVALID_PARAM, "timeout is %d; it must be %s", timeout,
                                channel->old ? "-1 for a channel of acltdtCreateChannel"
                                             : "-1, 0 or a number of milliseconds");
            return NULL;
        }
        if (room ? channel->count < channel->capacity : channel->count > 0) {
            return channel;
        }
        if (timeout == 0 || expired || channel->stopped) {
            *status = mock_fail(room ? ACL_ERROR_RT_QUEUE_FULL : ACL_ERROR_RT_QUEUE_EMPTY,
                                "the channel is %s%s", room ? "full" : "empty",
                                channel->stopped ? ", and stopped" : "");
            return NULL;
        }
        expired = !mock_wait_progress(limit);
    }
}

aclError acltdtSendTensor(const acltdtChannelHandle *handle, const acltdtDataset *dataset,
                          int32_t timeout)
{
    aclError status;
    acltdtDataset *copy = mock_dataset_copy(dataset, &status);
    acltdtChannelHandle *channel = copy == NULL ? NULL : wait_for(handle, true, timeout, &status);
    if (channel != NULL) {
        channel->waiting[channel->count++] = copy;
        mock_signal_progress();
    } else if (copy != NULL) {
        mock_dataset_free(copy);
    }
    return status;
}

aclError acltdtReceiveTensor(const acltdtChannelHandle *handle, acltdtDataset *dataset,
                             int32_t timeout)
{
    if (dataset->count > 0) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the dataset has %zu tensors; it must be empty",
                         dataset->count);
    }
    aclError status;
    acltdtChannelHandle *channel = wait_for(handle, false, timeout, &status);
    if (channel != NULL) {
        free(dataset->items);
        *dataset = *channel->waiting[0];
        free(channel->waiting[0]);
        memmove(channel->waiting, channel->waiting + 1,
                --channel->count * sizeof *channel->waiting);
        mock_signal_progress();
    }
    return status;
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle, size_t *size)
{
    const acltdtChannelHandle *channel = *place_of(handle);
    if (channel == NULL) {
        return no_channel(handle);
    }
    if (channel->old) {
        return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                         "a channel of acltdtCreateChannel does not count its tensors");
    }
    *size = channel->count;
    return ACL_SUCCESS;
}
