/* SPDX-License-Identifier: Apache-2.0 */
/* Access of devices to each other. */
#include "context.h"
#include "error_message.h"

static bool peer_enabled[16][16];

static aclError check_peers(int32_t one, int32_t other)
{
    if (mock_device_find(one) == NULL || mock_device_find(other) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    if (one == other) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "device %d is not a peer of itself", one);
    }
    return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t *can, int32_t id, int32_t peer)
{
    const aclError status = check_peers(id, peer);
    if (status == ACL_SUCCESS) {
        *can = 1;
    }
    return status;
}

static aclError peer_status(int32_t *enabled, int32_t id, int32_t peer)
{
    const aclError status = check_peers(id, peer);
    if (status == ACL_SUCCESS) {
        *enabled = peer_enabled[id][peer] ? 1 : 0;
    }
    return status;
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    return peer_status(status, deviceId, peerDeviceId);
}

static aclError switch_peer(int32_t peer, bool enable)
{
    const struct context *context = mock_current_context();
    if (context == NULL) {
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL,
                         "this thread has no current context; call aclrtSetDevice or "
                         "aclrtSetCurrentContext on it first");
    }
    const int id = context->device->id;
    const aclError status = check_peers(id, peer);
    if (status == ACL_SUCCESS) {
        peer_enabled[id][peer] = enable;
    }
    return status;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    if (flags != 0) {
        return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                         "aclrtDeviceEnablePeerAccess: flags is %u; it must be 0", flags);
    }
    return switch_peer(peerDeviceId, true);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    return switch_peer(peerDeviceId, false);
}
