/* SPDX-License-Identifier: Apache-2.0 */
/* Routes between queues as a program describes them; binding them is not simulated.
 * Source: CANN: runtime acl_tdt_queue/queue.cpp. */
#include <stdlib.h>
#include <string.h>

#include "acl/acl_tdt_queue.h"
#include "error_message.h"

struct acltdtQueueRoute {
    uint32_t source, destination;
    int32_t status;
};

struct acltdtQueueRouteList {
    acltdtQueueRoute *routes;
    size_t count;
};

struct acltdtQueueRouteQueryInfo {
    uint32_t values[ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32 + 1];
};

acltdtQueueRoute *acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId)
{
    acltdtQueueRoute *route = calloc(1, sizeof *route);
    if (route != NULL) {
        route->source = srcId;
        route->destination = dstId;
    }
    return route;
}

aclError acltdtDestroyQueueRoute(const acltdtQueueRoute *route)
{
    free((void *)(uintptr_t)route);
    return ACL_SUCCESS;
}

aclError acltdtGetQueueRouteParam(const acltdtQueueRoute *route, acltdtQueueRouteParamType type,
                                  size_t len, size_t *paramRetSize, void *param)
{
    const void *values[] = {&route->source, &route->destination, &route->status};
    if ((int)type < 0 || type > ACL_TDT_QUEUE_ROUTE_STATUS_INT32 || len < sizeof(uint32_t)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "type is %d and len %zu", (int)type, len);
    }
    memcpy(param, values[type], sizeof(uint32_t));
    *paramRetSize = sizeof(uint32_t);
    return ACL_SUCCESS;
}

acltdtQueueRouteList *acltdtCreateQueueRouteList(void)
{
    return calloc(1, sizeof(acltdtQueueRouteList));
}

aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList *routeList)
{
    free(routeList->routes);
    free((void *)(uintptr_t)routeList);
    return ACL_SUCCESS;
}

aclError acltdtAddQueueRoute(acltdtQueueRouteList *routeList, const acltdtQueueRoute *route)
{
    void *grown = realloc(routeList->routes, (routeList->count + 1) * sizeof *route);
    if (grown == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for a list of routes");
    }
    routeList->routes = grown;
    routeList->routes[routeList->count++] = *route;
    return ACL_SUCCESS;
}

size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList *routeList)
{
    return routeList == NULL ? 0 : routeList->count;
}

aclError acltdtGetQueueRoute(const acltdtQueueRouteList *routeList, size_t index,
                             acltdtQueueRoute *route)
{
    if (index >= routeList->count) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "index is %zu; the list has %zu routes", index,
                         routeList->count);
    }
    *route = routeList->routes[index];
    return ACL_SUCCESS;
}

acltdtQueueRouteQueryInfo *acltdtCreateQueueRouteQueryInfo(void)
{
    return calloc(1, sizeof(acltdtQueueRouteQueryInfo));
}

aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo *info)
{
    free((void *)(uintptr_t)info);
    return ACL_SUCCESS;
}

aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo *param,
                                      acltdtQueueRouteQueryInfoParamType type, size_t len,
                                      const void *value)
{
    if ((int)type < 0 || type > ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32 || len != sizeof(uint32_t)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "type is %d and len %zu", (int)type, len);
    }
    memcpy(&param->values[type], value, sizeof(uint32_t));
    return ACL_SUCCESS;
}
