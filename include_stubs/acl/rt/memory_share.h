/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory shared between processes and between devices. All of it is newer than CANN 8.1.
 * Provided by libascendcl.so and libacl_rt.so.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

#if ACL_STUBS_CANN >= 901
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT                0x0
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT                0x0
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS     0x1

/* Values of ACL_RT_IPC_MEM_ATTR_ACCESS_LINK. */
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO                0
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS               1
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH   2
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH 3

typedef enum aclrtIpcMemAttrType {
    ACL_RT_IPC_MEM_ATTR_ACCESS_LINK = 0,
} aclrtIpcMemAttrType;

/* Opaque here: its layout is not described by these declarations. */
typedef struct aclrtServerPid aclrtServerPid;

/* len: capacity of key in bytes. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key,
    size_t len, uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char *key);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type,
    uint64_t attr);
/* num: processes listed behind pid. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportPidInterServer(const char *key,
    aclrtServerPid *serverPids, size_t num);

ACL_FUNC_VISIBILITY aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId,
    uint64_t flags);
#endif

ACL_STUBS_C_END
